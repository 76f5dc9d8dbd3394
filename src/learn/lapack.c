/* Declares the few Fortran routines used (Debian ships no lapacke.h) and wraps them. */
#include "learn/lapack.h"

void                      openblas_set_num_threads(int count);
__attribute__((weak)) int blas_thread_shutdown_(void); /* not in builds without threads */
void dpotrf_(const char *half, const int *n, double *a, const int *stride, int *info,
             unsigned long half_length);
void dtrsm_(const char *side, const char *half, const char *transposed, const char *diagonal,
            const int *rows, const int *columns, const double *factor, const double *a,
            const int *a_stride, double *b, const int *b_stride, unsigned long side_length,
            unsigned long half_length, unsigned long transposed_length,
            unsigned long diagonal_length);
void dsyev_(const char *job, const char *half, const int *n, double *a, const int *stride,
            double *values, double *work, const int *work_size, int *info, unsigned long job_length,
            unsigned long half_length);

void mer_lapack_end_threads(void)
{
    openblas_set_num_threads(1); /* or the next call would start them again */
    if (blas_thread_shutdown_) {
        blas_thread_shutdown_();
    }
}

void mer_lapack_open(void)
{
    openblas_set_num_threads(1);
}

bool mer_lapack_cholesky(double *a, int n)
{
    int info = 0;
    dpotrf_("L", &n, a, &n, &info, 1);
    return info == 0;
}

void mer_lapack_solve_lower(const double *l, int n, double *b, int columns, bool is_transposed)
{
    double one = 1;
    dtrsm_("L", "L", is_transposed ? "T" : "N", "N", &n, &columns, &one, l, &n, b, &n, 1, 1, 1, 1);
}

int mer_lapack_eigen_work(int n)
{
    return 34 * n + 1; /* (block + 2) n with LAPACK's block of 32 */
}

bool mer_lapack_eigen(double *a, int n, double *values, double *work)
{
    int info = 0;
    int capacity = mer_lapack_eigen_work(n);
    dsyev_("V", "L", &n, a, &n, values, work, &capacity, &info, 1, 1);
    return info == 0;
}
