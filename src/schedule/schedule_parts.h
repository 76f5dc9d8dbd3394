/* What the files of problem `schedule` do for each other. */
#ifndef MERCATOR_SCHEDULE_SCHEDULE_PARTS_H
#define MERCATOR_SCHEDULE_SCHEDULE_PARTS_H

#include "schedule/schedule.h"
#include "schedule/table/schedule_table.h"

/* schedule_instance.c: fields of `schedule`, whose counts are set, from the jobs `jobs` of `set`. */
void mer_schedule_spread_table(const MerPlatform *platform, MerSchedule *schedule,
                               const MerJobTable *table, MerArena *arena);
void mer_schedule_describe_units(const MerPlatform *platform, MerSchedule *schedule,
                                 MerArena *arena);
void mer_schedule_describe_jobs(const MerProblem *problem, const MerJobSet *set, const int *jobs,
                                MerSchedule *schedule, MerArena *arena);
/* With the orders by them; keeps both. */
void mer_schedule_set_times(MerSchedule *schedule, const double *release, const double *deadline,
                            MerArena *arena);
/* Releases and deadlines from `start` on, in cycles; while that is INFINITY, unknown, there are none. */
void mer_schedule_shift(MerSchedule *schedule, double start, MerArena *arena);
void mer_schedule_link_jobs(const MerJobSet *set, const int *jobs, MerSchedule *schedule,
                            MerArena *arena);

/* schedule_point.c */
typedef enum MerJobOrder { /* of the knobs; as the option `order` lists them */
                           MER_ORDER_AUTO,
                           MER_ORDER_INPUT,
                           MER_ORDER_LATENCY,
                           MER_ORDER_M3E
} MerJobOrder;
const int *mer_schedule_sort(const MerSchedule *schedule, MerJobOrder order, MerArena *arena);
MerSpace   mer_schedule_space(const MerSchedule *schedule, MerArena *arena);

/* Slots of the problem: schedule_point.c, schedule_plan.c, schedule_flags.c, schedule_carry.c, schedule_total.c */
bool        mer_schedule_encode(const MerProblem *problem, const MerPlan *plan, MerIndex *point);
void        mer_schedule_canonical(const MerProblem *problem, MerPlan *plan);
const char *mer_schedule_warnings(const MerProblem *problem, const void *rules, MerMetric objective,
                                  MerArena *arena);
const char *mer_schedule_print_costs(const MerCost *cost, bool is_total, MerArena *arena);
const char *mer_schedule_advise(const char *reason, MerArena *arena);
bool        mer_schedule_claims(const char *name, MerArena *arena);
extern const MerFlag mer_schedule_flags[];
MerStatus            mer_schedule_take_flags(MerCommandLine *line, MerError *error);
bool                 mer_schedule_can_carry(const MerProblem *problem);
MerStatus mer_schedule_carry(const MerProblem *problem, const MerSpace *other, int other_knobs,
                             MerMatch match, int *from, MerArena *arena, MerError *error);
void      mer_schedule_combine(const MerWhole *whole, MerCost *total, MerBound *bound);

#endif
