/* Row by row: bias and activation, softmax, layer norm, the gates of an LSTM and thermometers. Parts are rows; sums
 * over rows, such as the gradient of a bias, are done by columns and in the order of the rows. */
#include "tensor/plain_inside.h"
#include "tensor/vector_math.h"

#include <math.h>

MER_BODY bias_body(const MerRows *op, int64_t first, int64_t end)
{
    const float *restrict bias = op->x[1];
    float *restrict y = op->y[0] + first * op->width;
    for (int64_t r = first; r < end; r++, y += op->width) {
        if (op->activation == MER_RELU) {
            for (int j = 0; j < op->width; j++) {
                float z = y[j] + bias[j];
                y[j] = z > 0 ? z : 0;
            }
        } else if (op->activation == MER_TANH) {
            for (int j = 0; j < op->width; j++) {
                y[j] = mer_fast_tanh(y[j] + bias[j]);
            }
        } else {
            for (int j = 0; j < op->width; j++) {
                y[j] += bias[j];
            }
        }
    }
}
MER_WIDE(bias, (const MerRows *op, int64_t first, int64_t end), (op, first, end))

/* Turns the gradient after the activation into the one before it, in place, and adds its rows up
 * for the bias in the same pass. Products instead of choices become vector code. */
MER_BODY pass_activation_body(const MerRows *op, int64_t first, int64_t end, float *restrict db)
{
    const float *restrict y = op->y[0] + first * op->width;
    float *restrict dz = op->dx[0] + first * op->width;
    for (int64_t r = first; r < end; r++, y += op->width, dz += op->width) {
        if (op->activation == MER_RELU) {
            for (int j = 0; j < op->width; j++) {
                dz[j] *= y[j] > 0 ? 1.0f : 0.0f;
            }
        } else if (op->activation == MER_TANH) {
            for (int j = 0; j < op->width; j++) {
                dz[j] *= 1 - y[j] * y[j];
            }
        }
        for (int j = 0; db != NULL && j < op->width; j++) {
            db[j] += dz[j];
        }
    }
}
MER_WIDE(pass_activation, (const MerRows *op, int64_t first, int64_t end, float *db),
         (op, first, end, db))

MER_BODY sum_rows_body(void *context, int64_t first, int64_t end)
{
    const MerRows *op = context;
    float *restrict db = op->dx[1];
    const float *restrict dz = op->dx[0];
    for (int64_t r = 0; r < op->rows; r++, dz += op->width) {
        for (int64_t j = first; j < end; j++) {
            db[j] += dz[j];
        }
    }
}
MER_WIDE(sum_rows, (void *context, int64_t first, int64_t end), (context, first, end))

static void pass_range(void *context, int64_t first, int64_t end)
{
    pass_activation(context, first, end, NULL);
}

static int64_t grain_of(const MerRows *op)
{
    return op->width > 0 ? 1 + MER_GRAIN / op->width : 1;
}

enum { COLUMNS = 64 }; /* of a part of a sum over rows */

static void bias_backward(MerTape *tape, const MerRows *op)
{
    if (op->rows <= grain_of(op)) {
        pass_activation(op, 0, op->rows, op->dx[1]);
        return;
    }
    if (op->activation != MER_LINEAR) {
        mer_tape_split(tape, op->rows, grain_of(op), pass_range, (void *)op);
    }
    if (op->dx[1] != NULL) {
        mer_tape_split(tape, op->width, COLUMNS, sum_rows, (void *)op);
    }
}

static float largest(const float *x, int n)
{
    float most = x[0];
    for (int i = 1; i < n; i++) {
        most = x[i] > most ? x[i] : most;
    }
    return most;
}

/* y = exp(x - the largest); gives the largest and the sum. */
static float exponents(const float *restrict x, float *restrict y, int n, float *sum)
{
    float most = largest(x, n), total = 0;
    for (int i = 0; i < n; i++) {
        y[i] = mer_fast_exp(x[i] - most);
    }
    for (int i = 0; i < n; i++) {
        total += y[i];
    }
    *sum = total;
    return most;
}

static void softmax(const MerRows *op, int64_t r)
{
    float *y = op->y[0] + r * op->width, sum;
    exponents(op->x[0] + r * op->width, y, op->width, &sum);
    for (int i = 0; i < op->width; i++) {
        y[i] /= sum;
    }
}

static void softmax_backward(const MerRows *op, int64_t r)
{
    const float *y = op->y[0] + r * op->width, *dy = op->dy[0] + r * op->width;
    float       *dx = op->dx[0] + r * op->width, dot = 0;
    for (int i = 0; i < op->width; i++) {
        dot += dy[i] * y[i];
    }
    for (int i = 0; i < op->width; i++) {
        dx[i] += y[i] * (dy[i] - dot);
    }
}

static void log_softmax(const MerRows *op, int64_t r)
{
    for (int s = 0; s < op->segment_count; s++) {
        int64_t at = r * op->width + op->first[s];
        int     n = op->first[s + 1] - op->first[s];
        const float *restrict x = op->x[0] + at;
        float *restrict y = op->y[0] + at;
        float sum, most = exponents(x, y, n, &sum), shift = most + logf(sum);
        for (int i = 0; i < n; i++) {
            y[i] = x[i] - shift;
        }
    }
}

static void log_softmax_backward(const MerRows *op, int64_t r)
{
    const float *y = op->y[0] + r * op->width, *dy = op->dy[0] + r * op->width;
    float       *dx = op->dx[0] + r * op->width;
    for (int s = 0; s < op->segment_count; s++) {
        float sum = 0;
        for (int i = op->first[s]; i < op->first[s + 1]; i++) {
            sum += dy[i];
        }
        for (int i = op->first[s]; i < op->first[s + 1]; i++) {
            dx[i] += dy[i] - mer_fast_exp(y[i]) * sum;
        }
    }
}

/* Keeps (x - mean) / deviation, and 1 / deviation of each row. */
static void layer_norm(const MerRows *op, int64_t r)
{
    int          n = op->width;
    const float *row = op->x[0] + r * n, *scale = op->x[1], *shift = op->x[2];
    float       *y = op->y[0] + r * n, *normal = op->kept[0] + r * n;
    double       sum = 0, square = 0;
    for (int i = 0; i < n; i++) {
        sum += row[i];
    }
    float mean = (float)(sum / n);
    for (int i = 0; i < n; i++) {
        square += (double)(row[i] - mean) * (row[i] - mean);
    }
    float inverse = op->kept[1][r] = (float)(1 / sqrt(square / n + op->constant));
    for (int i = 0; i < n; i++) {
        normal[i] = (row[i] - mean) * inverse;
        y[i] = normal[i] * scale[i] + shift[i];
    }
}

static void layer_norm_backward(const MerRows *op, int64_t r)
{
    int          n = op->width;
    const float *dy = op->dy[0] + r * n, *normal = op->kept[0] + r * n, *scale = op->x[1];
    float        mean = 0, along = 0;
    for (int i = 0; i < n; i++) {
        float g = dy[i] * scale[i];
        mean += g;
        along += g * normal[i];
    }
    for (int i = 0; op->dx[0] != NULL && i < n; i++) {
        float g = dy[i] * scale[i];
        op->dx[0][r * n + i] += op->kept[1][r] * (g - (mean + normal[i] * along) / (float)n);
    }
}

static void layer_norm_sums(void *context, int64_t first, int64_t end)
{
    const MerRows *op = context;
    for (int64_t r = 0; r < op->rows; r++) {
        const float *dy = op->dy[0] + r * op->width, *normal = op->kept[0] + r * op->width;
        for (int64_t i = first; op->dx[1] != NULL && i < end; i++) {
            op->dx[1][i] += dy[i] * normal[i];
        }
        for (int64_t i = first; op->dx[2] != NULL && i < end; i++) {
            op->dx[2][i] += dy[i];
        }
    }
}

/* Keeps i, f, g, o, tanh(c') (Hochreiter and Schmidhuber, 1997; forget gate after Gers et al., 2000):
 * i, f, o = sigmoid, g = tanh; c' = f c + i g; h = o tanh(c'). */
static void lstm(const MerRows *op, int64_t r)
{
    int n = op->width;
    const float *restrict gates = op->x[0] + 4 * r * n;
    const float *restrict c = op->x[1] + r * n;
    float *restrict h = op->y[0] + r * n;
    float *restrict next = op->y[1] + r * n;
    float *restrict kept = op->kept[0] + 5 * r * n;
    for (int j = 0; j < n; j++) {
        kept[j] = mer_fast_sigmoid(gates[j]);
        kept[n + j] = mer_fast_sigmoid(gates[n + j] + op->constant);
        kept[2 * n + j] = mer_fast_tanh(gates[2 * n + j]);
        kept[3 * n + j] = mer_fast_sigmoid(gates[3 * n + j]);
        next[j] = kept[n + j] * c[j] + kept[j] * kept[2 * n + j];
        kept[4 * n + j] = mer_fast_tanh(next[j]);
        h[j] = kept[3 * n + j] * kept[4 * n + j];
    }
}

static void lstm_backward(const MerRows *op, int64_t r)
{
    int          n = op->width;
    const float *kept = op->kept[0] + 5 * r * n, *c = op->x[1] + r * n;
    const float *dh = op->dy[0], *dnext = op->dy[1];
    for (int j = 0; j < n; j++) {
        float i = kept[j], f = kept[n + j], g = kept[2 * n + j], o = kept[3 * n + j];
        float t = kept[4 * n + j];
        float along_h = dh != NULL ? dh[r * n + j] : 0;
        float along_c = (dnext != NULL ? dnext[r * n + j] : 0) + along_h * o * (1 - t * t);
        if (op->dx[0] != NULL) {
            float *dgates = op->dx[0] + 4 * r * n;
            dgates[j] += along_c * g * i * (1 - i);
            dgates[n + j] += along_c * c[j] * f * (1 - f);
            dgates[2 * n + j] += along_c * i * (1 - g * g);
            dgates[3 * n + j] += along_h * t * o * (1 - o);
        }
        if (op->dx[1] != NULL) {
            op->dx[1][r * n + j] += along_c * f;
        }
    }
}

static void thermometer(const MerRows *op, int64_t r)
{
    const float *x = op->x[0] + r * op->width;
    float        sum = 0;
    for (int j = op->width - 1; j >= 0; j--) {
        sum += fabsf(x[j]);
        op->y[0][r * op->width + j] = sum > 0.5f ? 1 : 0;
    }
}

static void thermometer_backward(const MerRows *op, int64_t r)
{
    const float *x = op->x[0] + r * op->width, *dy = op->dy[0] + r * op->width;
    float        sum = 0;
    for (int j = 0; op->dx[0] != NULL && j < op->width; j++) {
        sum += dy[j];
        op->dx[0][r * op->width + j] += x[j] > 0 ? sum : x[j] < 0 ? -sum : 0;
    }
}

typedef void (*Row)(const MerRows *op, int64_t r);
static const Row rows[] = {NULL, softmax, log_softmax, layer_norm, lstm, thermometer};
static const Row rows_back[] = {
    NULL,          softmax_backward,    log_softmax_backward, layer_norm_backward,
    lstm_backward, thermometer_backward};

static void forward_range(void *context, int64_t first, int64_t end)
{
    const MerRows *op = context;
    if (op->kind == MER_ROWS_BIAS) {
        bias(op, first, end);
        return;
    }
    for (int64_t r = first; r < end; r++) {
        rows[op->kind](op, r);
    }
}

void mer_plain_rows(MerTape *tape, const MerRows *op)
{
    mer_tape_split(tape, op->rows, grain_of(op), forward_range, (void *)op);
}

static void backward_range(void *context, int64_t first, int64_t end)
{
    const MerRows *op = context;
    for (int64_t r = first; r < end; r++) {
        rows_back[op->kind](op, r);
    }
}

void mer_plain_rows_backward(MerTape *tape, const MerRows *op)
{
    if (op->kind == MER_ROWS_BIAS) {
        bias_backward(tape, op);
        return;
    }
    mer_tape_split(tape, op->rows, grain_of(op), backward_range, (void *)op);
    if (op->kind == MER_ROWS_LAYER_NORM) {
        mer_tape_split(tape, op->width, COLUMNS, layer_norm_sums, (void *)op);
    }
}
