/* Plain loops, in order: the same bits everywhere. */
#include "base/linalg.h"

double mer_dot(const double *x, const double *y, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

void mer_axpy(double a, const double *x, double *y, int n)
{
    for (int i = 0; i < n; i++) {
        y[i] += a * x[i];
    }
}
