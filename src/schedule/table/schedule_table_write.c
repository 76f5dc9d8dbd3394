/* The tables of a run as one file: every layer of every group once. */
#include "schedule/table/schedule_table.h"

#include "base/key_table.h"
#include "mercator/text.h"

typedef struct Row {
    const MerJobTable *table;
    int                row;
} Row;

/* In order of first occurrence. */
static Row *join_rows(const MerJobTable *const *tables, int count, int *joined, MerArena *arena)
{
    MerKeyTable known = {.arena = arena};
    Row        *rows = NULL;
    *joined = 0;
    for (int t = 0; t < count; t++) {
        for (int r = 0; r < tables[t]->row_count; r++) {
            uint64_t key = mer_hash_int(tables[t]->row_hashes[r], tables[t]->row_ids[r]);
            if (mer_key_table_add(&known, key, *joined) == *joined) {
                MER_GROW(arena, rows, *joined);
                rows[(*joined)++] = (Row){tables[t], r};
            }
        }
    }
    return rows;
}

/* The artifact's five columns first. Traffic is left out of its own tables: it is made of the L2 need there. */
static void write_entry(const MerJobTableEntry *e, bool is_compat, MerJson *json)
{
    const double values[] = {e->latency,     e->l2_bytes,     e->l1_bytes,     e->energy_pj / 1000,
                             e->macs,        e->weight_bytes, e->output_bytes, e->energy_pj,
                             e->is_fallback, e->traffic};
    mer_json_reals(json, NULL, values, is_compat ? 9 : 10);
}

void mer_job_table_write(const MerJobTable *const *tables, int count, MerArena *arena,
                         MerJson *json)
{
    static const char *const columns[] = {
        "latency_cycles", "l2_bytes",     "l1_bytes",  "energy_nJ", "macs",
        "weight_bytes",   "output_bytes", "energy_pj", "fallback",  "traffic_bytes"};
    const MerJobTable *first = tables[0];
    int                row_count;
    Row               *rows = join_rows(tables, count, &row_count, arena);
    uint64_t           hash = count == 1 ? first->hash : MER_HASH_START;
    for (int t = 0; t < count && count > 1; t++) {
        hash = mer_hash_int(hash, (int64_t)tables[t]->hash);
    }
    mer_json_object(json, NULL);
    mer_json_text(json, "format", "m3e-jobtable/1");
    mer_json_text(json, "source", first->source);
    mer_json_text(json, "version", MERCATOR_VERSION);
    mer_json_hash(json, "hash", hash);
    if (first->dram_pj_per_byte > 0) {
        mer_json_real(json, "dram_pj_per_byte", first->dram_pj_per_byte);
    }
    mer_json_texts(json, "columns", columns, first->is_compat ? 9 : 10);
    mer_json_texts(json, "core_types", first->class_names, first->class_count);
    mer_json_array(json, "layers");
    for (int r = 0; r < row_count; r++) {
        mer_json_text(json, NULL, rows[r].table->row_names[rows[r].row]);
    }
    mer_json_end_array(json);
    mer_json_array(json, "layer_hashes");
    for (int r = 0; r < row_count; r++) {
        mer_json_hash(json, NULL, rows[r].table->row_hashes[rows[r].row]);
    }
    mer_json_end_array(json);
    mer_json_array(json, "layer_numbers");
    for (int r = 0; r < row_count; r++) {
        mer_json_int(json, NULL, rows[r].table->row_ids[rows[r].row]);
    }
    mer_json_end_array(json);
    mer_json_array(json, "rows");
    for (int r = 0; r < row_count; r++) {
        mer_json_array(json, NULL);
        for (int c = 0; c < first->class_count; c++) {
            write_entry(&rows[r].table->entries[rows[r].row * first->class_count + c],
                        first->is_compat, json);
        }
        mer_json_end_array(json);
    }
    mer_json_end_array(json);
    mer_json_end_object(json);
}
