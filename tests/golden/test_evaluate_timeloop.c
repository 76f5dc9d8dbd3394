/* `mercator evaluate PROBLEM --mapping M --platform ARCH` on the SA-R mappings of the reference
 * layers, all files in Timeloop's form. Energies per MAC are those of Timeloop v3.0.3 to 5
 * decimals: with halo=timeloop all nine, with the default rule six; cycles follow from the EDP of
 * the tables. */
#include "command.h"
#include "s256.h"
#include "timeloop_s256.h"

#include <math.h>
#include <stdbool.h>

/* pJ per MAC: ours and Timeloop's, in the order of s256_layers. */
static const double energies[][2] = {
    {6.86512, 6.87549},   {5.85604, 5.85604}, {8.89636, 8.89636},
    {6.10849, 6.11375},   {6.56875, 6.56960}, {9.74012, 9.74012},
    {10.16237, 10.16237}, {7.34505, 7.34505}, {218.31277, 218.31277},
};

typedef struct Loops { /* of one level: "M=2 C=16" and the letters, innermost first */
    char factors[100], order[16];
    int  count;
} Loops;

static void add_loop(Loops *loops, const char *word, size_t length)
{
    size_t used = strlen(loops->factors);
    snprintf(loops->factors + used, sizeof loops->factors - used, "%s%c=%.*s", used ? " " : "",
             word[0], (int)length - 1, word + 1);
    memmove(loops->order + 1, loops->order, strlen(loops->order) + 1);
    loops->order[0] = word[0];
    loops->count++;
}

/* The letters that have no factor are named too, as Timeloop wants: outermost. */
static void complete(Loops *loops)
{
    for (const char *letter = "CMRSNPQ"; *letter; letter++) {
        if (!strchr(loops->order, *letter)) {
            size_t used = strlen(loops->order);
            loops->order[used] = *letter;
        }
    }
}

static void write_entry(FILE *file, const char *target, const char *type, Loops *loops, int split)
{
    complete(loops);
    fprintf(file, "  - {target: %s, type: %s, factors: \"%s\", permutation: %s", target, type,
            loops->factors, loops->order);
    if (split >= 0) {
        fprintf(file, ", split: %d", split);
    }
    fprintf(file, "}\n");
}

/* From "DRAM: M2 C16 | GLB: M16 | X: M4 Q4 Y: C4 P4 | RF: C2 R3 S3 P7 Q7". */
static void write_mapping(const char *nest)
{
    static const char *const names[] = {"DRAM:", "GLB:", "RF:", "X:", "Y:"};
    Loops                    loops[5] = {0};
    int                      at = 0;
    for (const char *word = nest; *word;) {
        size_t length = strcspn(word, " |");
        bool   is_name = false;
        for (int i = 0; i < 5; i++) {
            if (strlen(names[i]) == length && strncmp(names[i], word, length) == 0) {
                at = i;
                is_name = true;
            }
        }
        if (!is_name && length > 0) {
            add_loop(&loops[at], word, length);
        }
        word += length;
        word += strspn(word, " |");
    }
    Loops spatial = {0};
    snprintf(spatial.factors, sizeof spatial.factors, "%.45s %.45s", loops[3].factors,
             loops[4].factors);
    snprintf(spatial.order, sizeof spatial.order, "%.7s%.7s", loops[3].order, loops[4].order);
    FILE *file = fopen("map.yaml", "w");
    assert_non_null(file);
    fprintf(file, "mapping:\n");
    write_entry(file, "DRAM", "temporal", &loops[0], -1);
    write_entry(file, "GLB", "temporal", &loops[1], -1);
    write_entry(file, "GLB", "spatial", &spatial, loops[3].count);
    write_entry(file, "RF", "temporal", &loops[2], -1);
    fprintf(file,
            "  - {target: RF, type: datatype, keep: [Weights, Inputs, Outputs], bypass: []}\n");
    fclose(file);
}

static void write_files(const S256Layer *layer)
{
    char text[8192];
    snprintf(text, sizeof text, "%s%s%s", timeloop_s256_tree, timeloop_s256_energies,
             timeloop_s256_keeps);
    write_text("arch.yaml", text);
    snprintf(text, sizeof text, TIMELOOP_PROBLEM, layer->k, layer->c, layer->r, layer->s, layer->y,
             layer->x, layer->stride, layer->stride);
    write_text("problem.yaml", text);
    write_mapping(layer->restricted);
}

static void check_layer(const S256Layer *layer, const char *evaluator, double expected)
{
    char arguments[200];
    snprintf(arguments, sizeof arguments,
             "evaluate problem.yaml --mapping map.yaml --platform arch.yaml --evaluator %s --json",
             evaluator);
    cJSON       *summary = command_json(arguments);
    const cJSON *task = command_task(summary);
    const cJSON *best = command_member(task, "best");
    assert_string_equal(command_member(task, "status")->valuestring, "ok");
    double energy = command_member(best, "energy")->valuedouble;
    double cycles = command_member(best, "cycles")->valuedouble;
    if (fabs(energy / layer->macs - expected) > 0.5000001e-5) {
        fail_msg("%s with %s: %.7f pJ per MAC, expected %.5f", layer->name, evaluator,
                 energy / layer->macs, expected);
    }
    if (strstr(evaluator, "timeloop") == NULL) {
        assert_true(fabs(energy * cycles / layer->restricted_edp - 1) < 2e-4);
    }
    cJSON_Delete(summary);
}

static void test_timeloop_files_give_timeloops_energies(void **state)
{
    (void)state;
    for (int i = 0; i < S256_LAYER_COUNT; i++) {
        write_files(&s256_layers[i]);
        check_layer(&s256_layers[i], "loopnest", energies[i][0]);
        check_layer(&s256_layers[i], "loopnest:halo=timeloop", energies[i][1]);
    }
}

/* Also from one file, and from several without flags, as timeloop-model takes them. */
static void test_roles_of_files_are_found_by_their_keys(void **state)
{
    (void)state;
    write_files(&s256_layers[3]);
    cJSON *separate =
        command_json("evaluate problem.yaml --mapping map.yaml --platform arch.yaml --json");
    cJSON *together = command_json("evaluate arch.yaml map.yaml problem.yaml --json");
    double a = command_member(command_member(command_task(separate), "best"), "edp")->valuedouble;
    double b = command_member(command_member(command_task(together), "best"), "edp")->valuedouble;
    assert_true(a == b && a > 0);
    cJSON_Delete(separate);
    cJSON_Delete(together);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timeloop_files_give_timeloops_energies),
        cmocka_unit_test(test_roles_of_files_are_found_by_their_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
