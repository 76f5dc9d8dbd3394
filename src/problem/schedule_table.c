/* Fills the job analysis table: from the pricer, once per distinct layer and core class, or from a file. */
#include "problem/schedule_table.h"

#include "base/text.h"
#include "mercator/option.h"
#include "problem/schedule_table_file.h"

#include <math.h>
#include <string.h>

MerOp mer_job_op(const MerGraph *graph, const MerJob *job)
{
    MerOp op = graph->ops[job->op];
    int   dim = op.kind == MER_OP_GEMM           ? MER_DIM_Y
                : op.kind == MER_OP_BATCHED_GEMM ? MER_DIM_G
                                                 : MER_DIM_N;
    op.dims[dim] *= job->images;
    op.macs *= job->images;
    return op;
}

static bool is_same_layer(const MerOp *a, const MerOp *b)
{
    return a->kind == b->kind && memcmp(a->dims, b->dims, sizeof a->dims) == 0 &&
           a->repeat == b->repeat && memcmp(a->stride, b->stride, sizeof a->stride) == 0 &&
           a->input_rows == b->input_rows && a->input_columns == b->input_columns &&
           memcmp(a->dilation, b->dilation, sizeof a->dilation) == 0;
}

/* Row of each job; rows in order of first occurrence. Gives the first job of every row. */
static int *find_rows(const MerJobTableInput *input, int *row_of_job, int *count, MerArena *arena)
{
    int   *first = MER_ARRAY(arena, int, input->job_count + 1);
    MerOp *ops = MER_ARRAY(arena, MerOp, input->job_count + 1);
    *count = 0;
    for (int i = 0; i < input->job_count; i++) {
        const MerJob *job = &input->set->jobs[input->jobs[i]];
        MerOp         op = mer_job_op(input->graph, job);
        int           row = 0;
        while (row < *count && !(is_same_layer(&ops[row], &op) &&
                                 input->set->jobs[input->jobs[first[row]]].row == job->row)) {
            row++;
        }
        if (row == *count) {
            ops[row] = op;
            first[(*count)++] = i;
        }
        row_of_job[i] = row;
    }
    return first;
}

static const MerUnit *unit_of_class(const MerPlatform *platform, int class_index)
{
    for (int u = 0; u < platform->unit_count; u++) {
        if (platform->units[u].class_index == class_index) {
            return &platform->units[u];
        }
    }
    return NULL;
}

static uint64_t hash_entry(uint64_t hash, const MerJobTableEntry *entry)
{
    hash = mer_hash_real(hash, entry->latency);
    hash = mer_hash_real(hash, entry->rate);
    return mer_hash_real(hash, entry->energy_pj);
}

static MerStatus price_entry(const MerJobTableInput *input, const MerOp *op, const MerUnit *unit,
                             bool is_compat, MerJobTableEntry *entry, MerError *error)
{
    MerLayerPrice price;
    if (!input->pricer) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "nobody prices layers here: give a table file");
    }
    MerStatus status = input->pricer->price(op, unit, input->platform->word_bits,
                                            is_compat ? MER_PRICE_COMPAT : MER_PRICE_OWN,
                                            input->flexible, &price, error);
    if (status == MER_OK) {
        *entry = (MerJobTableEntry){.latency = price.latency_cycles,
                                    .traffic = price.traffic_bytes,
                                    .energy_pj = price.energy_pj,
                                    .weight_bytes = price.weight_bytes,
                                    .output_bytes = price.output_bytes,
                                    .l2_bytes = price.l2_bytes,
                                    .l1_bytes = price.l1_bytes,
                                    .macs = (double)op->macs,
                                    .is_fallback = price.is_fallback};
    }
    return status;
}

/* Required bandwidth: traffic over latency, or as the artifact has it, one half of the L2 need over
 * latency - 1 (schedule.md section 4). */
static MerStatus finish_entry(const char *source, const char *layer, bool is_compat,
                              MerJobTableEntry *entry, MerError *error)
{
    if (!(entry->latency > (is_compat ? 1 : 0)) || !isfinite(entry->latency)) {
        return mer_error_set(error, MER_INVALID,
                             "table %s: latency of %s is %g cycles, expected more than %d", source,
                             layer, entry->latency, is_compat);
    }
    if (is_compat) {
        entry->rate = entry->l2_bytes / 2 / (entry->latency - 1);
        entry->traffic = entry->latency * entry->rate;
    } else {
        entry->rate = entry->traffic / entry->latency;
    }
    if (!(entry->rate >= 0) || !isfinite(entry->rate)) {
        return mer_error_set(error, MER_INVALID,
                             "table %s: %s needs %g bytes per cycle, expected a number >= 0",
                             source, layer, entry->rate);
    }
    return MER_OK;
}

MerStatus mer_job_table_make(const MerJobTableInput *input, MerArena *arena, MerJobTable *table,
                             MerError *error)
{
    const MerPlatform *platform = input->platform;
    int               *row_of_job = MER_ARRAY(arena, int, input->job_count + 1);
    *table = (MerJobTable){
        .source = input->source, .class_count = platform->class_count, .row_of_job = row_of_job};
    int              *first = find_rows(input, row_of_job, &table->row_count, arena);
    const char      **class_names = MER_ARRAY(arena, const char *, table->class_count + 1);
    const char      **row_names = MER_ARRAY(arena, const char *, table->row_count + 1);
    MerJobTableEntry *entries = MER_ARRAY(
        arena, MerJobTableEntry, (size_t)table->row_count * (size_t)table->class_count + 1);
    bool         is_own = strcmp(input->source, "own") == 0;
    bool         is_file = !is_own && !mer_name_equal(input->source, "m3e-compat");
    MerTableFile file;
    MerStatus status = is_file ? mer_table_file_read(input->source, arena, &file, error) : MER_OK;
    table->is_compat = is_file ? status == MER_OK && !file.has_traffic : !is_own;
    table->has_energy = true;
    table->hash = mer_hash_int(MER_HASH_START, table->is_compat);
    for (int c = 0; c < table->class_count; c++) {
        const MerUnit *unit = unit_of_class(platform, c);
        class_names[c] = unit->class_name ? unit->class_name : unit->name;
    }
    for (int r = 0; status == MER_OK && r < table->row_count; r++) {
        const MerJob *job = &input->set->jobs[input->jobs[first[r]]];
        MerOp         op = mer_job_op(input->graph, job);
        row_names[r] = job->name;
        for (int c = 0; status == MER_OK && c < table->class_count; c++) {
            MerJobTableEntry *entry = &entries[r * table->class_count + c];
            status = is_file ? mer_table_file_entry(&file, job, &op, class_names[c], entry, error)
                             : price_entry(input, &op, unit_of_class(platform, c), table->is_compat,
                                           entry, error);
            if (status == MER_OK) {
                status = finish_entry(input->source, op.name, table->is_compat, entry, error);
            }
            table->hash = hash_entry(table->hash, entry);
        }
    }
    table->class_names = class_names;
    table->row_names = row_names;
    table->entries = entries;
    return status;
}

void mer_job_table_write(const MerJobTable *table, MerJson *json)
{
    static const char *const columns[] = {"latency_cycles", "l2_bytes", "l1_bytes",
                                          "energy_nJ",      "macs",     "traffic_bytes",
                                          "weight_bytes"};
    mer_json_object(json, NULL);
    mer_json_text(json, "format", "m3e-jobtable/1");
    mer_json_text(json, "source", table->source);
    mer_json_hash(json, "hash", table->hash);
    mer_json_array(json, "columns");
    for (int c = 0; c < (table->is_compat ? 5 : 7); c++) {
        mer_json_text(json, NULL, columns[c]);
    }
    mer_json_end_array(json);
    mer_json_array(json, "core_types");
    for (int c = 0; c < table->class_count; c++) {
        mer_json_text(json, NULL, table->class_names[c]);
    }
    mer_json_end_array(json);
    mer_json_array(json, "layers");
    for (int r = 0; r < table->row_count; r++) {
        mer_json_text(json, NULL, table->row_names[r]);
    }
    mer_json_end_array(json);
    mer_json_array(json, "rows");
    for (int r = 0; r < table->row_count; r++) {
        mer_json_array(json, NULL);
        for (int c = 0; c < table->class_count; c++) {
            const MerJobTableEntry *e = &table->entries[r * table->class_count + c];
            const double values[] = {e->latency, e->l2_bytes, e->l1_bytes,    e->energy_pj / 1000,
                                     e->macs,    e->traffic,  e->weight_bytes};
            mer_json_array(json, NULL);
            for (int i = 0; i < (table->is_compat ? 5 : 7); i++) {
                mer_json_real(json, NULL, values[i]);
            }
            mer_json_end_array(json);
        }
        mer_json_end_array(json);
    }
    mer_json_end_array(json);
    mer_json_end_object(json);
}
