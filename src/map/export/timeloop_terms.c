/* Reading the terms that Timeloop's mappings and constraints share. */
#include "map/export/timeloop_terms.h"

#include "mercator/option.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static bool is_product_of_timeloop(const MerOp *op)
{
    bool is_product = op && (op->kind == MER_OP_GEMM || op->kind == MER_OP_BATCHED_GEMM);
    return is_product && op->source && strcmp(op->source, "problem") == 0;
}

int mer_timeloop_dim(char letter, const MerOp *op)
{
    const char *theirs = is_product_of_timeloop(op) ? "MNKB" : "MPQ";
    const char *ours = is_product_of_timeloop(op) ? "YKCG" : "KYX";
    const char *alias = letter ? strchr(theirs, letter) : NULL;
    char        known = alias ? ours[alias - theirs] : letter;
    const char *found = known ? strchr(MER_DIM_LETTERS, known) : NULL;
    return found ? (int)(found - MER_DIM_LETTERS) : -1;
}

static const char spaces[] = " \t\n\v\f\r";

static bool is_gap(char c)
{
    return isspace((unsigned char)c) || c == ',' || c == ';';
}

/* "=", "<=", "<" or nothing between the letter and the number; false for anything else. */
static bool read_relation(const char **at, bool *is_limit, int *less)
{
    *at += strspn(*at, spaces);
    *is_limit = **at == '<';
    *less = *is_limit && (*at)[1] != '=';
    if (**at == '<' || **at == '=') {
        *at += (*at)[1] == '=' ? 2 : 1;
    }
    *at += strspn(*at, spaces);
    return isdigit((unsigned char)**at);
}

static bool read_factor(const char **at, const MerOp *op, MerTimeloopFactors *factors)
{
    bool  is_limit;
    int   less;
    char *end;
    int   dim = mer_timeloop_dim(**at, op);
    ++*at;
    if (dim < 0 || !read_relation(at, &is_limit, &less)) {
        return false;
    }
    long value = strtol(*at, &end, 10) - less;
    *at = end;
    if (value < (is_limit ? 1 : 0) || value > INT_MAX || (*end && !is_gap(*end)) ||
        (is_limit ? factors->most[dim] != 0 : factors->exact[dim] >= 0)) {
        return false;
    }
    *(is_limit ? &factors->most[dim] : &factors->exact[dim]) = (int)value;
    return true;
}

/* One text or a list of them; nothing is an empty list. */
static int count_texts(const MerYaml *node)
{
    return !node || mer_yaml_is_null(node) ? 0 : node->kind == MER_YAML_LIST ? node->count : 1;
}

static const MerYaml *text_at(const MerYaml *node, int i)
{
    return node->kind == MER_YAML_LIST ? node->items[i] : node;
}

static MerStatus read_factor_text(const MerYaml *node, const MerOp *op, MerTimeloopFactors *factors,
                                  MerError *error)
{
    const char *text;
    MER_TRY(mer_yaml_text(node, &text, error));
    for (const char *at = text; *at;) {
        if (is_gap(*at)) {
            at++;
        } else if (!read_factor(&at, op, factors)) {
            return mer_yaml_expected(
                node, error, "factors such as \"C=1 M=4\" or \"K<=16\", each dimension once");
        }
    }
    return MER_OK;
}

bool mer_timeloop_names(const MerTimeloopOrder *order, int dim)
{
    for (int i = 0; i < order->count; i++) {
        if (order->dims[i] == dim) {
            return true;
        }
    }
    return false;
}

static MerStatus read_order_text(const MerYaml *node, const MerOp *op, MerTimeloopOrder *order,
                                 MerError *error)
{
    const char *text;
    MER_TRY(mer_yaml_text(node, &text, error));
    for (const char *at = text; *at; at++) {
        if (is_gap(*at)) {
            continue;
        }
        int dim = mer_timeloop_dim(*at, op);
        if (dim < 0 || mer_timeloop_names(order, dim)) {
            return mer_yaml_expected(node, error,
                                     "dimensions such as CMQPRSN, innermost first, each once");
        }
        order->dims[order->count++] = dim;
    }
    return MER_OK;
}

MerStatus mer_timeloop_loops(MerYaml *entry, const MerOp *op, MerTimeloopFactors *factors,
                             MerTimeloopOrder *order, MerError *error)
{
    const MerYaml *node = mer_yaml_get(entry, "factors");
    *order = (MerTimeloopOrder){0};
    *factors = (MerTimeloopFactors){0};
    memset(factors->exact, -1, sizeof factors->exact);
    for (int i = 0; i < count_texts(node); i++) {
        MER_TRY(read_factor_text(text_at(node, i), op, factors, error));
    }
    node = mer_yaml_get(entry, "permutation");
    for (int i = 0; i < count_texts(node); i++) {
        MER_TRY(read_order_text(text_at(node, i), op, order, error));
    }
    return MER_OK;
}

MerStatus mer_timeloop_target(MerYaml *entry, const MerPlatform *platform, int *level,
                              MerError *error)
{
    enum { MOST = 64 };
    const char *names[MOST], *name;
    MerYaml    *node;
    MER_TRY(mer_yaml_check_kind(entry, MER_YAML_MAP, error));
    MER_TRY(mer_yaml_need(entry, "target", &node, error));
    MER_TRY(mer_yaml_text(node, &name, error));
    int count = platform->memory_count < MOST ? platform->memory_count : MOST;
    for (int m = 0; m < count; m++) {
        names[m] = platform->memories[m].name;
        if (mer_name_equal(names[m], name)) {
            *level = platform->memory_count - 1 - m;
            return MER_OK;
        }
    }
    const char *near = mer_name_nearest(name, names, count);
    return mer_yaml_expected(node, error, "a memory of %s%s%s", platform->name,
                             near ? ", did you mean " : "", near ? near : "");
}
