/* Making the tables of a study: cells, numbers as text, and one value per task to sum up. */
#ifndef MERCATOR_REPORT_STUDIES_STUDY_MAKER_H
#define MERCATOR_REPORT_STUDIES_STUDY_MAKER_H

#include "report/studies/study_stats.h"

typedef struct MerTableMaker {
    const MerStudyGroup   *group;
    const MerStudyOptions *options;
    int                    reference, baseline; /* methods, -1: none */
    MerArena              *arena;
    MerStudyTable         *tables;
    int                    count;
    double                *values; /* (tasks), scratch */
} MerTableMaker;

/* The next table, which is filled cell by cell, row by row. `titles` of columns are joined by `|`. */
void mer_table_begin(MerTableMaker *maker, const char *id, const char *title, const char *caption,
                     const char *titles);
/* The same with the title of the first column, and one column per optimizer. */
void mer_table_begin_by_method(MerTableMaker *maker, const char *id, const char *title,
                               const char *caption, const char *first);
void mer_table_add_column(MerTableMaker *maker, const char *title); /* one more */
void mer_table_add(MerTableMaker *maker, const char *text);
#define mer_table_print(maker, ...)                                                                \
    mer_table_add((maker), mer_arena_format((maker)->arena, __VA_ARGS__))

const char *mer_table_real(double value, MerArena *arena);
const char *mer_table_with_interval(double value, MerInterval interval, MerArena *arena);
const char *mer_table_whole(double value, MerArena *arena);

/* values[task] = the method's median over the best known after so many samples. */
void mer_fill_quality(const MerTableMaker *maker, int method, int64_t samples);
/* The least of `samples` and what two methods took for a task: there both can be compared. */
int64_t mer_equal_samples(const MerTableMaker *maker, int task, int method, int against,
                          int64_t samples);
/* values[task] = how many times better the first method's median is than the second's, at equal samples, whose median
 * over the tasks it gives back; NaN: neither has anything by then. */
int64_t mer_fill_advantage(const MerTableMaker *maker, int method, int against, int64_t samples);
/* Of those values that are not NaN: median, also with its interval, geometric mean, least and largest, how many are above
 * and below 1. */
const char *mer_table_over_tasks(const MerTableMaker *maker);
double      mer_table_median(const MerTableMaker *maker);
double      mer_table_geomean(const MerTableMaker *maker);
MerInterval mer_table_extremes(const MerTableMaker *maker);
void        mer_count_signs(const MerTableMaker *maker, int *more, int *less);

typedef struct MerReach { /* of one method on one task, towards the reference's final median */
    double samples;       /* median of the seeds; infinite: half of them or more never came there */
    int    seeds, reached;
} MerReach;

MerReach mer_reach_of(const MerTableMaker *maker, int task, int method);
/* When each seed of the reference found what it ended with: median over its seeds. */
double mer_own_reach(const MerTableMaker *maker, int task);

/* Tables after so many samples, and of times. INT64_MAX: at the end. */
void mer_table_at(MerTableMaker *maker, int64_t samples);
void mer_table_pairs(MerTableMaker *maker, int64_t samples);
void mer_table_ratios(MerTableMaker *maker, int64_t samples);
void mer_table_time(MerTableMaker *maker);
void mer_table_seeds(MerTableMaker *maker);
void mer_table_noted(MerTableMaker *maker);

#endif
