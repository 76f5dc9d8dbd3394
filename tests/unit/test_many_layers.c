/* What a layer costs in memory while a network is mapped: a network of many layers must fit. */
#include "support.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* So many different layers, all small enough that a few random mappings find one that fits. */
static void write_network(const char *path, int layers)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "name,type,K,C,Y,X,R,S,stride\n");
    for (int l = 0; l < layers; l++) {
        fprintf(file, "l%d,conv,%d,%d,2,2,1,1,1\n", l, 1 + l / 40, 1 + l % 40);
    }
    assert_int_equal(fclose(file), 0);
}

/* Runs the program on it; the largest memory in KB of any child of this test so far. */
static long largest_after(const char *network, const char *folder)
{
    const char *program = getenv("MERCATOR");
    if (!program || !*program) {
        print_message("MERCATOR does not name the program\n");
        skip();
    }
    int   status;
    pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        execl(program, program, "map", network, "--optimizer", "random", "--budget", "12",
              "--threads", "1", "--quiet", "-o", folder, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) <= 1); /* 1: a layer without luck */
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return usage.ru_maxrss;
}

/* With log, exported files and report. It was 180 KB once; 10,000 layers take 26 KB each, few take more, since lists
 * double. */
static void test_a_layer_takes_less_than_45_kb(void **state)
{
    enum { FEW = 100, MANY = 900 };
    (void)state;
    write_network("few.csv", FEW);
    write_network("many.csv", MANY);
    long few = largest_after("few.csv", "few"), many = largest_after("many.csv", "many");
    print_message("%.1f KB per layer\n", (double)(many - few) / (MANY - FEW));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_true(many - few < 45L * (MANY - FEW));
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_layer_takes_less_than_45_kb)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
