/* Reading job analysis tables: `m3e-jobtable/1` with or without our further columns, and asking them. */
#include "schedule/table/schedule_table_file.h"

#include "mercator/option.h"
#include "mercator/text.h"
#include "mercator/yaml.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const column_names[MER_TABLE_COLUMNS] = {
    "latency_cycles", "l2_bytes",     "l1_bytes",     "energy_nJ", "macs",
    "traffic_bytes",  "weight_bytes", "output_bytes", "energy_pj", "fallback"};

int mer_table_column(const char *name)
{
    for (int c = 0; c < MER_TABLE_COLUMNS; c++) {
        if (strcmp(name, column_names[c]) == 0 || (c == 3 && strcmp(name, "energy_nj") == 0)) {
            return c;
        }
    }
    return -1;
}

void mer_table_file_capacity(MerTableFile *file, MerArena *arena)
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
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    *texts = MER_ARRAY(arena, const char *, list->count + 1);
    for (int i = 0; i < list->count; i++) {
        MER_TRY(mer_yaml_text(list->items[i], &(*texts)[i], error));
    }
    return MER_OK;
}

static MerStatus read_entry(const MerYaml *node, const int *column, int columns, double *values,
                            MerError *error)
{
    MER_TRY(mer_yaml_check_kind(node, MER_YAML_LIST, error));
    if (node->count != columns) {
        return mer_yaml_expected(node, error, "a list of %d numbers", columns);
    }
    for (int i = 0; i < columns; i++) {
        double value;
        MER_TRY(mer_yaml_real(node->items[i], 0, 1e300, &value, error));
        if (column[i] >= 0) {
            values[column[i]] = value;
        }
    }
    return MER_OK;
}

static MerStatus read_rows(const MerYaml *rows, const int *column, int columns, MerTableFile *file,
                           MerError *error)
{
    double *values = file->values;
    for (int r = 0; r < rows->count; r++) {
        const MerYaml *row = rows->items[r];
        MER_TRY(mer_yaml_check_kind(row, MER_YAML_LIST, error));
        if (row->count != file->class_count) {
            return mer_yaml_expected(row, error, "one entry for each of %d core types",
                                     file->class_count);
        }
        for (int c = 0; c < row->count; c++, values += MER_TABLE_COLUMNS) {
            MER_TRY(read_entry(row->items[c], column, columns, values, error));
        }
    }
    return MER_OK;
}

/* How the rows are told apart: hashes of layers with numbers beside them, or names. */
static MerStatus read_identity(MerYaml *root, int rows, MerTableFile *file, MerArena *arena,
                               MerError *error)
{
    static const char *const keys[] = {"layers", "layer_hashes", "layer_numbers"};
    MerYaml                 *lists[3];
    for (int k = 0; k < 3; k++) {
        lists[k] = mer_yaml_get(root, keys[k]);
        MER_TRY(lists[k] ? mer_yaml_check_kind(lists[k], MER_YAML_LIST, error) : MER_OK);
        if (lists[k] && lists[k]->count != rows) {
            return mer_yaml_expected(lists[k], error, "one item for each of %d rows", rows);
        }
    }
    if (lists[0]) {
        MER_TRY(read_texts(lists[0], &file->row_names, arena, error));
    }
    if (!lists[1] || !lists[2]) {
        return MER_OK;
    }
    file->row_hashes = MER_ARRAY(arena, uint64_t, rows + 1);
    file->row_ids = MER_ARRAY(arena, int64_t, rows + 1);
    for (int r = 0; r < rows; r++) {
        const char *text;
        char       *end;
        MER_TRY(mer_yaml_text(lists[1]->items[r], &text, error));
        file->row_hashes[r] = strtoull(text, &end, 16);
        if (end != text + 16 || *end) {
            return mer_yaml_expected(lists[1]->items[r], error, "16 hexadecimal digits");
        }
        MER_TRY(mer_yaml_int(lists[2]->items[r], -1, INT32_MAX, &file->row_ids[r], error));
    }
    return MER_OK;
}

static MerStatus read_json(MerYaml *root, MerArena *arena, MerTableFile *file, MerError *error)
{
    const char **columns = NULL;
    const char  *format;
    MerYaml     *column_list, *types, *rows, *format_node;
    int          column[32];
    MER_TRY(mer_yaml_need(root, "format", &format_node, error));
    MER_TRY(mer_yaml_text(format_node, &format, error));
    if (strcmp(format, "m3e-jobtable/1") != 0) {
        return mer_yaml_expected(format_node, error, "m3e-jobtable/1");
    }
    MER_TRY(mer_yaml_need(root, "columns", &column_list, error));
    MER_TRY(mer_yaml_need(root, "core_types", &types, error));
    MER_TRY(mer_yaml_need(root, "rows", &rows, error));
    MER_TRY(mer_yaml_check_kind(rows, MER_YAML_LIST, error));
    MER_TRY(read_texts(column_list, &columns, arena, error));
    MER_TRY(read_texts(types, &file->class_names, arena, error));
    MER_TRY(read_identity(root, rows->count, file, arena, error));
    MER_TRY(mer_yaml_get_real(root, "dram_pj_per_byte", 0, 1e6, &file->dram_pj_per_byte, error));
    if (column_list->count > 32) {
        return mer_yaml_expected(column_list, error, "at most 32 columns");
    }
    for (int i = 0; i < column_list->count; i++) {
        column[i] = mer_table_column(columns[i]);
        file->has_traffic = file->has_traffic || column[i] == 5;
    }
    file->row_count = rows->count;
    file->class_count = types->count;
    if ((int64_t)file->row_count * file->class_count > MER_TABLE_MAX_ENTRIES) {
        return mer_yaml_error(rows, error,
                              "found %d rows of %d core types, expected at most %d entries",
                              file->row_count, file->class_count, MER_TABLE_MAX_ENTRIES);
    }
    mer_table_file_capacity(file, arena);
    return read_rows(rows, column, column_list->count, file, error);
}

static void index_rows(MerTableFile *file, MerArena *arena)
{
    file->by_hash = file->by_hash_and_id = (MerKeyTable){.arena = arena};
    file->by_name = (MerNameTable){.arena = arena};
    for (int r = file->row_count - 1; r >= 0; r--) {
        if (file->row_hashes) {
            int own = file->row_count - 1 - r; /* from the first on */
            mer_key_table_add(&file->by_hash, file->row_hashes[own], own);
            mer_key_table_add(&file->by_hash_and_id,
                              mer_hash_int(file->row_hashes[r], file->row_ids[r]), r);
        } else if (file->row_names) {
            mer_name_table_set(&file->by_name, file->row_names[r], &file->row_names[r]);
        }
    }
}

MerStatus mer_table_file_parse(const char *path, char *data, size_t size, MerArena *arena,
                               MerTableFile *file, MerError *error)
{
    MerYaml *root;
    *file = (MerTableFile){.path = path};
    if (data[strspn(data, " \t\r\n")] != '{') {
        MER_TRY(mer_table_csv_read(data, arena, file, error));
    } else {
        MER_TRY(mer_yaml_parse(path, data, size, arena, &root, error));
        MER_TRY(read_json(root, arena, file, error));
    }
    index_rows(file, arena);
    return MER_OK;
}

MerStatus mer_table_file_read(const char *path, MerArena *arena, MerTableFile *file,
                              MerError *error)
{
    char  *data;
    size_t size;
    MER_TRY(mer_file_read(path, (size_t)1 << 28, arena, &data, &size, error));
    return mer_table_file_parse(path, data, size, arena, file, error);
}

static int find_by_name(const MerTableFile *file, const char *name)
{
    const char **at = mer_name_table_find(&file->by_name, name);
    return at ? (int)(at - file->row_names) : file->row_count;
}

static int find_row(const MerTableFile *file, const MerJob *job, const MerOp *op)
{
    if (file->row_hashes) { /* the same layer under another number is as good, if its own is not there */
        uint64_t hash = mer_layer_hash(op);
        int      exact = mer_key_table_find(&file->by_hash_and_id, mer_hash_int(hash, job->row));
        return exact >= 0 ? exact : mer_key_table_find(&file->by_hash, hash);
    }
    if (!file->row_names) {
        return job->row < file->row_count ? job->row : -1;
    }
    int own = find_by_name(file, job->name);
    int layer = find_by_name(file, op->name);
    int row = own < layer ? own : layer;
    return row < file->row_count ? row : -1;
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
    if (row < 0) {
        return mer_error_set(error, MER_INVALID,
                             "%s: found no row for layer %s of job %s, expected one %s", file->path,
                             op->name, job->name,
                             file->row_hashes  ? "with its hash"
                             : file->row_names ? "with its name or the job's"
                             : job->row < 0    ? "with a name: the jobs are not numbered"
                                               : "with its number");
    }
    if (class_index == file->class_count) {
        return mer_error_set(error, MER_INVALID, "%s: found no core type %s, expected it beside %s",
                             file->path, class_name,
                             file->class_count > 0 ? file->class_names[0] : "others");
    }
    const double *v =
        file->values +
        ((size_t)row * (size_t)file->class_count + (size_t)class_index) * MER_TABLE_COLUMNS;
    int bytes = file->has_traffic ? 5 : 1;
    if (isnan(v[0]) || isnan(v[bytes])) {
        return mer_error_set(
            error, MER_INVALID, "%s: found no %s of layer %s on core type %s, expected a number",
            file->path, column_names[isnan(v[0]) ? 0 : bytes], op->name, class_name);
    }
    *entry = (MerJobTableEntry){.latency = v[0],
                                .l2_bytes = v[1],
                                .l1_bytes = v[2],
                                .energy_pj = isnan(v[8]) ? v[3] * 1000 : v[8],
                                .macs = (double)op->macs,
                                .traffic = v[5],
                                .weight_bytes = isnan(v[6]) ? 0 : v[6],
                                .output_bytes = isnan(v[7]) ? 0 : v[7],
                                .is_fallback = v[9] > 0};
    return MER_OK;
}
