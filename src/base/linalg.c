/* Plain loops over row-major matrices; symmetric eigenvalues by cyclic Jacobi rotations (Golub and
 * Van Loan, "Matrix computations", algorithm 8.5.2). */
#include "base/linalg.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

void mer_matvec(const double *a, int rows, int columns, const double *x, double *y)
{
    for (int i = 0; i < rows; i++) {
        y[i] = mer_dot(a + (size_t)i * (size_t)columns, x, columns);
    }
}

void mer_matmul(const double *a, const double *b, double *c, int n, int k, int m)
{
    memset(c, 0, (size_t)n * (size_t)m * sizeof *c);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < k; j++) {
            double factor = a[(size_t)i * (size_t)k + (size_t)j];
            mer_axpy(factor, b + (size_t)j * (size_t)m, c + (size_t)i * (size_t)m, m);
        }
    }
}

bool mer_cholesky(double *a, int n)
{
    size_t width = (size_t)n;
    for (int i = 0; i < n; i++) {
        double *row = a + (size_t)i * width;
        for (int j = 0; j < i; j++) {
            const double *above = a + (size_t)j * width;
            row[j] = (row[j] - mer_dot(row, above, j)) / above[j];
        }
        double pivot = row[i] - mer_dot(row, row, i);
        if (!(pivot > 0) || !isfinite(pivot)) {
            return false;
        }
        row[i] = sqrt(pivot);
        for (int j = i + 1; j < n; j++) {
            row[j] = 0;
        }
    }
    return true;
}

void mer_solve_lower(const double *l, int n, double *x)
{
    for (int i = 0; i < n; i++) {
        const double *row = l + (size_t)i * (size_t)n;
        x[i] = (x[i] - mer_dot(row, x, i)) / row[i];
    }
}

void mer_solve_lower_transposed(const double *l, int n, double *x)
{
    for (int i = n - 1; i >= 0; i--) {
        const double *row = l + (size_t)i * (size_t)n;
        x[i] /= row[i];
        mer_axpy(-x[i], row, x, i);
    }
}

/* Rotates rows or columns p and q: `step` is the distance from one element of p to its next. */
static void rotate(double *p, double *q, int n, size_t step, double c, double s)
{
    for (int i = 0; i < n; i++) {
        size_t at = (size_t)i * step;
        double before = p[at];
        p[at] = c * before - s * q[at];
        q[at] = s * before + c * q[at];
    }
}

/* Makes a[p][q] zero; the columns of v collect the rotations. */
static void annihilate(double *a, double *v, int n, int p, int q)
{
    size_t width = (size_t)n, row_p = (size_t)p * width, row_q = (size_t)q * width;
    double off = a[row_p + (size_t)q];
    double tau = (a[row_q + (size_t)q] - a[row_p + (size_t)p]) / (2 * off);
    /* The smaller root of t^2 + 2 tau t - 1, without overflow for huge tau. */
    double t = (tau >= 0 ? 1 : -1) / (fabs(tau) + hypot(1, tau));
    double c = 1 / sqrt(1 + t * t), s = t * c;
    rotate(a + row_p, a + row_q, n, 1, c, s);
    rotate(a + p, a + q, n, width, c, s);
    rotate(v + p, v + q, n, width, c, s);
    a[row_p + (size_t)q] = a[row_q + (size_t)p] = 0;
}

static void sort_pairs(double *values, double *v, int n)
{
    for (int i = 0; i < n; i++) {
        int least = i;
        for (int j = i + 1; j < n; j++) {
            least = values[j] < values[least] ? j : least;
        }
        double value = values[i];
        values[i] = values[least];
        values[least] = value;
        for (int row = 0; row < n && least != i; row++) {
            double *entries = v + (size_t)row * (size_t)n;
            double  entry = entries[i];
            entries[i] = entries[least];
            entries[least] = entry;
        }
    }
}

void mer_eigen_symmetric(const double *a, int n, double *values, double *v)
{
    enum { MOST_SWEEPS = 64 };
    size_t  width = (size_t)n, size = width * width;
    double *work = mer_heap_zeroed(size, sizeof *work);
    bool    changed = true;
    memcpy(work, a, size * sizeof *work);
    memset(v, 0, size * sizeof *v);
    for (size_t i = 0; i < width; i++) {
        v[i * width + i] = 1;
    }
    for (int sweep = 0; sweep < MOST_SWEEPS && changed; sweep++) {
        changed = false;
        for (int p = 0; p < n; p++) {
            for (int q = p + 1; q < n; q++) {
                double off = fabs(work[(size_t)p * width + (size_t)q]);
                double scale =
                    fabs(work[(size_t)p * (width + 1)]) + fabs(work[(size_t)q * (width + 1)]);
                /* Below one bit of both eigenvalues there is nothing left to turn. */
                if (off > 0 && scale + off != scale) {
                    annihilate(work, v, n, p, q);
                    changed = true;
                }
            }
        }
    }
    for (size_t i = 0; i < width; i++) {
        values[i] = work[i * width + i];
    }
    free(work);
    sort_pairs(values, v, n);
}
