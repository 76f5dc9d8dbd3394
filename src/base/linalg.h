/* Sums of products of vectors in double; whatever is larger goes to LAPACK (learn/lapack.h). */
#ifndef MERCATOR_BASE_LINALG_H
#define MERCATOR_BASE_LINALG_H

double mer_dot(const double *x, const double *y, int n);
/* y += a x */
void mer_axpy(double a, const double *x, double *y, int n);

#endif
