/* Fills the job analysis table: from the pricer, once per distinct layer and core class, or from a file. */
#include "schedule/table/schedule_table.h"

#include "base/key_table.h"
#include "mercator/option.h"
#include "mercator/text.h"
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

/* Rows of the table, in order of first occurrence; gives the first job of each, a place in the input. */
static const int *find_rows(const MerJobTableInput *input, MerArena *arena, MerJobTable *table)
{
    int         jobs = input->job_count;
    int        *first = MER_ARRAY(arena, int, jobs + 1);
    int        *row_of_job = MER_ARRAY(arena, int, jobs + 1);
    int        *ids = MER_ARRAY(arena, int, jobs + 1);
    uint64_t   *hashes = MER_ARRAY(arena, uint64_t, jobs + 1);
    MerArena   *scratch = mer_arena_new();
    MerKeyTable known = {.arena = scratch};
    for (int i = 0; i < jobs; i++) {
        const MerJob *job = &input->set->jobs[input->jobs[i]];
        MerOp         op = mer_job_op(input->graph, job);
        uint64_t      hash = mer_layer_hash(&op);
        int row = mer_key_table_add(&known, mer_hash_int(hash, job->row), table->row_count);
        if (row == table->row_count) {
            hashes[row] = hash;
            ids[row] = job->row;
            first[table->row_count++] = i;
        }
        row_of_job[i] = row;
    }
    table->row_of_job = row_of_job;
    table->row_hashes = hashes;
    table->row_ids = ids;
    mer_arena_free(scratch);
    return first;
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

typedef struct Making { /* of one column of the table */
    const MerJobTableInput *input;
    const MerJobTable      *table;
    const MerTableFile     *file;  /* NULL: layers are priced, */
    MerPriceKey             key;   /* by this */
    MerPriceCache          *cache; /* or found here */
    const int              *first; /* job of each row, a place in the input */
} Making;

static MerStatus find_price(const Making *making, uint64_t hash, const MerOp *op,
                            MerJobTableEntry *entry, MerError *error)
{
    const MerPriceKey *key = &making->key;
    if (mer_price_cache_find(making->cache, hash, entry)) {
        return MER_OK;
    }
    MER_TRY(making->input->pricer->price(op, key->unit, key->word_bits, key->mode, key->flexible,
                                         entry, error));
    mer_price_cache_add(making->cache, hash, entry);
    return MER_OK;
}

/* A check that fails throws the whole cache away, so what came from it before is priced again. */
static MerStatus make_column(const Making *making, int column, MerJobTableEntry *entries,
                             MerError *error)
{
    const MerJobTableInput *input = making->input;
    const MerJobTable      *table = making->table;
    const char             *name = table->class_names[column];
    int                     generation = mer_price_cache_generation(making->cache);
    for (int r = 0; r < table->row_count; r++) {
        const MerJob     *job = &input->set->jobs[input->jobs[making->first[r]]];
        MerOp             op = mer_job_op(input->graph, job);
        MerJobTableEntry *entry = &entries[r * table->class_count + column];
        if (mer_is_cancelled(input->notes)) {
            return mer_error_set(error, MER_CANCELLED,
                                 "interrupted before the search could begin: %d of %d layers "
                                 "were priced on core type %s",
                                 r, table->row_count, name);
        }
        MER_TRY(making->file ? mer_table_file_entry(making->file, job, &op, name, entry, error)
                             : find_price(making, table->row_hashes[r], &op, entry, error));
        MER_TRY(finish_entry(input->source, op.name, table->is_compat, entry, error));
        if (mer_price_cache_generation(making->cache) != generation) {
            generation = mer_price_cache_generation(making->cache);
            r = -1;
        }
    }
    return MER_OK;
}

MerStatus mer_job_table_make(const MerJobTableInput *input, MerArena *arena, MerJobTable *table,
                             MerError *error)
{
    const MerPlatform *platform = input->platform;
    int                classes = platform->class_count;
    bool               is_own = strcmp(input->source, "own") == 0;
    bool               is_file = !is_own && !mer_name_equal(input->source, "m3e-compat");
    MerTableFile       file;
    *table = (MerJobTable){.source = input->source,
                           .is_compat = !is_own,
                           .dram_pj_per_byte = is_own ? input->pricer->dram_pj_per_byte : 0,
                           .class_count = classes};
    if (is_file) {
        MerStatus status = mer_table_file_read(input->source, arena, &file, error);
        if (status == MER_NOT_FOUND && !strpbrk(input->source, "/.")) {
            return mer_error_set(error, MER_INVALID,
                                 "table is \"%s\", expected own, m3e-compat or a file",
                                 input->source);
        }
        MER_TRY(status);
        table->is_compat = !file.has_traffic;
        table->dram_pj_per_byte = table->is_compat ? 0 : file.dram_pj_per_byte;
    }
    const int        *first = find_rows(input, arena, table);
    int               cells = table->row_count * classes;
    MerJobTableEntry *entries = MER_ARRAY(arena, MerJobTableEntry, (size_t)cells + 1);
    const char      **class_names = MER_ARRAY(arena, const char *, classes + 1);
    const char      **row_names = MER_ARRAY(arena, const char *, table->row_count + 1);
    for (int r = 0; r < table->row_count; r++) {
        row_names[r] = input->set->jobs[input->jobs[first[r]]].name;
    }
    table->entries = entries;
    table->class_names = class_names;
    table->row_names = row_names;
    for (int c = 0; c < classes; c++) {
        const MerUnit *unit = platform->units;
        while (unit->class_index != c) { /* the first one of the class */
            unit++;
        }
        MerPriceKey     key = {unit, platform->word_bits, input->pricer->name,
                           is_own ? MER_PRICE_OWN : MER_PRICE_COMPAT, input->flexible};
        MerPriceCache  *none = NULL;
        MerPriceCache **cache = input->caches ? &input->caches[c] : &none;
        if (!*cache) {
            *cache = mer_price_cache_open(is_file ? "off" : input->cache, &key,
                                          input->caches ? input->cache_arena : arena);
        }
        class_names[c] = unit->class_name ? unit->class_name : unit->name;
        Making    making = {input, table, is_file ? &file : NULL, key, *cache, first};
        MerStatus status = make_column(&making, c, entries, error);
        mer_price_cache_close(*cache);
        MER_TRY(status);
    }
    table->hash = mer_hash_int(MER_HASH_START, table->is_compat);
    for (int i = 0; i < cells; i++) {
        table->hash = mer_hash_real(table->hash, entries[i].latency);
        table->hash = mer_hash_real(table->hash, entries[i].rate);
        table->hash = mer_hash_real(table->hash, entries[i].energy_pj);
    }
    return MER_OK;
}
