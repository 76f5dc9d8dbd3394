/* Prices of layers on a core class, kept on disk between runs. A cache never fails: what is damaged, stale or
 * out of reach is priced anew, and written again where that is possible. */
#ifndef MERCATOR_SCHEDULE_TABLE_SCHEDULE_CACHE_H
#define MERCATOR_SCHEDULE_TABLE_SCHEDULE_CACHE_H

#include "schedule/table/schedule_table.h"

typedef struct MerPriceKey { /* everything a price depends on besides the layer */
    const MerUnit *unit;
    int            word_bits;
    const char    *pricer;
    MerPriceMode   mode;
    MerFlexible    flexible;
} MerPriceKey;

typedef struct MerPriceCache MerPriceCache;

/* `where`: "off" or NULL for none, "auto" for the user's cache folder ($XDG_CACHE_HOME/mercator or
 * ~/.cache/mercator), else a folder. */
MerPriceCache *mer_price_cache_open(const char *where, const MerPriceKey *key, MerArena *arena);
/* False for some of the entries that are there, too: the caller prices those and adds them again, so that a cache
 * written by another version of the cost model is noticed. */
bool mer_price_cache_find(MerPriceCache *cache, uint64_t layer, MerJobTableEntry *entry);
/* Forgets everything if another price was known. */
void mer_price_cache_add(MerPriceCache *cache, uint64_t layer, const MerJobTableEntry *entry);
int  mer_price_cache_generation(const MerPriceCache *cache); /* how often that happened */
bool mer_price_equal(const MerJobTableEntry *known, const MerJobTableEntry *priced);
/* Writes the file if there is something new in it. */
void mer_price_cache_close(MerPriceCache *cache);

/* The file of the cache, NULL if there is none. */
const char *mer_price_cache_path(const MerPriceCache *cache);

#endif
