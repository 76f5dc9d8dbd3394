/* Reading job analysis tables. */
#include "problem/schedule_table_file.h"

#include "base/text.h"
#include "base/yaml.h"
#include "mercator/option.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const column_names[MER_TABLE_COLUMNS] = {
    "latency_cycles", "l2_bytes", "l1_bytes", "energy_nJ", "macs", "traffic_bytes", "weight_bytes"};

static int find_column(const char *name)
{
    for (int c = 0; c < MER_TABLE_COLUMNS; c++) {
        if (strcmp(name, column_names[c]) == 0 || (c == 3 && strcmp(name, "energy_nj") == 0)) {
            return c;
        }
    }
    return -1;
}

static void make_room(MerTableFile *file, MerArena *arena)
{
    size_t count = (size_t)file->row_count * (size_t)file->class_count * MER_TABLE_COLUMNS;
    file->values = MER_ARRAY(arena, double, count + 1);
    for (size_t i = 0; i < count; i++) {
        file->values[i] = NAN;
    }
}

static MerStatus read_texts(const MerYaml *list, const char ***texts, MerArena *arena,
                            MerError *error)
{
    MerStatus status = mer_yaml_check_kind(list, MER_YAML_LIST, error);
    *texts = MER_ARRAY(arena, const char *, status == MER_OK ? list->count + 1 : 1);
    for (int i = 0; status == MER_OK && i < list->count; i++) {
        status = mer_yaml_text(list->items[i], &(*texts)[i], error);
    }
    return status;
}

static MerStatus read_entry(const MerYaml *node, const int *column, int columns, double *values,
                            MerError *error)
{
    MerStatus status = mer_yaml_check_kind(node, MER_YAML_LIST, error);
    if (status == MER_OK && node->count != columns) {
        return mer_yaml_expected(node, error, "a list of %d numbers", columns);
    }
    for (int i = 0; status == MER_OK && i < columns; i++) {
        double value;
        status = mer_yaml_real(node->items[i], 0, 1e300, &value, error);
        if (status == MER_OK && column[i] >= 0) {
            values[column[i]] = value;
        }
    }
    return status;
}

static MerStatus read_rows(const MerYaml *rows, const int *column, int columns, MerTableFile *file,
                           MerError *error)
{
    MerStatus status = MER_OK;
    for (int r = 0; status == MER_OK && r < rows->count; r++) {
        const MerYaml *row = rows->items[r];
        status = mer_yaml_check_kind(row, MER_YAML_LIST, error);
        if (status == MER_OK && row->count != file->class_count) {
            return mer_yaml_expected(row, error, "one entry for each of %d core types",
                                     file->class_count);
        }
        for (int c = 0; status == MER_OK && c < row->count; c++) {
            double *values = file->values + ((size_t)r * (size_t)file->class_count + (size_t)c) *
                                                MER_TABLE_COLUMNS;
            status = read_entry(row->items[c], column, columns, values, error);
        }
    }
    return status;
}

static MerStatus read_json(MerYaml *root, MerArena *arena, MerTableFile *file, MerError *error)
{
    const char  *format = NULL;
    const char **columns = NULL;
    MerYaml     *column_list = NULL, *types = NULL, *rows = NULL, *layers;
    int          column[32];
    MerStatus    status = mer_yaml_get_text(root, "format", &format, error);
    if (status == MER_OK && (!format || strcmp(format, "m3e-jobtable/1") != 0)) {
        return mer_yaml_error(root, error, "format is %s, expected m3e-jobtable/1",
                              format ? format : "absent");
    }
    status = status == MER_OK ? mer_yaml_need(root, "columns", &column_list, error) : status;
    status = status == MER_OK ? mer_yaml_need(root, "core_types", &types, error) : status;
    status = status == MER_OK ? mer_yaml_need(root, "rows", &rows, error) : status;
    status = status == MER_OK ? mer_yaml_check_kind(rows, MER_YAML_LIST, error) : status;
    status = status == MER_OK ? read_texts(column_list, &columns, arena, error) : status;
    status = status == MER_OK ? read_texts(types, &file->class_names, arena, error) : status;
    layers = status == MER_OK ? mer_yaml_get(root, "layers") : NULL;
    if (layers) {
        status = read_texts(layers, &file->row_names, arena, error);
        if (status == MER_OK && layers->count != rows->count) {
            status = mer_yaml_expected(layers, error, "one name for each of %d rows", rows->count);
        }
    }
    if (status == MER_OK && column_list->count > 32) {
        status = mer_yaml_expected(column_list, error, "at most 32 columns");
    }
    if (status != MER_OK) {
        return status;
    }
    for (int i = 0; i < column_list->count; i++) {
        column[i] = find_column(columns[i]);
        file->has_traffic = file->has_traffic || column[i] == 5;
    }
    file->row_count = rows->count;
    file->class_count = types->count;
    make_room(file, arena);
    return read_rows(rows, column, column_list->count, file, error);
}

static MerStatus fail_csv(const MerTableFile *file, int line, const char *what, const char *found,
                          MerError *error)
{
    return mer_error_set(
        error, MER_INVALID, "%s:%d: %s is \"%.60s\", expected %s", file->path, line, what, found,
        "a row of "
        "layer,core_type,latency_cycles,traffic_bytes,weight_bytes,energy_nj,macs,l2_bytes");
}

static int find_or_add(const char **names, int *count, const char *name)
{
    for (int i = 0; i < *count; i++) {
        if (strcmp(names[i], name) == 0) {
            return i;
        }
    }
    names[*count] = name;
    return (*count)++;
}

/* Two passes: names first, then numbers. */
static MerStatus read_csv(char *text, MerArena *arena, MerTableFile *file, MerError *error)
{
    enum { MAX_FIELDS = 16 };
    int lines = 1;
    for (const char *at = text; *at; at++) {
        lines += *at == '\n';
    }
    char *(*fields)[MAX_FIELDS] = mer_arena_alloc_array(arena, (size_t)lines, sizeof *fields);
    int  *numbers = MER_ARRAY(arena, int, lines);
    int   count = 0, line = 0, columns = 0;
    char *rest = NULL;
    for (char *row = text; row && *row; row = rest) {
        rest = strchr(row, '\n');
        if (rest) {
            *rest++ = '\0';
        }
        line++;
        row[strcspn(row, "\r")] = '\0';
        if (*row == '\0' || *row == '#') {
            continue;
        }
        int field = 0;
        for (char *at = row; at && field < MAX_FIELDS; field++) {
            fields[count][field] = at;
            at = strchr(at, ',');
            if (at) {
                *at++ = '\0';
            }
        }
        columns = count == 0 ? field : columns;
        if (field != columns || columns < 3) {
            return fail_csv(file, line, "line", row, error);
        }
        numbers[count++] = line;
    }
    file->class_names = MER_ARRAY(arena, const char *, count + 1);
    file->row_names = MER_ARRAY(arena, const char *, count + 1);
    for (int i = 1; i < count; i++) {
        find_or_add(file->row_names, &file->row_count, fields[i][0]);
        find_or_add(file->class_names, &file->class_count, fields[i][1]);
    }
    if (count < 2 || (size_t)file->row_count * (size_t)file->class_count > 100000000) {
        return fail_csv(file, line, "file", "empty or too large", error);
    }
    make_room(file, arena);
    for (int i = 1; i < count; i++) {
        int r = find_or_add(file->row_names, &file->row_count, fields[i][0]);
        int c = find_or_add(file->class_names, &file->class_count, fields[i][1]);
        for (int f = 2; f < columns; f++) {
            int    column = find_column(fields[0][f]);
            double value;
            if (!mer_parse_real(fields[i][f], &value) || value < 0) {
                return fail_csv(file, numbers[i], fields[0][f], fields[i][f], error);
            }
            if (column >= 0) {
                file->values[((size_t)r * (size_t)file->class_count + (size_t)c) *
                                 MER_TABLE_COLUMNS +
                             (size_t)column] = value;
                file->has_traffic = file->has_traffic || column == 5;
            }
        }
    }
    return MER_OK;
}

MerStatus mer_table_file_read(const char *path, MerArena *arena, MerTableFile *file,
                              MerError *error)
{
    char    *data;
    size_t   size;
    MerYaml *root;
    *file = (MerTableFile){.path = path};
    MerStatus status = mer_file_read(path, (size_t)1 << 28, arena, &data, &size, error);
    if (status != MER_OK) {
        return status;
    }
    if (data[strspn(data, " \t\r\n")] != '{') {
        return read_csv(data, arena, file, error);
    }
    status = mer_yaml_parse(path, data, size, arena, &root, error);
    return status == MER_OK ? read_json(root, arena, file, error) : status;
}

static int find_row(const MerTableFile *file, const MerJob *job, const MerOp *op)
{
    if (!file->row_names) {
        return job->row < file->row_count ? job->row : -1;
    }
    for (int r = 0; r < file->row_count; r++) {
        if (strcmp(file->row_names[r], job->name) == 0 ||
            strcmp(file->row_names[r], op->name) == 0) {
            return r;
        }
    }
    return -1;
}

MerStatus mer_table_file_entry(const MerTableFile *file, const MerJob *job, const MerOp *op,
                               const char *class_name, MerJobTableEntry *entry, MerError *error)
{
    int row = find_row(file, job, op);
    int class_index = 0;
    while (class_index < file->class_count &&
           !mer_name_equal(file->class_names[class_index], class_name)) {
        class_index++;
    }
    if (row < 0 || class_index == file->class_count) {
        return mer_error_set(error, MER_INVALID, "table %s has no %s %s", file->path,
                             row < 0 ? "row for job" : "core type",
                             row < 0 ? job->name : class_name);
    }
    const double *v =
        file->values +
        ((size_t)row * (size_t)file->class_count + (size_t)class_index) * MER_TABLE_COLUMNS;
    *entry = (MerJobTableEntry){.latency = v[0],
                                .l2_bytes = v[1],
                                .l1_bytes = v[2],
                                .energy_pj = v[3] * 1000,
                                .macs = (double)op->macs,
                                .traffic = v[5],
                                .weight_bytes = isnan(v[6]) ? 0 : v[6]};
    return MER_OK;
}
