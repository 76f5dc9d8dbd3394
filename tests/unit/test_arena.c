/* Arenas and error messages. */
#include "mercator/arena.h"
#include "mercator/error.h"
#include "support.h"

#include <sys/wait.h>

static void memory_is_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    MerArena      *arena = mer_arena_new();
    unsigned char *previous = NULL;
    for (size_t bytes = 0; bytes < 3000; bytes += 7) {
        unsigned char *memory = mer_arena_alloc(arena, bytes);
        assert_int_equal((uintptr_t)memory % 16, 0);
        assert_ptr_not_equal(memory, previous);
        for (size_t i = 0; i < bytes; i++) {
            assert_int_equal(memory[i], 0);
        }
        memset(memory, 0xab, bytes);
        previous = memory;
    }
    mer_arena_free(arena);
}

static void large_requests_are_met(void **state)
{
    (void)state;
    MerArena *arena = mer_arena_new();
    char     *small = mer_arena_text(arena, "before");
    char     *large = mer_arena_alloc(arena, 100 << 20);
    large[0] = large[(100 << 20) - 1] = 'x';
    assert_string_equal(small, "before");
    assert_string_equal(mer_arena_text(arena, "after"), "after");
    mer_arena_free(arena);
}

static void reset_keeps_blocks_and_clears_them(void **state)
{
    (void)state;
    MerArena *arena = mer_arena_new();
    void     *first = mer_arena_alloc(arena, 64);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 1000; i++) {
            unsigned char *memory = mer_arena_alloc(arena, 500);
            for (int j = 0; j < 500; j++) {
                assert_int_equal(memory[j], 0);
            }
            memset(memory, 0xff, 500);
        }
        mer_arena_reset(arena);
        assert_int_equal(mer_arena_bytes(arena), 0);
        assert_ptr_equal(mer_arena_alloc(arena, 64), first);
    }
    mer_arena_free(arena);
}

static void bytes_count_what_was_asked_for(void **state)
{
    (void)state;
    MerArena *arena = mer_arena_new();
    assert_int_equal(mer_arena_bytes(arena), 0);
    mer_arena_alloc(arena, 100);
    mer_arena_alloc_array(arena, 10, 8);
    assert_int_equal(mer_arena_bytes(arena), 180);
    mer_arena_free(arena);
    mer_arena_free(NULL);
}

static void texts_are_copied_and_formatted(void **state)
{
    (void)state;
    MerArena *arena = mer_arena_new();
    char      source[] = "hello world";
    char     *copy = mer_arena_text_n(arena, source, 5);
    source[0] = 'J';
    assert_string_equal(copy, "hello");
    assert_null(mer_arena_text(arena, NULL));
    assert_string_equal(mer_arena_text(arena, ""), "");
    assert_string_equal(mer_arena_format(arena, "%s-%d", "unit", 7), "unit-7");
    char *padded = mer_arena_format(arena, "%5000d", 1);
    assert_int_equal(strlen(padded), 5000);
    mer_arena_free(arena);
}

/* Runs `ask` in a child, whose stderr and exit code come back. */
static int run_child(void (*ask)(void), char *output, size_t size)
{
    int ends[2], code;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        ask();
        _exit(0);
    }
    close(ends[1]);
    ssize_t length = read(ends[0], output, size - 1);
    output[length > 0 ? length : 0] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &code, 0), child);
    return WIFEXITED(code) ? WEXITSTATUS(code) : -1;
}

static void ask_overflowing_array(void)
{
    mer_arena_alloc_array(mer_arena_new(), SIZE_MAX / 4, 8);
}

static void ask_everything(void)
{
    mer_arena_alloc(mer_arena_new(), SIZE_MAX - 5);
}

static void impossible_sizes_end_the_program_with_one_line(void **state)
{
    (void)state;
    char output[500];
    assert_int_equal(run_child(ask_overflowing_array, output, sizeof output), 1);
    mer_test_contains(output, "mercator: out of memory");
    assert_ptr_equal(strchr(output, '\n'), output + strlen(output) - 1);
    assert_int_equal(run_child(ask_everything, output, sizeof output), 1);
    mer_test_contains(output, "mercator: out of memory");
}

static void errors_carry_status_and_message(void **state)
{
    (void)state;
    MerError error = {0};
    assert_int_equal(mer_error_set(&error, MER_IO, "%s: %d", "disk", 3), MER_IO);
    assert_int_equal(error.status, MER_IO);
    assert_string_equal(error.message, "disk: 3");
    assert_int_equal(mer_error_set(NULL, MER_INVALID, "dropped"), MER_INVALID);
    assert_int_equal(mer_error_set(&error, MER_IO, "while writing: %s", error.message), MER_IO);
    assert_string_equal(error.message, "while writing: disk: 3");
}

static void error_messages_stay_one_whole_line(void **state)
{
    (void)state;
    MerError error = {0};
    char     text[2000] = {0};
    mer_error_set(&error, MER_INVALID, "a\nb\tc\x1b[0m");
    assert_string_equal(error.message, "a b c [0m");
    for (int i = 0; i < 900; i++) {
        memcpy(text + 2 * i, "\xc3\xa9", 2);
    }
    for (int shift = 0; shift < 2; shift++) {
        mer_error_set(&error, MER_INVALID, "%s%s", shift ? "x" : "", text);
        size_t length = strlen(error.message);
        assert_in_range(length, 590, 599);
        assert_string_equal(error.message + length - 3, "...");
        assert_int_equal((unsigned char)error.message[length - 4], 0xa9);
    }
}

static void statuses_have_names(void **state)
{
    (void)state;
    assert_string_equal(mer_status_name(MER_OK), "ok");
    assert_string_equal(mer_status_name(MER_CANCELLED), "cancelled");
    assert_string_equal(mer_status_name((MerStatus)99), "unknown status");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_aligned_and_apart),
        cmocka_unit_test(large_requests_are_met),
        cmocka_unit_test(reset_keeps_blocks_and_clears_them),
        cmocka_unit_test(bytes_count_what_was_asked_for),
        cmocka_unit_test(texts_are_copied_and_formatted),
        cmocka_unit_test(impossible_sizes_end_the_program_with_one_line),
        cmocka_unit_test(errors_carry_status_and_message),
        cmocka_unit_test(error_messages_stay_one_whole_line),
        cmocka_unit_test(statuses_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
