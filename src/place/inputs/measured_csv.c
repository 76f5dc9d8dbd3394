/* Measured times as CSV (docs/placement.md, "Measured times"):
 * op,device_class,time_us[,output_bytes][,weight_bytes][,workspace_bytes][,samples][,stddev_us] */
#include "place/inputs/measured.h"

#include "import/layer_table.h"
#include "mercator/option.h"
#include "mercator/text.h"

#include <string.h>

enum { OP, CLASS, TIME, OUTPUT, WEIGHT, WORKSPACE, SAMPLES, DEVIATION, COLUMNS, NEEDED = 3 };
static const char *const column_names[COLUMNS] = {"op",           "device_class", "time_us",
                                                  "output_bytes", "weight_bytes", "workspace_bytes",
                                                  "samples",      "stddev_us"};
enum { MAX_NUMBER = 60, SHOWN = 40 };

static const char *text_of(const MerTableField *field, MerArena *scratch)
{
    return mer_arena_text_n(scratch, field->text, (size_t)field->length);
}

/* The place of every column, -1 where it is absent. */
static MerStatus read_header(MerLayerTable *table, int index[COLUMNS])
{
    MerStatus status;
    for (int c = 0; c < COLUMNS; c++) {
        index[c] = -1;
    }
    if (!mer_layer_table_next(table, &status)) {
        return status != MER_OK ? status : mer_layer_table_fail(table, 1, "the file has no header");
    }
    for (int f = 0; f < table->field_count; f++) {
        const char *name = text_of(&table->fields[f], table->arena);
        int         column = 0;
        while (column < COLUMNS && !mer_name_equal(column_names[column], name)) {
            column++;
        }
        if (column == COLUMNS || index[column] >= 0) {
            return mer_layer_table_fail(
                table, table->fields[f].column,
                "column \"%.40s\" %s, expected op,device_class,time_us[,output_bytes]"
                "[,weight_bytes][,workspace_bytes][,samples][,stddev_us]",
                name, column == COLUMNS ? "is unknown" : "stands twice");
        }
        index[column] = f;
    }
    for (int c = 0; c < NEEDED; c++) {
        if (index[c] < 0) {
            return mer_layer_table_fail(table, 1, "the header has no column \"%s\", expected it",
                                        column_names[c]);
        }
    }
    return MER_OK;
}

/* NaN where an optional column is absent or the field is empty. */
static MerStatus read_number(const MerLayerTable *table, const int *index, int column,
                             double maximum, double *value)
{
    MerTableField field = {"", 0, 1};
    char          number[MAX_NUMBER];
    *value = NAN;
    if (index[column] >= 0 && index[column] < table->field_count) {
        field = table->fields[index[column]];
    }
    if (field.length == 0 && column >= NEEDED) {
        return MER_OK;
    }
    if (field.length < MAX_NUMBER) {
        memcpy(number, field.text, (size_t)field.length);
        number[field.length] = '\0';
        if (mer_parse_real(number, value) && *value >= 0 && *value <= maximum) {
            return MER_OK;
        }
    }
    return mer_layer_table_fail(table, field.column, "%s is \"%.*s\", expected a number in 0 .. %g",
                                column_names[column], field.length < SHOWN ? field.length : SHOWN,
                                field.text, maximum);
}

static MerStatus read_row(const MerLayerTable *table, const int *index, MerMeasured *measured)
{
    MerMeasuredRow row;
    double         unused;
    const char    *texts[2];
    for (int c = OP; c <= CLASS; c++) {
        MerTableField field = {"", 0, 1};
        if (index[c] < table->field_count) {
            field = table->fields[index[c]];
        }
        if (field.length == 0) {
            return mer_layer_table_fail(table, field.column, "%s is empty, expected a name",
                                        column_names[c]);
        }
        texts[c] = text_of(&field, table->arena);
    }
    MER_TRY(read_number(table, index, TIME, MER_MEASURED_MAX_US, &row.time_us));
    MER_TRY(read_number(table, index, OUTPUT, MER_MEASURED_MAX_BYTES, &row.output_bytes));
    MER_TRY(read_number(table, index, WEIGHT, MER_MEASURED_MAX_BYTES, &row.weight_bytes));
    MER_TRY(read_number(table, index, WORKSPACE, MER_MEASURED_MAX_BYTES, &row.workspace_bytes));
    MER_TRY(read_number(table, index, SAMPLES, 1e15, &unused));
    MER_TRY(read_number(table, index, DEVIATION, MER_MEASURED_MAX_US, &unused));
    mer_measured_add(measured, texts[OP], texts[CLASS], mer_unit_is_of_class, row);
    return MER_OK;
}

MerStatus mer_measured_csv(MerMeasured *measured, const char *data, size_t size)
{
    MerImportFile file = {.path = measured->path, .name = "", .data = data, .size = size};
    MerLayerTable table;
    MerStatus     status;
    int           index[COLUMNS];
    mer_layer_table_open(&table, &file);
    table.error = measured->error;
    table.arena = measured->scratch;
    MER_TRY(read_header(&table, index));
    while (mer_layer_table_next(&table, &status)) {
        MER_TRY(read_row(&table, index, measured));
    }
    return status;
}
