/* The best configurations at given prices: jobs are taken one after the other, each on a free unit of some class
 * or not at all, and of equally many busy units only those states stay that no other beats in need and worth.
 *
 * What a state may still gain is bounded from above: with a mixture of two lower bounds on the cost, jobs and
 * units become an assignment, of which any unit prices give a bound. States that cannot come above the
 * best configuration found are left out. If there are too many, so are those below a threshold, which is the
 * answer if nothing above it is found. */
#include "schedule/bound/configuration_program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MIXTURES = 6, MOST_CLASSES = 12, MOST_PLACES = 4096, MOST_STATES = 40000 };
enum { MOST_STEPS = 400000, FEW_STEPS = 100000 }; /* of a walk, and of one that found something */

typedef struct ConfigurationState {
    double  need, value;
    int     parent; /* -1: nothing runs */
    int16_t row, class;
} State;

typedef struct ConfigurationKey {
    double key;
    int    row;
} RowKey;

static const double coarse = 1e-3; /* worth that shows prices to be far from right */

/* Two lower bounds on the cost of a configuration beyond its least: slope * (need - 1), and slope times the sum
 * of what the needs of single jobs are above 1. Both are sums over its jobs, and so are mixtures of the two. */
static const double part[MIXTURES] = {0, 0.2, 0.4, 0.6, 0.8, 1}; /* of the first */

static double mixed_cost(double slope, int mixture, double need)
{
    double above = need > 1 ? need - 1 : 0;
    return slope * (part[mixture] * need + (1 - part[mixture]) * above);
}

static int units_of(const Relaxation *relaxation, const ConfigurationPhase *phase)
{
    int units = 0;
    for (int c = 0; c < phase->classes; c++) {
        units += relaxation->units[phase->first_class + c];
    }
    return units;
}

static int copies(const Relaxation *relaxation, int row, int units)
{
    return relaxation->count[row] < units ? relaxation->count[row] : units;
}

static double places_of(const Relaxation *relaxation, const ConfigurationPhase *phase)
{
    double places = 1;
    for (int c = 0; c < phase->classes; c++) {
        places *= relaxation->units[phase->first_class + c] + 1;
    }
    return places;
}

bool mer_configurations_fit(const Relaxation *relaxation, const ConfigurationPhase *phase)
{
    return phase->classes <= MOST_CLASSES && units_of(relaxation, phase) <= CONFIGURATION_JOBS &&
           places_of(relaxation, phase) <= MOST_PLACES;
}

static bool is_complete(const ConfigurationPhase *phase, const int *used)
{
    for (int c = 0; c < phase->classes && phase->busy; c++) {
        if (used[c] < phase->busy[c]) {
            return false;
        }
    }
    return true;
}

void mer_configurations_enter(ConfigurationPricer *pricer, const ConfigurationPhase *phase)
{
    int        classes = pricer->classes = phase->classes;
    const int *units = pricer->units = pricer->relaxation->units + phase->first_class;
    pricer->phase = phase;
    pricer->places = 1;
    for (int c = 0; c < classes; c++) {
        pricer->stride[c] = pricer->places;
        pricer->places *= units[c] + 1;
    }
    for (int place = 0; place < pricer->places; place++) {
        int *used = pricer->used + (size_t)place * (size_t)classes;
        for (int c = 0; c < classes; c++) {
            used[c] = place / pricer->stride[c] % (units[c] + 1);
        }
        pricer->is_complete[place] = is_complete(phase, used);
    }
}

void mer_configurations_begin(ConfigurationPricer *pricer, const Relaxation *relaxation,
                              const ConfigurationPhase *widest)
{
    MerArena *arena = relaxation->arena;
    int       classes = widest->classes;
    int       places = (int)fmin(MOST_PLACES, places_of(relaxation, widest));
    int       units = units_of(relaxation, widest);
    int       items = 0;
    for (int r = 0; r < relaxation->rows; r++) {
        items += copies(relaxation, r, units);
    }
    *pricer = (ConfigurationPricer){.relaxation = relaxation};
    pricer->stride = MER_ARRAY(arena, int, classes);
    pricer->used = MER_ARRAY(arena, int, places *classes);
    pricer->is_complete = MER_ARRAY(arena, bool, places);
    pricer->keys = MER_ARRAY(arena, RowKey, relaxation->rows);
    pricer->item_row = MER_ARRAY(arena, int, items);
    pricer->item_value = MER_ARRAY(arena, double, items *classes);
    pricer->item_need = MER_ARRAY(arena, double, items *classes);
    pricer->gain = MER_ARRAY(arena, double, items *classes);
    pricer->unit_price = MER_ARRAY(arena, double, MIXTURES *classes);
    pricer->rest = MER_ARRAY(arena, double, MIXTURES *(items + 1));
    pricer->rest_units = MER_ARRAY(arena, double, MIXTURES *places);
    pricer->states = MER_ARRAY(arena, State, MOST_STATES);
    pricer->now = MER_ARRAY(arena, int, MOST_STATES);
    pricer->next = MER_ARRAY(arena, int, MOST_STATES);
    pricer->now_start = MER_ARRAY(arena, int, places + 1);
    pricer->next_start = MER_ARRAY(arena, int, places + 1);
}

static int by_key(const void *a, const void *b)
{
    const RowKey *x = a;
    const RowKey *y = b;
    return x->key != y->key ? (x->key < y->key) - (x->key > y->key) : x->row - y->row;
}

/* The promising first. */
static void list_items(ConfigurationPricer *pricer, const double *value, ConfigurationCost cost)
{
    const Relaxation *relaxation = pricer->relaxation;
    const double     *need = relaxation->need;
    int               classes = pricer->classes;
    int               units = units_of(relaxation, pricer->phase);
    RowKey           *keys = pricer->keys;
    int               used = 0;
    for (int r = 0; r < relaxation->rows; r++) {
        double key = -INFINITY;
        int    first = r * relaxation->classes + pricer->phase->first_class;
        for (int at = first; at < first + classes; at++) {
            double gain = value[at] - mixed_cost(cost.slope, 3, need[at]);
            key = value[at] > 0 ? fmax(key, gain) : key;
        }
        keys[used] = (RowKey){key, r};
        used += !isinf(key);
    }
    qsort(keys, (size_t)used, sizeof *keys, by_key);
    pricer->items = 0;
    for (int i = 0; i < used; i++) {
        int from = keys[i].row * relaxation->classes + pricer->phase->first_class;
        for (int copy = copies(relaxation, keys[i].row, units); copy > 0; copy--) {
            size_t to = (size_t)pricer->items * (size_t)classes;
            pricer->item_row[pricer->items++] = keys[i].row;
            memcpy(pricer->item_value + to, value + from, (size_t)classes * sizeof *value);
            memcpy(pricer->item_need + to, need + from, (size_t)classes * sizeof *value);
        }
    }
}

/* What each item gains on each class before the unit's price; none where it must not run. */
static void fill_gains(ConfigurationPricer *pricer, double slope, int mixture)
{
    for (int at = 0; at < pricer->items * pricer->classes; at++) {
        double value = pricer->item_value[at];
        pricer->gain[at] =
            value > 0 ? value - mixed_cost(slope, mixture, pricer->item_need[at]) : -INFINITY;
    }
}

/* What the item gains beyond the unit's price where that is most, on another class than `except`. */
static double most_gain(const ConfigurationPricer *pricer, int item, const double *unit_price,
                        int except)
{
    const double *gain = pricer->gain + (size_t)item * (size_t)pricer->classes;
    double        most = 0;
    for (int c = 0; c < pricer->classes; c++) {
        double beyond = gain[c] - unit_price[c];
        most = c != except && beyond > most ? beyond : most;
    }
    return most;
}

/* A unit is worth what the next item would gain on it that finds none free; `half` way there, so that classes do
 * not push each other away. */
static double price_unit(const ConfigurationPricer *pricer, const double *unit_price, int class,
                         bool half)
{
    double top[CONFIGURATION_JOBS + 1];
    int    units = pricer->units[class];
    memset(top, 0, (size_t)(units + 1) * sizeof *top);
    for (int i = 0; i < pricer->items; i++) {
        double gain = pricer->gain[i * pricer->classes + class];
        if (gain <= top[units]) { /* less than before cannot be more */
            continue;
        }
        gain -= most_gain(pricer, i, unit_price, class);
        int place = units;
        for (; place > 0 && gain > top[place - 1]; place--) {
            top[place] = top[place - 1];
        }
        top[place] = place < units || gain > top[place] ? gain : top[place];
    }
    return half ? (top[units] + top[units - 1]) / 2 : top[units];
}

static void bound_rest(ConfigurationPricer *pricer, ConfigurationCost cost)
{
    enum { SWEEPS = 4 };
    int classes = pricer->classes;
    for (int m = 0; m < MIXTURES; m++) {
        double *unit_price = pricer->unit_price + (size_t)m * (size_t)classes;
        double *rest = pricer->rest + (size_t)m * (size_t)(pricer->items + 1);
        double *rest_units = pricer->rest_units + (size_t)m * (size_t)pricer->places;
        fill_gains(pricer, cost.slope, m);
        memset(unit_price, 0, (size_t)classes * sizeof *unit_price);
        for (int step = 0; step < SWEEPS * classes; step++) {
            int  c = step % classes;
            bool half = classes > 1 && step < (SWEEPS - 1) * classes;
            unit_price[c] = price_unit(pricer, unit_price, c, half);
        }
        rest[pricer->items] = 0;
        for (int i = pricer->items - 1; i >= 0; i--) {
            rest[i] = rest[i + 1] + most_gain(pricer, i, unit_price, -1);
        }
        for (int place = 0; place < pricer->places; place++) {
            rest_units[place] = part[m] * cost.slope - cost.least;
            for (int c = 0; c < classes; c++) {
                int free = pricer->units[c] - pricer->used[place * classes + c];
                rest_units[place] += free * unit_price[c];
            }
        }
    }
    pricer->work += (int64_t)pricer->items * classes * MIXTURES;
}

static void keep(ConfigurationPricer *pricer, int state)
{
    if (pricer->kept == CONFIGURATIONS_KEPT) {
        memmove(pricer->best, pricer->best + 1, sizeof pricer->best - sizeof *pricer->best);
        pricer->kept--;
    }
    Configuration *configuration = &pricer->best[pricer->kept++];
    configuration->jobs = 0;
    configuration->need = pricer->states[state].need;
    for (; pricer->states[state].parent >= 0; state = pricer->states[state].parent) {
        int class = pricer->phase->first_class + pricer->states[state].class;
        configuration->row[configuration->jobs] = pricer->states[state].row;
        configuration->class[configuration->jobs++] = (int16_t) class;
    }
}

typedef struct Sources { /* lists of states that come to a place, each by the same step */
    int count;
    int class[MOST_CLASSES + 1]; /* that takes the item; -1: none */
    int at[MOST_CLASSES + 1], end[MOST_CLASSES + 1];
} Sources;

static void find_sources(const ConfigurationPricer *pricer, int item, int place, Sources *sources)
{
    int classes = pricer->classes;
    sources->count = 0;
    for (int c = -1; c < classes; c++) {
        bool is_possible = c < 0 || (pricer->item_value[item * classes + c] > 0 &&
                                     pricer->used[place * classes + c] > 0);
        int  from = is_possible && c >= 0 ? place - pricer->stride[c] : place;
        if (is_possible && pricer->now_start[from] < pricer->now_start[from + 1]) {
            sources->class[sources->count] = c;
            sources->at[sources->count] = pricer->now_start[from];
            sources->end[sources->count++] = pricer->now_start[from + 1];
        }
    }
}

/* The state with the least need, and of these the most value; false if there are none left. */
static bool take_state(const ConfigurationPricer *pricer, int item, Sources *sources, State *taken,
                       int *number)
{
    int chosen = -1;
    for (int s = 0; s < sources->count; s++) {
        if (sources->at[s] == sources->end[s]) {
            continue;
        }
        int          c = sources->class[s];
        int          at = item * pricer->classes + c;
        const State *state = &pricer->states[pricer->now[sources->at[s]]];
        double       need = state->need + (c < 0 ? 0 : pricer->item_need[at]);
        double       value = state->value + (c < 0 ? 0 : pricer->item_value[at]);
        if (chosen < 0 || need < taken->need || (need == taken->need && value > taken->value)) {
            chosen = s;
            *taken = (State){need, value, 0, (int16_t)pricer->item_row[item], (int16_t)c};
        }
    }
    if (chosen >= 0) {
        *number = pricer->now[sources->at[chosen]++];
        taken->parent = *number;
    }
    return chosen >= 0;
}

/* The states of a place after an item; false if there are too many. `best` is the most worth found. */
static bool fill_place(ConfigurationPricer *pricer, ConfigurationCost cost, int item, int place,
                       int *filled, double *best)
{
    Sources sources;
    State   state;
    int     number;
    double  last = -INFINITY;
    double  rest[MIXTURES];
    find_sources(pricer, item, place, &sources);
    for (int m = 0; m < MIXTURES && sources.count > 0; m++) {
        rest[m] = pricer->rest[m * (pricer->items + 1) + item + 1] +
                  pricer->rest_units[m * pricer->places + place];
    }
    while (take_state(pricer, item, &sources, &state, &number)) {
        double most = INFINITY;
        for (int m = 0; m < MIXTURES; m++) {
            most = fmin(most, state.value - mixed_cost(cost.slope, m, state.need) + rest[m]);
        }
        double worth = state.value - mer_configuration_cost(cost, state.need);
        pricer->work++;
        if (worth <= last || most <= *best) { /* with less need the last one never costs more */
            continue;
        }
        last = worth;
        if (state.class >= 0) {
            if (pricer->state_count == MOST_STATES) {
                return false;
            }
            number = pricer->state_count++;
            pricer->states[number] = state;
            if (worth > *best && pricer->is_complete[place]) {
                *best = worth;
                keep(pricer, number);
            }
        }
        pricer->next[(*filled)++] = number;
    }
    return true;
}

/* All configurations that are worth more than `best`, but for what others beat. */
static bool walk(ConfigurationPricer *pricer, double phase_value, ConfigurationCost cost,
                 double *best)
{
    double need = pricer->phase->need;
    double worth = phase_value - mer_configuration_cost(cost, need);
    pricer->states[0] = (State){need, phase_value, -1, -1, -1};
    if (worth > *best && pricer->is_complete[0]) {
        *best = worth;
        keep(pricer, 0);
    }
    pricer->state_count = 1;
    pricer->now[0] = 0;
    for (int place = 0; place <= pricer->places; place++) {
        pricer->now_start[place] = place > 0;
    }
    int64_t begin = pricer->work;
    for (int i = 0; i < pricer->items; i++) {
        int filled = 0;
        for (int place = 0; place < pricer->places; place++) {
            pricer->next_start[place] = filled;
            bool is_long = pricer->work - begin > (*best > coarse ? FEW_STEPS : MOST_STEPS);
            if (is_long || !fill_place(pricer, cost, i, place, &filled, best)) {
                return false;
            }
        }
        pricer->next_start[pricer->places] = filled;
        int *ids = pricer->now, *starts = pricer->now_start;
        pricer->now = pricer->next;
        pricer->now_start = pricer->next_start;
        pricer->next = ids;
        pricer->next_start = starts;
        pricer->work += pricer->places / 4;
    }
    return true;
}

/* What no configuration can be worth, before any is looked at. */
static double most_worth(const ConfigurationPricer *pricer, double phase_value,
                         ConfigurationCost cost)
{
    double most = INFINITY;
    for (int m = 0; m < MIXTURES; m++) {
        double rest =
            pricer->rest[m * (pricer->items + 1)] + pricer->rest_units[m * pricer->places];
        most = fmin(most, phase_value - mixed_cost(cost.slope, m, pricer->phase->need) + rest);
    }
    return most;
}

double mer_configurations_price(ConfigurationPricer *pricer, const double *value,
                                double phase_value, ConfigurationCost cost)
{
    const double rounded = 1e-13;
    double       best = rounded;
    list_items(pricer, value, cost);
    bound_rest(pricer, cost);
    pricer->kept = 0;
    if (walk(pricer, phase_value, cost, &best)) {
        return best;
    }
    double most = fmax(rounded, most_worth(pricer, phase_value, cost));
    if (best < coarse) { /* prices are nearly right: a better answer is worth another walk */
        best = (best + most) / 2;
        return walk(pricer, phase_value, cost, &best) ? best : most;
    }
    return most;
}
