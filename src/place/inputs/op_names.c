/* One table of words for all profiles (op_names.h). */
#include "place/inputs/op_names.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { MAX_WORD = 64 };

typedef struct Clue {
    const char *word; /* small letters */
    MerOpKind   kind;
} Clue;

/* Each list is in order: the first that fits a word decides, so what is special stands before what it contains. */
/* clang-format off */
static const Clue whole_words[] = { /* digits at the end of the word do not count */
    {"add", MER_OP_ELEMENTWISE}, {"sub", MER_OP_ELEMENTWISE}, {"mul", MER_OP_ELEMENTWISE},
    {"div", MER_OP_ELEMENTWISE}, {"neg", MER_OP_ELEMENTWISE}, {"abs", MER_OP_ELEMENTWISE},
    {"exp", MER_OP_ELEMENTWISE}, {"log", MER_OP_ELEMENTWISE}, {"pow", MER_OP_ELEMENTWISE},
    {"erf", MER_OP_ELEMENTWISE}, {"sin", MER_OP_ELEMENTWISE}, {"cos", MER_OP_ELEMENTWISE},
    {"not", MER_OP_ELEMENTWISE}, {"min", MER_OP_ELEMENTWISE}, {"max", MER_OP_ELEMENTWISE},
    {"sum", MER_OP_ELEMENTWISE}, {"elu", MER_OP_ELEMENTWISE}, {"mean", MER_OP_REDUCE},
    {"fc", MER_OP_GEMM}, {"mm", MER_OP_GEMM}, {"dense", MER_OP_GEMM}, {"einsum", MER_OP_GEMM},
    {"bn", MER_OP_NORM}, {"lrn", MER_OP_NORM}, {"size", MER_OP_MOVE}, {"view", MER_OP_MOVE},
};
static const Clue word_parts[] = {
    {"random", MER_OP_ELEMENTWISE}, {"quantize", MER_OP_ELEMENTWISE}, {"nonlinear", MER_OP_ELEMENTWISE},
    {"qlinearadd", MER_OP_ELEMENTWISE}, {"qlinearmul", MER_OP_ELEMENTWISE},
    {"optimizer", MER_OP_ELEMENTWISE}, {"accumulate", MER_OP_ELEMENTWISE},
    {"resize", MER_OP_RESIZE}, {"upsampl", MER_OP_RESIZE}, {"interpolate", MER_OP_RESIZE},
    {"bilinear", MER_OP_RESIZE}, {"gridsample", MER_OP_RESIZE},
    {"convert", MER_OP_ELEMENTWISE}, {"depthwise", MER_OP_DEPTHWISE}, {"dwconv", MER_OP_DEPTHWISE},
    {"convtranspose", MER_OP_TRANSPOSED}, {"transposedconv", MER_OP_TRANSPOSED},
    {"deconv", MER_OP_TRANSPOSED}, {"conv", MER_OP_CONV},
    {"bmm", MER_OP_BATCHED_GEMM}, {"batchmatmul", MER_OP_BATCHED_GEMM},
    {"matmul", MER_OP_GEMM}, {"gemm", MER_OP_GEMM}, {"addmm", MER_OP_GEMM}, {"linear", MER_OP_GEMM},
    {"lstm", MER_OP_GEMM}, {"gru", MER_OP_GEMM}, {"rnn", MER_OP_GEMM}, {"attention", MER_OP_GEMM},
    {"classifier", MER_OP_GEMM}, {"innerproduct", MER_OP_GEMM}, {"fullyconnected", MER_OP_GEMM},
    {"pool", MER_OP_POOL}, {"norm", MER_OP_NORM},
    {"softmax", MER_OP_SOFTMAX}, {"crossentropy", MER_OP_SOFTMAX},
    {"argmax", MER_OP_REDUCE}, {"argmin", MER_OP_REDUCE}, {"reduce", MER_OP_REDUCE},
    {"topk", MER_OP_REDUCE}, {"cumsum", MER_OP_REDUCE},
    {"gather", MER_OP_GATHER}, {"scatter", MER_OP_GATHER}, {"embed", MER_OP_GATHER},
    {"lookup", MER_OP_GATHER}, {"onehot", MER_OP_GATHER},
    {"relu", MER_OP_ELEMENTWISE}, {"gelu", MER_OP_ELEMENTWISE}, {"selu", MER_OP_ELEMENTWISE},
    {"celu", MER_OP_ELEMENTWISE}, {"silu", MER_OP_ELEMENTWISE}, {"sigmoid", MER_OP_ELEMENTWISE},
    {"swish", MER_OP_ELEMENTWISE}, {"mish", MER_OP_ELEMENTWISE}, {"tanh", MER_OP_ELEMENTWISE},
    {"softplus", MER_OP_ELEMENTWISE}, {"softsign", MER_OP_ELEMENTWISE},
    {"dropout", MER_OP_ELEMENTWISE}, {"biasadd", MER_OP_ELEMENTWISE}, {"activation", MER_OP_ELEMENTWISE},
    {"sqrt", MER_OP_ELEMENTWISE}, {"square", MER_OP_ELEMENTWISE}, {"reciprocal", MER_OP_ELEMENTWISE},
    {"cast", MER_OP_ELEMENTWISE}, {"clip", MER_OP_ELEMENTWISE}, {"clamp", MER_OP_ELEMENTWISE},
    {"where", MER_OP_ELEMENTWISE}, {"equal", MER_OP_ELEMENTWISE}, {"greater", MER_OP_ELEMENTWISE},
    {"input", MER_OP_MOVE}, {"getitem", MER_OP_MOVE}, {"reshape", MER_OP_MOVE}, {"flatten", MER_OP_MOVE},
    {"squeeze", MER_OP_MOVE}, {"transpose", MER_OP_MOVE}, {"permute", MER_OP_MOVE},
    {"concat", MER_OP_MOVE}, {"split", MER_OP_MOVE}, {"slice", MER_OP_MOVE}, {"expand", MER_OP_MOVE},
    {"identity", MER_OP_MOVE}, {"shape", MER_OP_MOVE}, {"constant", MER_OP_MOVE},
};
static const char *const weight_words[] = {"weight", "weights", "bias", "gamma", "beta",
                                           "kernel", "variable", "parameter"};
/* clang-format on */

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* The next word at or after *text, in small letters and without digits at its end; false: there is none before
 * `end`. */
static bool next_word(const char **text, const char *end, char word[MAX_WORD], bool *is_capital)
{
    const char *at = *text;
    int         length = 0;
    while (at < end && !isalpha((unsigned char)*at)) {
        at++;
    }
    *is_capital = at < end && isupper((unsigned char)*at);
    for (; at < end && isalnum((unsigned char)*at); at++) {
        if (length < MAX_WORD - 1) {
            word[length++] = (char)tolower((unsigned char)*at);
        }
    }
    while (length > 0 && isdigit((unsigned char)word[length - 1])) {
        length--;
    }
    word[length] = '\0';
    *text = at;
    return length > 0;
}

static const Clue *find_clue(const char *word)
{
    for (size_t i = 0; i < COUNT(whole_words); i++) {
        if (strcmp(word, whole_words[i].word) == 0) {
            return &whole_words[i];
        }
    }
    for (size_t i = 0; i < COUNT(word_parts); i++) {
        if (strstr(word, word_parts[i].word)) {
            return &word_parts[i];
        }
    }
    return NULL;
}

static bool is_weight(const char *word)
{
    for (size_t i = 0; i < COUNT(weight_words); i++) {
        if (strcmp(word, weight_words[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Caffe2 ends the names of weights in _w, _b or _s, with or without a number behind: "gpu_0/res_conv1_bn_s_0". */
static bool has_weight_ending(const char *text, const char *end)
{
    const char *at = end;
    while (at > text && isdigit((unsigned char)at[-1])) {
        at--;
    }
    at -= at < end && at > text && at[-1] == '_';
    return at - text >= 2 && at[-2] == '_' && strchr("wbs", at[-1]);
}

/* A module that is known only by its parts does what the heaviest of them does: kinds stand in that order. */
static MerOpKind heaviest_part(const char *text, const char *end)
{
    MerOpKind kind = MER_OP_MOVE;
    char      word[MAX_WORD];
    bool      is_capital;
    while (next_word(&text, end, word, &is_capital)) {
        const Clue *clue = is_capital ? find_clue(word) : NULL;
        kind = clue && clue->kind < kind ? clue->kind : kind;
    }
    return kind;
}

/* In a path of modules the last word says most; words of operators begin with a capital, those of modules do
 * not. */
MerOpKind mer_place_guess_kind(const char *text)
{
    const char *end = text + strcspn(text, "(");
    const char *at = text;
    const Clue *plain = NULL, *capital = NULL;
    char        word[MAX_WORD];
    bool        is_capital;
    while (next_word(&at, end, word, &is_capital)) {
        const Clue *clue = find_clue(word);
        if (is_weight(word)) {
            return MER_OP_MOVE;
        }
        if (clue) {
            *(is_capital ? &capital : &plain) = clue;
        }
    }
    if (capital) {
        return capital->kind;
    }
    if (has_weight_ending(text, end)) {
        return MER_OP_MOVE;
    }
    return plain ? plain->kind : heaviest_part(end, end + strlen(end));
}
