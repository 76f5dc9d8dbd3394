/* Small dense linear algebra in double, row-major. Large work goes to LAPACK elsewhere. */
#ifndef MERCATOR_BASE_LINALG_H
#define MERCATOR_BASE_LINALG_H

#include <stdbool.h>

double mer_dot(const double *x, const double *y, int n);
/* y += a x */
void mer_axpy(double a, const double *x, double *y, int n);
/* y = A x */
void mer_matvec(const double *a, int rows, int columns, const double *x, double *y);
/* C(n,m) = A(n,k) B(k,m) */
void mer_matmul(const double *a, const double *b, double *c, int n, int k, int m);
/* lower factor in place, upper part zeroed; false: not positive definite */
bool mer_cholesky(double *a, int n);
void mer_solve_lower(const double *l, int n, double *x);            /* L x = b, b in x */
void mer_solve_lower_transposed(const double *l, int n, double *x); /* L^T x = b */
/* Eigen decomposition of a symmetric matrix (Jacobi): values ascending, vectors in columns of `v`. */
void mer_eigen_symmetric(const double *a, int n, double *values, double *v);

#endif
