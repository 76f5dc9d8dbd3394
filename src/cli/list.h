/* What the files of `list` share. */
#ifndef MERCATOR_CLI_LIST_H
#define MERCATOR_CLI_LIST_H

#include "cli/cli.h"
#include "mercator/json.h"
#include "report/tables/table.h"

typedef struct MerListing {
    MerArena          *arena;
    MerJson           *json;   /* an array that is open; NULL: a table for people */
    MerTextTable      *table;  /* NULL: none was begun */
    const char        *only;   /* the one to show, NULL: all */
    const char *const *titles; /* of the table; in JSON the keys, but the first, which is "name" */
    int                columns, found;
    const char       **seen; /* names, for who misspells one */
    int                seen_count;
} MerListing;

/* Is this one to be shown? */
bool mer_listing_wants(MerListing *listing, const char *name);

int mer_listing_optimizers(MerListing *listing);
int mer_listing_solvers(MerListing *listing);
int mer_listing_evaluators(MerListing *listing);
int mer_listing_problems(MerListing *listing);

#endif
