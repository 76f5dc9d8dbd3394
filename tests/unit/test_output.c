/* Files that are whole or not there: two that are written to one name at once. */
#include "base/output.h"
#include "support.h"

#include <dirent.h>
#include <unistd.h>

static int count_files(void)
{
    DIR *folder = opendir(".");
    int  count = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        count += entry->d_name[0] != '.';
    }
    closedir(folder);
    return count;
}

static void test_two_writers_of_one_name_are_both_whole(void **state)
{
    (void)state;
    MerOutput one, two;
    char      text[16] = "";
    int       before = count_files();
    assert_int_equal(mer_output_open(&one, "shared.txt", NULL), MER_OK);
    assert_int_equal(mer_output_open(&two, "shared.txt", NULL), MER_OK);
    fputs("one", one.file);
    fputs("two", two.file);
    assert_int_equal(mer_output_close(&one, NULL), MER_OK);
    assert_int_equal(mer_output_close(&two, NULL), MER_OK);
    FILE *file = fopen("shared.txt", "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "two");
    assert_int_equal(count_files(), before + 1);
    remove("shared.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_writers_of_one_name_are_both_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
