/* A platform's fingerprint: everything that can change a result, so neither its name nor the texts
 * about it. Two files that resolve to the same machine have the same hash. */
#include "hw/reader.h"

#include "mercator/text.h"

static uint64_t hash_reals(uint64_t hash, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hash = mer_hash_real(hash, values[i]);
    }
    return hash;
}

static uint64_t hash_ints(uint64_t hash, const int64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hash = mer_hash_int(hash, values[i]);
    }
    return hash;
}

static uint64_t hash_memory(uint64_t hash, const MerMemory *memory)
{
    const double  numbers[] = {memory->words,
                               memory->bytes,
                               memory->read_words_per_cycle,
                               memory->write_words_per_cycle,
                               memory->bytes_per_s,
                               memory->read_pj,
                               memory->write_pj,
                               memory->update_pj,
                               memory->partition_words[0],
                               memory->partition_words[1],
                               memory->partition_words[2],
                               memory->fanout.words_per_cycle,
                               memory->fanout.latency_cycles,
                               memory->fanout.pj_per_word};
    const int64_t integers[] = {memory->word_bits, memory->keep,          memory->bypass,
                                memory->buffers,   memory->has_partition, memory->fanout.x,
                                memory->fanout.y};
    hash = mer_hash_text(hash, memory->name);
    hash = hash_reals(hash, numbers, sizeof numbers / sizeof *numbers);
    return hash_ints(hash, integers, sizeof integers / sizeof *integers);
}

static uint64_t hash_formula(uint64_t hash, const MerFormula *formula)
{
    hash = mer_hash_text(hash, formula->name);
    hash = mer_hash_int(hash, formula->count);
    for (int i = 0; i < formula->count; i++) {
        const MerConstant *constant = &formula->constants[i];
        hash = mer_hash_text(hash, constant->name);
        hash = mer_hash_text(hash, constant->text);
        hash = mer_hash_int(hash, constant->count);
        hash = hash_reals(hash, constant->values, (size_t)constant->count);
    }
    return hash;
}

static uint64_t hash_choices(uint64_t hash, const MerUnit *unit)
{
    hash = mer_hash_int(hash, unit->option_count);
    for (int i = 0; i < unit->option_count; i++) {
        hash = mer_hash_text(hash, unit->options[i].name);
        hash = mer_hash_text(hash, unit->options[i].operator_name);
        hash = mer_hash_text(hash, unit->options[i].weights);
    }
    hash = mer_hash_int(hash, unit->flops_count);
    for (int i = 0; i < unit->flops_count; i++) {
        hash = mer_hash_text(hash, unit->flops[i].type);
        hash = mer_hash_real(hash, unit->flops[i].per_s);
    }
    hash = mer_hash_int(hash, unit->support_count);
    for (int i = 0; i < unit->support_count; i++) {
        hash = mer_hash_text(hash, unit->supports[i]);
    }
    hash = hash_formula(hash, &unit->requantise);
    return hash_formula(hash, &unit->cost);
}

static uint64_t hash_unit(uint64_t hash, const MerUnit *unit)
{
    const double  numbers[] = {unit->memory_bytes,
                               unit->mac_pj,
                               unit->pe_memory_bytes,
                               unit->flexible_limit_bytes,
                               unit->static_pj_per_cycle,
                               unit->bytes_per_s,
                               unit->launch_us,
                               unit->gap_us,
                               unit->speed};
    const int64_t integers[] = {unit->class_index, unit->lanes,     unit->batch,
                                unit->block_in,    unit->block_out, unit->rows,
                                unit->columns,     unit->flexible,  unit->streams};
    hash = mer_hash_text(hash, unit->name);
    hash = mer_hash_text(hash, unit->class_name);
    hash = mer_hash_text(hash, unit->dataflow);
    hash = hash_reals(hash, numbers, sizeof numbers / sizeof *numbers);
    hash = hash_ints(hash, integers, sizeof integers / sizeof *integers);
    return hash_choices(hash, unit);
}

static uint64_t hash_link(uint64_t hash, const MerLink *link)
{
    hash = mer_hash_int(hash, link->from);
    hash = mer_hash_int(hash, link->to);
    hash = mer_hash_real(hash, link->bytes_per_s);
    hash = mer_hash_real(hash, link->latency_us);
    hash = mer_hash_real(hash, link->gap_us);
    hash = mer_hash_int(hash, link->full_duplex);
    return mer_hash_text(hash, link->bus);
}

uint64_t mer_platform_hash(const MerPlatform *platform)
{
    uint64_t hash = mer_hash_text(MER_HASH_START, mer_platform_kind_name(platform->kind));
    hash = mer_hash_real(hash, platform->clock_hz);
    hash = mer_hash_int(hash, platform->word_bits);
    hash = mer_hash_int(hash, platform->calibrated);
    hash = mer_hash_int(hash, platform->memory_count);
    for (int i = 0; i < platform->memory_count; i++) {
        hash = hash_memory(hash, &platform->memories[i]);
    }
    hash = mer_hash_int(hash, platform->unit_count);
    for (int i = 0; i < platform->unit_count; i++) {
        hash = hash_unit(hash, &platform->units[i]);
    }
    hash = mer_hash_int(hash, platform->link_count);
    for (int i = 0; i < platform->link_count; i++) {
        hash = hash_link(hash, &platform->links[i]);
    }
    hash = mer_hash_int(hash, platform->bus_bits);
    hash = mer_hash_int(hash, platform->reference);
    hash = mer_hash_int(hash, platform->activation_bits);
    hash = mer_hash_int(hash, platform->activation_signed);
    hash = mer_hash_text(hash, platform->activation_quantiser);
    hash = hash_formula(hash, &platform->timing);
    if (platform->energy.name) { /* hashes of platforms without it stay as they were */
        hash = hash_formula(hash, &platform->energy);
    }
    hash = hash_formula(hash, &platform->power_mw);
    if (platform->kind == MER_PLATFORM_NATIVE) {
        hash = mer_hash_text(mer_hash_text(hash, platform->compiler), platform->flags);
        hash = mer_hash_int(hash, platform->units[0].vector_bits);
        hash = mer_hash_int(hash, platform->units[0].threads);
    }
    return mer_hash_int(hash, platform->store_and_forward);
}
