/* 64-bit FNV-1a (Fowler, Noll, Vo). Numbers enter as 8 bytes, lowest first, on every machine. */
#include "mercator/text.h"

#include <string.h>

uint64_t mer_hash_bytes(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

uint64_t mer_hash_text(uint64_t hash, const char *text)
{
    return text == NULL ? mer_hash_bytes(hash, "", 1)
                        : mer_hash_bytes(hash, text, strlen(text) + 1);
}

static uint64_t hash_word(uint64_t hash, uint64_t word)
{
    for (int i = 0; i < 8; i++) {
        hash = (hash ^ ((word >> (8 * i)) & 0xff)) * UINT64_C(0x100000001b3);
    }
    return hash;
}

uint64_t mer_hash_int(uint64_t hash, int64_t value)
{
    return hash_word(hash, (uint64_t)value);
}

uint64_t mer_hash_real(uint64_t hash, double value)
{
    /* Equal values hash alike, so -0 counts as 0. */
    double   normal = value == 0 ? 0.0 : value;
    uint64_t word;
    memcpy(&word, &normal, sizeof word);
    return hash_word(hash, word);
}
