/* Timeloop architectures (v0.1 to v0.3, docs/timeloop-and-maestro.md, "Architectures"): a tree of
 * `subtree` and `local`, or the older `arithmetic` and `storage`, as a platform of ours; energies from an
 * ERT or from Timeloop's public table. `keep` and `bypass` of datatype constraints in the same files fix
 * what a memory holds. */
#ifndef MERCATOR_HW_TIMELOOP_ARCH_H
#define MERCATOR_HW_TIMELOOP_ARCH_H

#include "mercator/yaml.h"

enum { MER_TIMELOOP_LEVELS = 64, MER_TIMELOOP_LISTS = 5 };

typedef struct MerTimeloopLevel { /* outermost first; the last one computes */
    const char    *name;
    const MerYaml *place;
    bool           is_compute, is_dram;
    double         instances;        /* in the whole machine */
    double         mesh_x, mesh_y;   /* of these; 0: not given */
    double         word_bits;        /* 0: not given */
    double         words;            /* INFINITY: not given */
    double         words_per_access; /* block size times cluster size */
    double         read_rate, write_rate;
    double         buffers;
    double         read_pj, write_pj,
        update_pj; /* per word; NAN until known. compute: read_pj of one MAC */
    unsigned keep, bypass;
    int      fanout_x, fanout_y; /* below it */
} MerTimeloopLevel;

typedef struct MerTimeloopArch {
    int              count;
    MerTimeloopLevel levels[MER_TIMELOOP_LEVELS];
    const char      *ignored; /* components that neither store nor compute, "" if none */
    MerArena        *arena;
    MerError        *error;
} MerTimeloopArch;

/* Does this root hold an architecture of Timeloop, of any version? */
bool mer_timeloop_is_architecture(MerYaml *root);

/* The same machine as text of the form `mercator-platform/1`, named `name`. */
MerStatus mer_timeloop_platform(MerYaml *root, const char *name, const char **text,
                                MerError *error);

/* Steps of the above. */
MerStatus mer_timeloop_read_levels(MerTimeloopArch *arch, MerYaml *root);   /* timeloop_tree.c */
MerStatus mer_timeloop_read_energies(MerTimeloopArch *arch, MerYaml *root); /* timeloop_energy.c */

/* Every list of constraints under a root: mapspace_constraints, architecture_constraints,
 * constraints, mapspace.constraints; with or without `targets`. Gives how many. */
int mer_timeloop_constraint_lists(MerYaml *root, MerYaml *lists[MER_TIMELOOP_LISTS]);
/* Adds the data-spaces that an entry keeps and bypasses to masks of tensors: names that begin with W, F or B are
 * weights, I or A inputs, O or Z outputs. */
MerStatus mer_timeloop_keep(MerYaml *entry, unsigned *keep, unsigned *bypass, MerError *error);

#endif
