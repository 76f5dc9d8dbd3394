/* Lines and fields of a layer table, columns found by the names in the header. Blank lines,
 * lines that start with '#', a mark at the start, CRLF and commas at the end of a line are
 * tolerated. */
#ifndef MERCATOR_IMPORT_LAYER_TABLE_H
#define MERCATOR_IMPORT_LAYER_TABLE_H

#include "mercator/import.h"

typedef enum MerTableColumn {
    MER_COLUMN_NETWORK,
    MER_COLUMN_LAYER,
    MER_COLUMN_NAME, /* of a layer, in tables without MER_COLUMN_LAYER */
    MER_COLUMN_TYPE,
    MER_COLUMN_K,
    MER_COLUMN_C,
    MER_COLUMN_Y,
    MER_COLUMN_X,
    MER_COLUMN_R,
    MER_COLUMN_S,
    MER_COLUMN_M,
    MER_COLUMN_N,
    MER_COLUMN_GEMM_K,
    MER_COLUMN_G,
    MER_COLUMN_STRIDE,
    MER_COLUMN_STRIDE_Y,
    MER_COLUMN_STRIDE_X,
    MER_COLUMN_COUNT
} MerTableColumn;

enum { MER_TABLE_MAX_FIELDS = 64 };

typedef struct MerTableField {
    const char *text; /* not terminated */
    int         length, column;
} MerTableField;

typedef struct MerLayerTable {
    const MerImportFile *file;
    MerError            *error;
    MerArena            *arena;
    const char          *next; /* start of the next line */
    int                  line; /* of the fields */
    int                  field_count;
    MerTableField        fields[MER_TABLE_MAX_FIELDS];
    int                  header_count;
    int                  index[MER_COLUMN_COUNT]; /* field of a column, -1 if absent */
    MerTableField        header[MER_COLUMN_COUNT];
} MerLayerTable;

/* `FILE:LINE:COLUMN: ` of the current line and the text; returns MER_INVALID. */
MerStatus mer_layer_table_fail(const MerLayerTable *table, int column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void mer_layer_table_open(MerLayerTable *table, const MerImportFile *file);
/* Reads the header; *found says whether it is one of a layer table. */
MerStatus mer_layer_table_header(MerLayerTable *table, bool *found);
/* The next line that says something; false at the end, or with a bad *status. */
bool mer_layer_table_next(MerLayerTable *table, MerStatus *status);

bool          mer_layer_table_has(const MerLayerTable *table, MerTableColumn column);
MerTableField mer_layer_table_field(const MerLayerTable *table,
                                    MerTableColumn       column); /* empty if absent */
const char   *mer_layer_table_text(const MerLayerTable *table, MerTableColumn column);
/* An integer in 1 .. MER_LAYER_MAX_SIZE; the optional form gives 1 where the column is absent or the field empty. */
MerStatus mer_layer_table_size(const MerLayerTable *table, MerTableColumn column, int64_t *value);
MerStatus mer_layer_table_optional(const MerLayerTable *table, MerTableColumn column,
                                   int64_t *value);

#endif
