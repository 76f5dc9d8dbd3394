/* The program `mercator` as a function: a program of your own adds plug-ins and hands its command line on,
 * and has every verb for them.
 *
 *     int main(int count, char **arguments)
 *     {
 *         mer_register_problem(&my_problem, NULL);
 *         return mer_program(count, arguments);
 *     }
 */
#ifndef MERCATOR_PROGRAM_H
#define MERCATOR_PROGRAM_H

/* `arguments` as of main; gives the exit code. */
int mer_program(int count, char **arguments);

#endif
