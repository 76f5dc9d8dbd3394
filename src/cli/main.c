/* The program `mercator`. */
#include "mercator/program.h"

#include "learn/lapack.h"

#include <fcntl.h>

/* A closed descriptor would be taken by the first file that is opened, and messages would go there. Results for a closed
 * output are lost, which is an error: they cannot be written into what is open for reading. */
static void open_standard_files(void)
{
    for (int descriptor = 0; descriptor < 3; descriptor++) {
        if (fcntl(descriptor, F_GETFD) == -1) {
            int opened = open("/dev/null", descriptor == 2 ? O_WRONLY : O_RDONLY);
            (void)opened; /* the lowest one that is free, which is this one */
        }
    }
}

int main(int count, char **arguments)
{
    open_standard_files();
    mer_lapack_end_threads();
    return mer_program(count, arguments);
}
