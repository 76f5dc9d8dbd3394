/* From the nodes and edges of a measured profile to a graph with its profile: one operator and one value for each
 * node, the value as many bytes as the node's result. */
#ifndef MERCATOR_PLACE_INPUTS_PROFILE_BUILD_H
#define MERCATOR_PLACE_INPUTS_PROFILE_BUILD_H

#include "mercator/import.h"
#include "place/place.h"

extern const MerImporterClass mer_importer_pipedream; /* graph.txt */
extern const MerImporterClass mer_importer_piper;     /* JSON */
extern const MerImporterClass mer_importer_msr;       /* JSON */

/* What Piper attaches besides MER_PLACE_PROFILE: the same with activations computed again. */
#define MER_PLACE_RECOMPUTE "profile.recompute"

/* Largest numbers that files may hold, so that sums over a graph stay exact or at least finite. */
#define MER_PROFILE_MAX_BYTES 1e15
#define MER_PROFILE_MAX_MS 1e12
enum { MER_PROFILE_MAX_NODES = 1000000 };

typedef struct MerProfileNode {
    const char *name;   /* no other node has it */
    const char *source; /* what the file says that it does */
    MerOpKind   kind;   /* of the profile: the operator itself has no loops */
    int64_t     id;
    int         file_index;
    double      time_us;      /* forward and backward, on the unit that was measured */
    double      size;         /* bytes that stay on its unit */
    double      weight_bytes; /* those of its weights */
    double      output_bytes;
} MerProfileNode;

typedef struct MerProfileEdge {
    int from, to; /* nodes */
} MerProfileEdge;

/* The finished graph; its value v is the result of node v. */
MerStatus mer_profile_graph(const MerImportFile *file, const char *format,
                            const MerProfileNode *nodes, int node_count,
                            const MerProfileEdge *edges, int edge_count, MerArena *arena,
                            MerGraph **graph, MerError *error);

/* Attaches what `nodes` say under `type`, as a profile of training in a pipeline, and lets the graph's hash know
 * it. What was measured on one kind of unit does not run on hosts. */
void mer_profile_attach(MerGraph *graph, const char *type, const MerProfileNode *nodes);

#endif
