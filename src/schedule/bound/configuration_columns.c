/* The program of configuration_program.c as CLP reads it. Times are in parts of the limit. */
#include "schedule/bound/configuration_columns.h"

#include "schedule/bound/clp_column.h"

/* Rows can be met at this price, more than a schedule pays. */
static const double artificial = 100;

int mer_columns_row(const Columns *columns, int row, int class)
{
    int link = columns->link[row * columns->relaxation->classes + class];
    return link < 0 ? row : link;
}

static void add_entry(Clp_Simplex *model, int row, double value, double cost)
{
    mer_clp_add_column(model, 0, cost, 1, &row, &value);
}

Clp_Simplex *mer_columns_new_model(const Columns *columns)
{
    const Relaxation *relaxation = columns->relaxation;
    Clp_Simplex      *model = Clp_newModel();
    double           *lower = columns->row_lower;
    double           *upper = columns->row_upper;
    for (int r = 0; r < columns->rows; r++) {
        lower[r] = r < relaxation->rows ? relaxation->count[r] : 0;
        upper[r] = INFINITY;
    }
    for (int c = 0; c < relaxation->classes; c++) {
        lower[columns->class_row + c] = -relaxation->units[c];
    }
    lower[columns->time_row] = columns->is_excess ? -1 : -INFINITY;
    for (int i = 0; i < columns->span_count; i++) {
        lower[columns->span_row + i] = columns->span[i] / columns->limit;
        upper[columns->span_row + i] =
            columns->is_least[i] ? INFINITY : lower[columns->span_row + i];
    }
    Clp_setLogLevel(model, 0);
    Clp_setDualTolerance(model, 1e-11);
    Clp_setPrimalTolerance(model, 1e-10);
    Clp_resize(model, columns->rows, 0);
    Clp_chgRowLower(model, lower);
    Clp_chgRowUpper(model, upper);
    for (int r = 0; r < relaxation->rows; r++) {
        add_entry(model, r, 1, artificial);
    }
    add_entry(model, columns->time_row, 1, artificial);
    for (int i = 0; i < columns->span_count; i++) {
        add_entry(model, columns->span_row + i, 1, artificial);
        add_entry(model, columns->span_row + i, -1, artificial);
    }
    return model;
}

ConfigurationCost mer_columns_cost(const Columns *columns, double time_price)
{
    return columns->is_excess ? (ConfigurationCost){time_price, 1 + time_price}
                              : (ConfigurationCost){1, 1};
}

static void add_configuration(Clp_Simplex *model, const Columns *columns,
                              const Configuration *configuration)
{
    enum { ENTRIES = 2 * CONFIGURATION_JOBS + CONFIGURATION_SPANS + 1 };
    const Relaxation         *relaxation = columns->relaxation;
    const ConfigurationPhase *phase = &columns->phase[configuration->phase];
    int                       rows[ENTRIES];
    double                    values[ENTRIES];
    int                       count = 0;
    for (int i = 0; i < configuration->jobs; i++) {
        int row = mer_columns_row(columns, configuration->row[i], configuration->class[i]);
        int at = configuration->row[i] * relaxation->classes + configuration->class[i];
        int place = 0;
        while (place < count && rows[place] != row) {
            place++;
        }
        if (!columns->is_allowed[at]) {
            return;
        }
        values[place] = place < count ? values[place] : 0;
        values[place] += columns->limit / relaxation->load[at];
        rows[place] = row;
        count += place == count;
    }
    for (int i = 0; i < phase->runs; i++) {
        rows[count] = phase->run_row[i];
        values[count++] = columns->limit / phase->run_load[i];
    }
    for (int i = 0; i < columns->span_count; i++) {
        rows[count] = columns->span_row + i;
        values[count] = 1;
        count += phase->spans >> i & 1;
    }
    rows[count] = columns->time_row;
    values[count++] = -fmax(1, configuration->need);
    double cost = mer_configuration_cost(mer_columns_cost(columns, 0), configuration->need);
    mer_clp_add_column(model, 0, cost, count, rows, values);
}

static void add_queue(Clp_Simplex *model, const Columns *columns, const CoreQueue *queue)
{
    int    rows[2 * CORE_JOBS + 1];
    double values[2 * CORE_JOBS + 1];
    int    count = 0;
    for (int i = 0; i < queue->jobs; i++) {
        int link = columns->link[queue->row[i] * columns->relaxation->classes + queue->class];
        if (link < 0) {
            return;
        }
        if (count > 0 && rows[count - 1] == link) { /* jobs of a row follow each other */
            values[count - 2] += 1;
            values[count - 1] -= 1;
            continue;
        }
        rows[count] = queue->row[i];
        values[count++] = 1;
        rows[count] = link;
        values[count++] = -1;
    }
    rows[count] = columns->class_row + queue->class;
    values[count++] = -1;
    mer_clp_add_column(model, 0, 0, count, rows, values);
}

void mer_columns_load(Clp_Simplex *model, Columns *columns)
{
    for (; columns->loaded < columns->configurations; columns->loaded++) {
        add_configuration(model, columns, &columns->configuration[columns->loaded]);
    }
    for (; columns->loaded_queues < columns->queues; columns->loaded_queues++) {
        const CoreQueue *queue = &columns->queue[columns->loaded_queues];
        if (queue->cycles <= columns->core_limit) {
            add_queue(model, columns, queue);
        }
    }
}
