/* Option tables, plug-in references and names. */
#include "base/option_json.h"
#include "one_arena.h"

typedef struct Options {
    int64_t     population;
    double      mutation;
    bool        elitist;
    int         mode;
    const char *policy;
    MerReals    weights;
    MerTexts    layers;
} Options;

static const MerOption table[] = {
    {"population", MER_OPTION_INT, offsetof(Options, population), "100", 2, 1e6, NULL,
     "points per generation"},
    {"mutation", MER_OPTION_REAL, offsetof(Options, mutation), "0.1", 0, 1, NULL,
     "probability per knob"},
    {"elitist", MER_OPTION_BOOL, offsetof(Options, elitist), "true", 0, 0, NULL, "keep the best"},
    {"mode", MER_OPTION_CHOICE, offsetof(Options, mode), "padded", 0, 0, "perfect|padded|half-open",
     "factors"},
    {"policy", MER_OPTION_TEXT, offsetof(Options, policy), "", 0, 0, NULL, "file to load"},
    {"weights", MER_OPTION_REALS, offsetof(Options, weights), "[1,2.5]", 0, 10, NULL, "per metric"},
    {"layer_names", MER_OPTION_TEXTS, offsetof(Options, layers), "[]", 0, 0, NULL,
     "layers to keep"},
    {0}};

static const MerPreset presets[] = {
    {"small", "population=20,mutation=0.5,weights=[3,4,5]"}, {"map", "population=50"}, {0}};

static MerStatus fill(const char *text, Options *options, MerError *error)
{
    MerReference reference;
    MerStatus    status = mer_reference_parse(text, &reference, arena, error);
    *options = (Options){0};
    return status != MER_OK ? status
                            : mer_options_fill(table, presets, options, &reference, arena, error);
}

static void refuse(const char *text, const char *message)
{
    Options  options;
    MerError error = {0};
    assert_int_equal(fill(text, &options, &error), MER_INVALID);
    assert_string_equal(error.message, message);
}

static void defaults_fill_every_type(void **state)
{
    (void)state;
    Options options;
    assert_int_equal(fill("genetic", &options, NULL), MER_OK);
    assert_int_equal(options.population, 100);
    assert_true(options.mutation == 0.1);
    assert_true(options.elitist);
    assert_int_equal(options.mode, 1);
    assert_null(options.policy);
    assert_int_equal(options.weights.count, 2);
    assert_true(options.weights.values[1] == 2.5);
    assert_int_equal(options.layers.count, 0);
}

static void references_set_every_type(void **state)
{
    (void)state;
    Options options;
    assert_int_equal(fill("genetic:population=10k,mutation=0.25,elitist=off,mode=half_open,"
                          "policy=a:b=c.bin,weights=7,layer-names=[conv1, conv2]",
                          &options, NULL),
                     MER_OK);
    assert_int_equal(options.population, 10000);
    assert_true(options.mutation == 0.25);
    assert_false(options.elitist);
    assert_int_equal(options.mode, 2);
    assert_string_equal(options.policy, "a:b=c.bin");
    assert_int_equal(options.weights.count, 1);
    assert_true(options.weights.values[0] == 7);
    assert_int_equal(options.layers.count, 2);
    assert_string_equal(options.layers.values[1], "conv2");
}

static void presets_come_before_other_options(void **state)
{
    (void)state;
    Options options;
    assert_int_equal(fill("genetic:mutation=0.75,preset=small", &options, NULL), MER_OK);
    assert_int_equal(options.population, 20);
    assert_true(options.mutation == 0.75);
    assert_int_equal(options.weights.count, 3);
}

static void every_word_for_a_boolean_is_taken(void **state)
{
    (void)state;
    const char *yes[] = {"true", "on", "yes", "1"}, *no[] = {"false", "off", "no", "0"};
    for (int i = 0; i < 4; i++) {
        Options options = {0};
        assert_int_equal(mer_options_set(table, &options, "x", "elitist", yes[i], arena, NULL),
                         MER_OK);
        assert_true(options.elitist);
        assert_int_equal(mer_options_set(table, &options, "x", "elitist", no[i], arena, NULL),
                         MER_OK);
        assert_false(options.elitist);
    }
}

static void set_opens_its_message_with_where(void **state)
{
    (void)state;
    Options  options = {.population = 7};
    MerError error = {0};
    assert_int_equal(
        mer_options_set(table, &options, "--optimizer genetic", "population", "0", arena, &error),
        MER_INVALID);
    assert_string_equal(error.message, "--optimizer genetic: population is 0, expected an integer "
                                       "in 2 .. 1000000");
    assert_int_equal(options.population, 7);
}

static void bad_values_say_what_was_expected(void **state)
{
    (void)state;
    refuse("genetic:populaton=5",
           "unknown option \"populaton\" of genetic, did you mean \"population\"");
    refuse("genetic:population=2.5",
           "genetic: population is 2.5, expected an integer in 2 .. 1000000");
    refuse("genetic:population=",
           "genetic: population is \"\", expected an integer in 2 .. 1000000");
    refuse("genetic:mutation=nan", "genetic: mutation is \"nan\", expected a number in 0 .. 1");
    refuse("genetic:elitist=maybe", "genetic: elitist is \"maybe\", expected true or false");
    refuse("genetic:mode=prefect",
           "genetic: mode is \"prefect\", expected perfect, padded or half-open, "
           "did you mean \"perfect\"");
    refuse("genetic:weights=[1,11]", "genetic: weights is 11, expected a number in 0 .. 10");
    refuse("genetic:weights=[1,2", "genetic: weights is \"[1,2\", expected a list [a,b,c]");
    refuse("genetic:weights=[[1]]", "genetic: weights is \"[[1]]\", expected a list [a,b,c]");
    refuse("genetic:preset=smal",
           "genetic: preset is \"smal\", expected small or map, did you mean \"small\"");
}

static void bad_references_are_refused(void **state)
{
    (void)state;
    refuse("", "\"\" has no name, expected NAME:key=value,...");
    refuse(":a=1", "\":a=1\" has no name, expected NAME:key=value,...");
    refuse("genetic:", "genetic: ends, expected key=value after the colon");
    refuse("genetic:elitist", "genetic:elitist: found \"elitist\", expected key=value");
    refuse("genetic:=3", "genetic:=3: found \"=3\", expected key=value");
    refuse("genetic:mutation=1,", "genetic:mutation=1,: found \"\", expected key=value");
    refuse("genetic:layer-names=a,layer_names=b",
           "genetic:layer-names=a,layer_names=b: option \"layer_names\" is given twice");
}

static void plug_ins_without_options_refuse_all(void **state)
{
    (void)state;
    const MerOption none[] = {{0}};
    MerReference    reference;
    MerError        error = {0};
    char            options[1];
    assert_int_equal(mer_reference_parse("random:a=1", &reference, arena, NULL), MER_OK);
    assert_int_equal(mer_options_fill(none, NULL, options, &reference, arena, &error), MER_INVALID);
    assert_string_equal(error.message, "unknown option \"a\" of random, expected none");
    assert_int_equal(mer_options_fill(NULL, NULL, options, &reference, arena, &error), MER_INVALID);
}

static void values_are_written_as_json(void **state)
{
    (void)state;
    Options options;
    MerJson json = {0};
    assert_int_equal(fill("genetic:policy=p.bin,layer_names=[a,b]", &options, NULL), MER_OK);
    mer_options_write(table, &options, &json, NULL);
    assert_string_equal(json.text, "{\"population\":100,\"mutation\":0.1,\"elitist\":true,"
                                   "\"mode\":\"padded\",\"policy\":\"p.bin\",\"weights\":[1,2.5],"
                                   "\"layer_names\":[\"a\",\"b\"]}");
    mer_json_free(&json);
}

static void help_has_a_line_per_option(void **state)
{
    (void)state;
    char  text[2000] = {0};
    FILE *file = tmpfile();
    assert_non_null(file);
    mer_options_help(table, file);
    rewind(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    mer_test_contains(text, "  population=100   points per generation (integer in 2 .. 1000000)\n");
    mer_test_contains(text, "(perfect|padded|half-open)\n");
}

static void names_forgive_hyphens_and_typing(void **state)
{
    (void)state;
    const char *const names[] = {"words", "bytes", "words_per_cycle"};
    assert_true(mer_name_equal("mobilenet-v2", "mobilenet_v2"));
    assert_false(mer_name_equal("mobilenet-v2", "mobilenet_v"));
    assert_false(mer_name_equal("a", "A"));
    assert_string_equal(mer_name_nearest("wrods", names, 3), "words");
    assert_string_equal(mer_name_nearest("word-per-cycel", names, 3), "words_per_cycle");
    assert_string_equal(mer_name_nearest("words-per", names, 3), "words_per_cycle");
    assert_null(mer_name_nearest("energy", names, 3));
    assert_null(mer_name_nearest("xy", names, 3));
    assert_null(mer_name_nearest("", names, 3));
    assert_null(mer_name_nearest("words", names, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_fill_every_type),
        cmocka_unit_test(references_set_every_type),
        cmocka_unit_test(presets_come_before_other_options),
        cmocka_unit_test(every_word_for_a_boolean_is_taken),
        cmocka_unit_test(set_opens_its_message_with_where),
        cmocka_unit_test(bad_values_say_what_was_expected),
        cmocka_unit_test(bad_references_are_refused),
        cmocka_unit_test(plug_ins_without_options_refuse_all),
        cmocka_unit_test(values_are_written_as_json),
        cmocka_unit_test(help_has_a_line_per_option),
        cmocka_unit_test(names_forgive_hyphens_and_typing),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
