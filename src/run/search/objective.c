/* Objectives: a small recursive-descent parser into postfix terms, and their evaluation. */
#include "run/search/objective.h"

#include "mercator/option.h"
#include "mercator/run.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_TERMS = 64, MAX_DEPTH = 20 };

typedef struct MerTerm {
    char   kind; /* 'm' metric, 'n' number, or + * / ^ */
    int    metric;
    double number;
} Term;

typedef struct Parser {
    const char *text, *at;
    Term       *terms;
    int         count, depth;
    MerError   *error;
} Parser;

static MerStatus fail(Parser *p, const char *expected)
{
    return mer_error_set(p->error, MER_INVALID,
                         "objective \"%s\": found \"%s\" at position %d, expected %s", p->text,
                         *p->at ? p->at : "the end", (int)(p->at - p->text) + 1, expected);
}

static MerStatus push(Parser *p, Term term)
{
    if (p->count == MAX_TERMS) {
        return fail(p, "fewer terms");
    }
    p->terms[p->count++] = term;
    return MER_OK;
}

static void skip_spaces(Parser *p)
{
    p->at += strspn(p->at, " \t");
}

static MerStatus unknown_metric(Parser *p, const char *name)
{
    const char *names[MER_METRIC_COUNT];
    for (int m = 0; m < MER_METRIC_COUNT; m++) {
        names[m] = mer_metric_info((MerMetric)m)->name;
    }
    char plain[32] = "";
    for (size_t i = 0; name[i] && i + 1 < sizeof plain; i++) {
        plain[i] = (char)tolower((unsigned char)name[i]);
    }
    const char *nearest = mer_name_nearest(plain, names, MER_METRIC_COUNT);
    return mer_error_set(p->error, MER_INVALID, "objective \"%s\": unknown metric \"%s\"%s%s",
                         p->text, name, nearest ? ", did you mean " : "",
                         nearest ? nearest : "; see mercator list metrics");
}

static MerStatus parse_sum(Parser *p);

static MerStatus parse_atom(Parser *p)
{
    skip_spaces(p);
    if (*p->at == '(') {
        if (++p->depth > MAX_DEPTH) {
            return fail(p, "fewer parentheses");
        }
        p->at++;
        MER_TRY(parse_sum(p));
        p->depth--;
        return *p->at++ == ')' ? MER_OK : (p->at--, fail(p, "\")\""));
    }
    if (isdigit((unsigned char)*p->at) || *p->at == '.') {
        char  *end;
        double number = strtod(p->at, &end);
        p->at = end;
        return push(p, (Term){'n', 0, number});
    }
    size_t length = 0;
    while (isalnum((unsigned char)p->at[length]) || p->at[length] == '_') {
        length++;
    }
    char name[32];
    if (length == 0 || length >= sizeof name) {
        return fail(p, "a metric or a number");
    }
    memcpy(name, p->at, length);
    name[length] = '\0';
    MerMetric metric = mer_metric_find(name);
    if (metric == MER_METRIC_COUNT) {
        return unknown_metric(p, name);
    }
    p->at += length;
    return push(p, (Term){'m', (int)metric, 0});
}

/* Exponents are numbers, possibly negative. */
static MerStatus parse_power(Parser *p)
{
    MER_TRY(parse_atom(p));
    skip_spaces(p);
    if (*p->at != '^') {
        return MER_OK;
    }
    p->at++;
    char  *end;
    double exponent = strtod(p->at, &end);
    if (end == p->at || !isfinite(exponent)) {
        return fail(p, "a number");
    }
    p->at = end;
    MER_TRY(push(p, (Term){'n', 0, exponent}));
    return push(p, (Term){'^', 0, 0});
}

static MerStatus parse_product(Parser *p)
{
    MER_TRY(parse_power(p));
    for (skip_spaces(p); *p->at == '*' || *p->at == '/'; skip_spaces(p)) {
        char kind = *p->at++;
        MER_TRY(parse_power(p));
        MER_TRY(push(p, (Term){kind, 0, 0}));
    }
    return MER_OK;
}

static MerStatus parse_sum(Parser *p)
{
    MER_TRY(parse_product(p));
    for (skip_spaces(p); *p->at == '+'; skip_spaces(p)) {
        p->at++;
        MER_TRY(parse_product(p));
        MER_TRY(push(p, (Term){'+', 0, 0}));
    }
    return MER_OK;
}

MerStatus mer_objective_parse(const char *text, MerObjective *objective, MerArena *arena,
                              MerError *error)
{
    bool   is_max = strncasecmp(text, "max:", 4) == 0;
    Parser parser = {.text = text, .at = text + (is_max ? 4 : 0), .error = error};
    parser.terms = MER_ARRAY(arena, Term, MAX_TERMS);
    MER_TRY(parse_sum(&parser));
    if (*parser.at) {
        return fail(&parser, *parser.at == ','
                                 ? "one metric or expression; --pareto takes several metrics"
                                 : "an operator + * / ^ or the end");
    }
    bool  is_metric = parser.count == 1 && parser.terms[0].kind == 'm';
    char *plain = mer_arena_text(arena, text); /* EDP and edp are one, in logs and folders, too */
    for (char *at = plain; *at; at++) {
        *at = (char)tolower((unsigned char)*at);
    }
    *objective = (MerObjective){
        .text = plain,
        .metric = is_metric && !is_max ? (MerMetric)parser.terms[0].metric : MER_METRIC_COUNT,
        .direction = is_max ? +1 : -1,
        .terms = parser.terms,
        .term_count = parser.count,
    };
    if (objective->metric != MER_METRIC_COUNT) {
        objective->direction = mer_metric_info(objective->metric)->direction;
    }
    return MER_OK;
}

double mer_objective_value(const MerObjective *objective, const double *metrics)
{
    double stack[MAX_TERMS];
    int    top = 0;
    for (int i = 0; i < objective->term_count; i++) {
        const Term *term = &objective->terms[i];
        if (term->kind == 'm' || term->kind == 'n') {
            stack[top++] = term->kind == 'm' ? metrics[term->metric] : term->number;
            continue;
        }
        double  right = stack[--top];
        double *left = &stack[top - 1];
        *left = term->kind == '+'   ? *left + right
                : term->kind == '*' ? *left * right
                : term->kind == '/' ? *left / right
                                    : pow(*left, right);
    }
    return stack[0];
}

double mer_objective_score(const MerObjective *objective, const MerCost *cost)
{
    if (!cost->feasible) {
        return INFINITY;
    }
    double value = mer_objective_value(objective, cost->value);
    return isnan(value) ? INFINITY : objective->direction > 0 ? -value : value;
}

void mer_objective_refuse(const MerObjective *objective, MerCost *cost)
{
    double value = cost->feasible ? mer_objective_value(objective, cost->value) : 0;
    if (isnan(value)) {
        mer_cost_refuse(cost, "unsupported: " MER_GIVES_NO "%s", objective->text);
    } else if (isinf(value)) {
        mer_cost_refuse(cost, "unsupported: %s is infinite, expected a finite number",
                        objective->text);
    }
}

double mer_objective_gap(const MerObjective *objective, double value, double bound)
{
    if (isnan(value) || isnan(bound)) {
        return NAN;
    }
    double upper = objective->direction > 0 ? bound : value;
    double lower = objective->direction > 0 ? value : bound;
    if (lower == 0) {
        return upper == 0 ? 0 : NAN;
    }
    return fmax(0, upper / lower - 1);
}

bool mer_objective_needs(const MerObjective *objective, uint64_t metrics, MerMetric *missing)
{
    for (int i = 0; i < objective->term_count; i++) {
        const Term *term = &objective->terms[i];
        if (term->kind == 'm' && !(metrics >> term->metric & 1)) {
            *missing = (MerMetric)term->metric;
            return false;
        }
    }
    return true;
}

uint64_t mer_objective_metrics(const MerObjective *objective)
{
    uint64_t bits = 0;
    for (int i = 0; i < objective->term_count; i++) {
        bits |= objective->terms[i].kind == 'm' ? UINT64_C(1) << objective->terms[i].metric : 0;
    }
    return bits;
}
