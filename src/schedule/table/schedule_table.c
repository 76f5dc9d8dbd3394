/* Fills the job analysis table: from the pricer, once per distinct layer and core class, or from a file. */
#include "schedule/table/schedule_table.h"

#include "base/file.h"
#include "base/key_table.h"
#include "mercator/option.h"
#include "schedule/table/schedule_cache.h"
#include "schedule/table/schedule_table_file.h"

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

uint64_t mer_layer_hash(const MerOp *op)
{
    uint64_t hash = mer_hash_int(MER_HASH_START, op->kind);
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        hash = mer_hash_int(hash, op->dims[d]);
    }
    for (int i = 0; i < 2; i++) {
        hash = mer_hash_int(hash, op->stride[i]);
        hash = mer_hash_int(hash, op->dilation[i]);
    }
    for (int i = 0; i < 4; i++) {
        hash = mer_hash_int(hash, op->pad[i]);
    }
    hash = mer_hash_int(hash, op->input_rows);
    hash = mer_hash_int(hash, op->input_columns);
    return mer_hash_int(hash, op->repeat);
}

typedef struct Rows { /* of a table in the making, in order of first occurrence */
    int       count;
    int      *first; /* job, a place in the input */
    uint64_t *hashes;
    int      *ids;
    int      *row_of_job;
} Rows;

static Rows find_rows(const MerJobTableInput *input, MerArena *arena)
{
    int         jobs = input->job_count;
    Rows        rows = {0, MER_ARRAY(arena, int, jobs + 1), MER_ARRAY(arena, uint64_t, jobs + 1),
                        MER_ARRAY(arena, int, jobs + 1), MER_ARRAY(arena, int, jobs + 1)};
    MerArena   *scratch = mer_arena_new();
    MerKeyTable known = {.arena = scratch};
    for (int i = 0; i < jobs; i++) {
        const MerJob *job = &input->set->jobs[input->jobs[i]];
        MerOp         op = mer_job_op(input->graph, job);
        uint64_t      hash = mer_layer_hash(&op);
        int           row = mer_key_table_add(&known, mer_hash_int(hash, job->row), rows.count);
        if (row == rows.count) {
            rows.hashes[row] = hash;
            rows.ids[row] = job->row;
            rows.first[rows.count++] = i;
        }
        rows.row_of_job[i] = row;
    }
    mer_arena_free(scratch);
    return rows;
}

/* Required bandwidth: traffic over latency, or as the artifact has it, one half of the L2 need over
 * latency - 1 (docs/bandwidth-model.md, "Job analysis table"). */
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

typedef struct Making { /* what pricing one row on one class needs */
    const MerJobTableInput *input;
    MerJobTable            *table;
    MerTableFile            file;
    bool                    is_file;
    const MerUnit         **units; /* by class */
    MerPriceCache         **caches;
} Making;

/* From the cache or from the pricer; now and then from both, which must agree. */
static MerStatus find_price(Making *making, int class_index, uint64_t hash, const MerOp *op,
                            MerJobTableEntry *entry, MerError *error)
{
    MerPriceCache   *cache = making->caches[class_index];
    MerJobTableEntry known;
    bool             is_known = mer_price_cache_find(cache, hash, &known);
    if (is_known && !mer_price_cache_wants_check(cache)) {
        *entry = known;
        return MER_OK;
    }
    const MerJobTableInput *input = making->input;
    MER_TRY(input->pricer->price(op, making->units[class_index], input->platform->word_bits,
                                 making->table->is_compat ? MER_PRICE_COMPAT : MER_PRICE_OWN,
                                 input->flexible, entry, error));
    if (is_known && !mer_price_equal(&known, entry)) {
        mer_price_cache_forget(cache);
    }
    mer_price_cache_add(cache, hash, entry);
    return MER_OK;
}

/* A check that fails throws the whole cache away, so what came from it before is priced again. */
static MerStatus make_entries(Making *making, const Rows *rows, MerJobTableEntry *entries,
                              MerError *error)
{
    const MerJobTableInput *input = making->input;
    const MerJobTable      *table = making->table;
    for (int c = 0; c < table->class_count; c++) {
        int generation = mer_price_cache_generation(making->caches[c]);
        for (int r = 0; r < table->row_count; r++) {
            const MerJob     *job = &input->set->jobs[input->jobs[rows->first[r]]];
            MerOp             op = mer_job_op(input->graph, job);
            MerJobTableEntry *entry = &entries[r * table->class_count + c];
            if (mer_is_cancelled(input->notes)) {
                return mer_error_set(error, MER_CANCELLED,
                                     "interrupted before the search could begin: %d of %d layers "
                                     "were priced on core type %s",
                                     r, table->row_count, table->class_names[c]);
            }
            MER_TRY(making->is_file ? mer_table_file_entry(&making->file, job, &op,
                                                           table->class_names[c], entry, error)
                                    : find_price(making, c, rows->hashes[r], &op, entry, error));
            MER_TRY(finish_entry(input->source, op.name, table->is_compat, entry, error));
            if (mer_price_cache_generation(making->caches[c]) != generation) {
                generation = mer_price_cache_generation(making->caches[c]);
                r = -1;
            }
        }
    }
    return MER_OK;
}

static void open_caches(Making *making, MerArena *arena)
{
    const MerJobTableInput *input = making->input;
    for (int c = 0; c < making->table->class_count; c++) {
        MerPriceKey key = {making->units[c], input->platform->word_bits, input->pricer->name,
                           making->table->is_compat ? MER_PRICE_COMPAT : MER_PRICE_OWN,
                           input->flexible};
        if (!making->caches[c]) {
            making->caches[c] = mer_price_cache_open(making->is_file ? "off" : input->cache, &key,
                                                     input->caches ? input->cache_arena : arena);
        }
    }
}

MerStatus mer_job_table_make(const MerJobTableInput *input, MerArena *arena, MerJobTable *table,
                             MerError *error)
{
    const MerPlatform *platform = input->platform;
    Rows               rows = find_rows(input, arena);
    int                classes = platform->class_count;
    bool               is_own = strcmp(input->source, "own") == 0;
    const char       **class_names = MER_ARRAY(arena, const char *, classes + 1);
    const char       **row_names = MER_ARRAY(arena, const char *, rows.count + 1);
    MerJobTableEntry  *entries =
        MER_ARRAY(arena, MerJobTableEntry, (size_t)rows.count * (size_t)classes + 1);
    Making making = {.input = input,
                     .table = table,
                     .is_file = !is_own && !mer_name_equal(input->source, "m3e-compat"),
                     .units = MER_ARRAY(arena, const MerUnit *, classes + 1),
                     .caches = input->caches ? input->caches
                                             : MER_ARRAY(arena, MerPriceCache *, classes + 1)};
    *table = (MerJobTable){.source = input->source,
                           .is_compat = !is_own,
                           .dram_pj_per_byte = is_own ? input->pricer->dram_pj_per_byte : 0,
                           .row_count = rows.count,
                           .class_count = classes,
                           .row_of_job = rows.row_of_job,
                           .class_names = class_names,
                           .row_names = row_names,
                           .row_hashes = rows.hashes,
                           .row_ids = rows.ids,
                           .entries = entries};
    if (making.is_file) {
        MerStatus status = mer_table_file_read(input->source, arena, &making.file, error);
        if (status == MER_NOT_FOUND && !strpbrk(input->source, "/.")) {
            return mer_error_set(error, MER_INVALID,
                                 "table is \"%s\", expected own, m3e-compat or a file",
                                 input->source);
        }
        MER_TRY(status);
        table->is_compat = !making.file.has_traffic;
        table->dram_pj_per_byte = table->is_compat ? 0 : making.file.dram_pj_per_byte;
    }
    for (int u = platform->unit_count - 1; u >= 0; u--) { /* the first one of each class */
        making.units[platform->units[u].class_index] = &platform->units[u];
    }
    for (int c = 0; c < classes; c++) {
        class_names[c] =
            making.units[c]->class_name ? making.units[c]->class_name : making.units[c]->name;
    }
    for (int r = 0; r < rows.count; r++) {
        row_names[r] = input->set->jobs[input->jobs[rows.first[r]]].name;
    }
    open_caches(&making, arena);
    MerStatus status = make_entries(&making, &rows, entries, error);
    table->hash = mer_hash_int(MER_HASH_START, table->is_compat);
    for (int i = 0; status == MER_OK && i < rows.count * classes; i++) {
        table->hash = mer_hash_real(table->hash, entries[i].latency);
        table->hash = mer_hash_real(table->hash, entries[i].rate);
        table->hash = mer_hash_real(table->hash, entries[i].energy_pj);
    }
    for (int c = 0; c < classes; c++) {
        mer_price_cache_close(making.caches[c]);
    }
    return status;
}
