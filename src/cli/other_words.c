/* Words of other tools: what a newcomer types for a verb or an option, and what it is called here. */
#include "cli/cli.h"

#include "mercator/option.h"

#include <string.h>

typedef struct OtherWord {
    const char *words; /* separated by blanks */
    const char *ours;
} OtherWord;

/* clang-format off */
static const OtherWord options[] = {
    {"model network workload input onnx file", "the name without a flag: mercator VERB FILE"},
    {"hw arch architecture accelerator hardware target machine device devices gpu gpus config", "--platform NAME|FILE"},
    {"metric metrics objectives minimize minimise goal cost", "--objective NAME; --pareto A,B for trade-offs"},
    {"front pareto-front multi-objective tradeoff", "--pareto A,B"},
    {"algorithm algo method solver search strategy opt", "--optimizer NAME"},
    {"cost-model simulator sim command estimator model-cost", "--evaluator NAME; a program of yours: --evaluator 'command:LINE'"},
    {"out out-dir output-dir outdir dir directory folder results-dir", "-o DIR"},
    {"csv results xlsx excel spreadsheet table-csv", "mercator report DIR --results FILE.csv, afterwards"},
    {"html report page", "-o DIR: report.html stands there"},
    {"layer layers only include op operator", "--select 1,3-5, or a layer's name"},
    {"iterations iters steps trials samples evaluations evals max-evals generations n-trials", "--budget N"},
    {"timeout max-time time-limit seconds duration", "--time S, per task; --total-time S"},
    {"workers processes nthreads num-threads parallel", "--threads N"},
    {"random-seed rng", "--seed N"},
    {"batch-size minibatch images batchsize", "--dim NAME=SIZE for an open size of the network, such as --dim batch=4"},
    {"shape input-shape shapes size", "--dim NAME=SIZE"},
    {"format output-format", "--json, or --export NAME (mercator list exporters)"},
    {"verbose debug silent", "run.jsonl of the run directory: every trial stands there"},
    {"continue restart", "--resume DIR"},
    {"overwrite clobber replace", "--force"},
    {"knobs space", "--list-knobs"},
    {"constraint fixed freeze", "--fix NAME=VALUE; --list-knobs names them"},
    {0},
};
static const OtherWord verbs[] = {
    {"sweep explore dse", "PROBLEM NETWORK --sweep memories.GLB.words=16Ki..512Ki:x2"},
    {"tune autotune", "PROBLEM NETWORK --tune OPTIMIZER for an optimizer, a platform of kind native for kernels of this processor"},
    {"run search optimize optimise compile solve", "a PROBLEM (mercator list problems)"},
    {"export convert write", "PROBLEM NETWORK --export NAME (mercator list exporters)"},
    {"simulate price cost predict estimate eval", "evaluate PLAN"},
    {"show info describe print view stat stats layers", "inspect MODEL|PLATFORM|FILE"},
    {"csv table excel plot html", "report RUN... --results FILE.csv"},
    {"models platforms optimizers solvers evaluators exporters formats metrics problems", "list KIND"},
    {"train", "PROBLEM NETWORK... --train"},
    {"resume", "PROBLEM --resume DIR"},
    {"version", "--version"},
    {0},
};
/* clang-format on */

static bool has_word(const char *words, const char *word)
{
    char   one[32];
    size_t length;
    for (; *words; words += length + (words[length] == ' ')) {
        length = strcspn(words, " ");
        if (length < sizeof one) {
            memcpy(one, words, length);
            one[length] = '\0';
            if (mer_name_equal(one, word)) {
                return true;
            }
        }
    }
    return false;
}

static const char *find(const OtherWord *table, const char *word)
{
    while (table->words && !has_word(table->words, word)) {
        table++;
    }
    return table->ours;
}

const char *mer_cli_our_option(const char *word)
{
    return find(options, word);
}

const char *mer_cli_our_verb(const char *word)
{
    return find(verbs, word);
}
