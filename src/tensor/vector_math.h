/* exp and its kin without branches or calls, so that loops over them become vector code and give
 * the same bits on every machine. */
#ifndef MERCATOR_TENSOR_VECTOR_MATH_H
#define MERCATOR_TENSOR_VECTOR_MATH_H

#include <stdint.h>
#include <string.h>

/* MER_WIDE(name, parameters, arguments) makes the function `name` of the inline function
 * `name_body`: compiled once for the machine at hand if it has wide vectors, once for any. No
 * product is fused with a sum in either, so that both give the same bits. */
#define MER_BODY static inline __attribute__((always_inline)) void
#if defined(__x86_64__)
#define MER_WIDE(name, parameters, arguments)                                                      \
    __attribute__((target("avx2"))) static void name##_256 parameters                              \
    {                                                                                              \
        name##_body arguments;                                                                     \
    }                                                                                              \
    static void name##_128 parameters                                                              \
    {                                                                                              \
        name##_body arguments;                                                                     \
    }                                                                                              \
    static void name parameters                                                                    \
    {                                                                                              \
        if (__builtin_cpu_supports("avx2")) {                                                      \
            name##_256 arguments;                                                                  \
        } else {                                                                                   \
            name##_128 arguments;                                                                  \
        }                                                                                          \
    }
#else
#define MER_WIDE(name, parameters, arguments)                                                      \
    static void name parameters                                                                    \
    {                                                                                              \
        name##_body arguments;                                                                     \
    }
#endif

/* exp(x) = 2^n exp(r), n the nearest integer to x / ln 2; Taylor to r^7 leaves 5e-9 for |r| <=
 * 0.35. Adding 1.5 * 2^23 leaves n in the low bits of the sum. */
static inline __attribute__((always_inline)) float mer_fast_exp(float x)
{
    const float magic = 12582912.0f;
    float       y = x > 88.0f ? 88.0f : x;
    y = y < -87.0f ? -87.0f : y;
    float    shifted = y * 1.44269504f + magic;
    float    n = shifted - magic;
    float    r = (y - n * 0.693359375f) + n * 2.12194440e-4f;
    float    high = 1.0f / 24 + r * (1.0f / 120 + r * (1.0f / 720 + r * (1.0f / 5040)));
    float    power = 1 + r * (1 + r * (0.5f + r * (1.0f / 6 + r * high)));
    uint32_t bits;
    float    scale;
    memcpy(&bits, &shifted, 4);
    bits = (bits << 23) + UINT32_C(0x3f800000);
    memcpy(&scale, &bits, 4);
    return power * scale;
}

static inline __attribute__((always_inline)) float mer_fast_sigmoid(float x)
{
    return 1 / (1 + mer_fast_exp(-x));
}

/* Odd by construction; exact to about 1e-7 in absolute terms. */
static inline __attribute__((always_inline)) float mer_fast_tanh(float x)
{
    return 1 - 2 / (1 + mer_fast_exp(2 * x));
}

#endif
