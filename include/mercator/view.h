/* What a plug-in shows. A view is one panel of the report, written as a note named `view`; the page
 * knows panels, never problems. Evaluators write views in `detail`, optimizers and solvers while
 * they work.
 *
 *     MerViewColumn columns[] = {{.name = "bin"}, {.name = "load", .unit = "B", .has_bar = true}};
 *     MerViewCell   cells[] = {{.text = "left"}, {.number = 12}, {.text = "right"}, {.number = 4}};
 *     MerView       view = {.id = "bins", .title = "Bins"};
 *     mer_view_table(notes, &view, &(MerViewTable){columns, 2, cells, 2});
 *
 * Every struct may be zeroed: a field of 0 or NULL is absent. Everything is borrowed for the call.
 * Units are those of the metrics (`cycle`, `s`, `pJ`, `B`, `op/s`, `word`, ...), "1" for plain
 * numbers, "share" for parts of a whole (0.25 is shown as 25 %); any other text is shown behind
 * the number as it stands. Numbers are never scaled here. docs/report-data.md has an example of each
 * panel. */
#ifndef MERCATOR_VIEW_H
#define MERCATOR_VIEW_H

#include "mercator/notes.h"

typedef struct MerViewFact {
    const char *name;
    double      value;
    const char *unit; /* NULL: there is no number, only the text */
    const char *text; /* shown in place of the number */
    const char *help;
} MerViewFact;

typedef struct MerView { /* what every panel has */
    const char *id;      /* tells the views of one plug-in apart: of each task the newest counts */
    const char *title;
    const char *help; /* one sentence below the title */
    /* shown above the drawing */
    const MerViewFact *facts;
    int                fact_count;
    /* a mark on the curve of the best so far, at so many evaluations of the task */
    int64_t     mark_at;
    const char *mark;
    bool        is_folded; /* shown on demand */
} MerView;

/* Facts alone. */
void mer_view_facts(MerNotes *notes, const MerView *view);

/* Shown at the top of the page. `remedy`: what to try, or NULL. */
void mer_view_warning(MerNotes *notes, const MerView *view, const char *text, const char *remedy);

typedef struct MerViewColumn {
    const char *name;
    const char *unit; /* NULL: a column of texts */
    const char *help;
    bool        has_bar; /* a bar behind the number, full at 1 for shares, else at the largest */
} MerViewColumn;
typedef struct MerViewCell {
    const char *text;
    double      number; /* NaN: nothing to say */
} MerViewCell;
typedef struct MerViewTable {
    const MerViewColumn *columns;
    int                  column_count;
    const MerViewCell   *cells; /* (rows, columns) */
    int                  row_count;
} MerViewTable;
void mer_view_table(MerNotes *notes, const MerView *view, const MerViewTable *table);

typedef struct MerViewBars {
    const char        *unit;
    const char *const *series;
    int                series_count;
    const char *const *rows;
    int                row_count;
    const double      *values;     /* (rows, series) */
    const double      *limits;     /* (rows), a mark on each bar; NULL: none */
    bool               is_grouped; /* bars side by side instead of stacked */
    bool               is_log;
    bool               has_parts; /* the numbers of all series beside the bar, not their sum */
    bool               has_rest;  /* the last series is what is left: drawn as empty */
} MerViewBars;
void mer_view_bars(MerNotes *notes, const MerView *view, const MerViewBars *bars);

typedef struct MerViewAreas { /* steps over one axis, stacked on each other */
    const char        *title, *unit;
    const char        *x_name, *x_unit; /* not read below a timeline, which has its own axis */
    double             limit;           /* 0: none */
    const char *const *series;          /* NULL below a timeline: its lanes */
    int                series_count;
    const double      *segments; /* (segments, 2 + series): from, to, value of each series */
    int                segment_count;
} MerViewAreas;
void mer_view_areas(MerNotes *notes, const MerView *view, const MerViewAreas *areas);

typedef struct MerViewItem { /* its index in the list is its number */
    const char *name;
    int         lane; /* -1: never ran */
    double      start, end;
    double      stall;           /* part of it, drawn at its end */
    double      amount;          /* of something, in the timeline's amount_unit */
    double      ready, deadline; /* 0 or infinite: none */
    const char *group, *kind;    /* what it can be coloured by */
    const char *set;             /* items of one set miss their deadlines together */
    const int  *after;           /* numbers of the items it waits for: arrows */
    int         after_count;
} MerViewItem;
typedef struct MerViewTimeline {
    const char        *unit; /* of the time */
    const char *const *lanes;
    int                lane_count;
    const MerViewItem *items;
    int                item_count;
    const char        *amount_unit; /* NULL: items have no amount */
    /* what things are called, in the singular; NULL: item, group, kind, set, stalled */
    const char         *item_name, *group_name, *kind_name, *set_name, *stall_name;
    const MerViewAreas *below; /* on the same axis */
    int                 below_count;
} MerViewTimeline;
void mer_view_timeline(MerNotes *notes, const MerView *view, const MerViewTimeline *timeline);

typedef struct MerViewNode {
    const char *name;
    const char *group;  /* its colour */
    const char *parent; /* the block it is in: large graphs are drawn as blocks first */
    double      value;
    bool        is_marked; /* outlined: a critical path, a choice */
    /* that it is a part of, counted from 1: a click chooses it, and its metrics colour the node; 0: none */
    int                task;
    const MerViewCell *cells; /* by column; NULL: nothing to say */
} MerViewNode;
typedef struct MerViewGraph {
    const char        *unit;       /* of the values; NULL: nodes have none */
    const char        *value_name; /* NULL: value */
    const char        *group_name; /* NULL: group */
    const char *const *groups;     /* in the order of their colours; NULL: as they first occur */
    int                group_count;
    const MerViewNode *nodes;
    int                node_count;
    const int         *edges; /* (edges, 2): from, to */
    int                edge_count;
    /* what else the reader can colour the nodes by: texts, or numbers where there is a unit */
    const MerViewColumn *columns;
    int                  column_count;
} MerViewGraph;
void mer_view_graph(MerNotes *notes, const MerView *view, const MerViewGraph *graph);

typedef struct MerViewAxis {
    const char *name, *unit;
    int         better; /* -1 smaller, +1 larger; 0: neither, and there is no front over it */
    bool        is_log;
} MerViewAxis;
typedef struct MerViewPoint {
    const char   *name, *group;
    const double *values;    /* by axis */
    double        spread;    /* plus and minus, along the second axis */
    bool          is_marked; /* keeps its colour and its name where another point beats it */
} MerViewPoint;
typedef struct MerViewLine {
    const char   *name;
    const double *points; /* (points, 2), over the first two axes */
    int           point_count;
} MerViewLine;
typedef struct MerViewScatter { /* more than two axes: the reader chooses two */
    const MerViewAxis  *axes;
    int                 axis_count;
    const MerViewPoint *points;
    int                 point_count;
    const MerViewLine  *lines; /* roofs, bounds, curves */
    int                 line_count;
} MerViewScatter;
void mer_view_scatter(MerNotes *notes, const MerView *view, const MerViewScatter *scatter);

typedef struct MerViewHeatmap {
    const char        *unit;
    const char *const *rows;
    int                row_count;
    const char *const *columns; /* NULL: as the rows */
    int                column_count;
    const double      *values; /* (rows, columns), written with five digits */
} MerViewHeatmap;
void mer_view_heatmap(MerNotes *notes, const MerView *view, const MerViewHeatmap *heatmap);

typedef struct MerViewMerge { /* leaves are 0 .. n-1, merge k makes node n + k */
    int    a, b;
    double height;
} MerViewMerge;
typedef struct MerViewClusters { /* a panel of kind `tree`: who goes together, and how well */
    const char         *leaf_name, *group_name, *height_name; /* NULL: leaf, group, height */
    const char *const  *leaves;
    int                 leaf_count;
    const int          *groups; /* of each leaf, from 0 */
    const MerViewMerge *merges; /* leaf_count - 1; NULL: groups only */
    double              cut;    /* height at which the tree falls into the groups */
    const double       *matrix; /* (leaves, leaves), drawn in the tree's order; NULL: none */
} MerViewClusters;
void mer_view_clusters(MerNotes *notes, const MerView *view, const MerViewClusters *clusters);

typedef struct MerViewBranch {
    const char *name;
    int         parent; /* an earlier one; -1: a root */
    double      value;
} MerViewBranch;
/* A hierarchy, also of kind `tree`; `unit` NULL: no values. */
void mer_view_tree(MerNotes *notes, const MerView *view, const char *unit,
                   const MerViewBranch *branches, int count);

typedef struct MerViewTag { /* a small label; `is_off`: crossed out */
    const char *text, *help;
    bool        is_off;
} MerViewTag;
typedef struct MerViewBlock {
    const char       *title; /* NULL: lines without a box */
    int               depth; /* a block lies inside the nearest one before it that is less deep */
    const char       *note;  /* at the right of the title */
    const MerViewTag *tags;
    int               tag_count;
    const char       *text; /* lines of code */
} MerViewBlock;
/* `keywords`: words to set apart, separated by spaces; NULL: none. A view with the id `plan` is shown
 * in place of the plan's own text. */
void mer_view_text(MerNotes *notes, const MerView *view, const MerViewBlock *blocks, int count,
                   const char *keywords);

#endif
