/* Points in a row, one array of (count, knobs) indices, as most optimizers keep them. */
#ifndef MERCATOR_OPT_POINTS_H
#define MERCATOR_OPT_POINTS_H

#include "base/stream.h"
#include "mercator/space.h"

#include <string.h>

static inline size_t mer_point_bytes(const MerSpace *space)
{
    return (size_t)space->knob_count * sizeof(MerIndex);
}

static inline MerIndex *mer_point_at(const MerSpace *space, MerIndex *points, int64_t i)
{
    return points + i * space->knob_count;
}

static inline void mer_point_copy(const MerSpace *space, MerIndex *to, const MerIndex *from)
{
    memcpy(to, from, mer_point_bytes(space));
}

static inline bool mer_point_equal(const MerSpace *space, const MerIndex *a, const MerIndex *b)
{
    return memcmp(a, b, mer_point_bytes(space)) == 0;
}

/* Saves or loads them; those that are read must lie in the space. */
static inline void mer_points_keep(const MerSpace *space, MerIndex *points, int64_t count,
                                   MerStream *stream)
{
    for (int64_t i = 0; i < count && !stream->is_broken; i++) {
        MerIndex *point = mer_point_at(space, points, i);
        mer_stream_bytes(stream, point, sizeof *point, space->knob_count);
        stream->is_broken = stream->is_broken || !mer_space_contains(space, point);
    }
}

#endif
