/* Dense linear algebra of the learning parts: LAPACK through the Fortran symbols of OpenBLAS, always on
 * one thread, so that results do not depend on the machine's load. Matrices are column-major. */
#ifndef MERCATOR_LEARN_LAPACK_H
#define MERCATOR_LEARN_LAPACK_H

#include <stdbool.h>

/* Ends the threads that OpenBLAS starts when it is loaded: each looks for work for a tenth of a second. For a program
 * whose every use of it goes through here. */
void mer_lapack_end_threads(void);
void mer_lapack_open(void); /* call before the others: sets one thread for the whole process */

/* Lower Cholesky factor of the symmetric `a` (n, n) in its lower half; false: not positive definite. */
bool mer_lapack_cholesky(double *a, int n);
/* Solves L X = B in place, `b` (n, columns); transposed: L^T X = B. */
void mer_lapack_solve_lower(const double *l, int n, double *b, int columns, bool is_transposed);
/* Eigenvalues of the symmetric `a` (n, n), ascending; `a` becomes the vectors, one per column. `work`
 * holds mer_lapack_eigen_work(n) numbers. */
int  mer_lapack_eigen_work(int n);
bool mer_lapack_eigen(double *a, int n, double *values, double *work);

#endif
