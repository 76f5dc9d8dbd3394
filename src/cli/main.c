/* The program `mercator`. */
#include "mercator/program.h"

int main(int count, char **arguments)
{
    return mer_program(count, arguments);
}
