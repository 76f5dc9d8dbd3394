/* A decoded point: what an evaluator prices. A kind of plan belongs to the folder of its problem, and
 * only that folder looks inside; everybody else passes plans on, hashes them, and writes them to files. */
#ifndef MERCATOR_PLAN_H
#define MERCATOR_PLAN_H

#include "mercator/arena.h"
#include "mercator/error.h"
#include "mercator/json.h"
#include "mercator/yaml.h"

typedef struct MerProblem  MerProblem;
typedef struct MerPlanKind MerPlanKind;

typedef struct MerPlan {
    const MerPlanKind *kind;
    void              *content; /* of the kind's own type, in the arena it was decoded into */
} MerPlan;

/* The content of a plan from its body in a file; what the body may not have is left to the caller. */
typedef MerStatus (*MerPlanBodyReader)(const MerProblem *problem, MerYaml *body, MerPlan *plan,
                                       MerArena *arena, MerError *error);

struct MerPlanKind {
    const char *name; /* "nest": the key `kind` of plan files */
    /* Continues `hash` over the choices of the plan, not over pointers. */
    uint64_t (*hash)(const MerPlan *plan, uint64_t hash);

    /* optional */
    /* The body of a task in a plan file (keys of an open JSON object), and back. Absent: such plans
     * are not written to files. */
    void (*write)(const MerProblem *problem, const MerPlan *plan, MerJson *json);
    MerPlanBodyReader read;
    /* The plan for people (loop nest, queues, ...), newline-terminated text in `arena`. */
    const char *(*print)(const MerProblem *problem, const MerPlan *plan, MerArena *arena);
};

uint64_t mer_plan_hash(const MerPlan *plan);

#endif
