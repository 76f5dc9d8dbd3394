/* What `random` and NumPy compute: the Mersenne twister with both seedings, draws that take as many words as
 * theirs, sums and sorts with their rounding and their order of equals. */
#include "base/numpy.h"

#include <stdbool.h>
#include <string.h>

enum { WORDS = 624, MIDDLE = 397 };

MerTwister mer_twister_numpy(uint32_t seed)
{
    MerTwister twister = {.used = WORDS};
    twister.words[0] = seed;
    for (int i = 1; i < WORDS; i++) {
        uint32_t last = twister.words[i - 1];
        twister.words[i] = 1812433253u * (last ^ (last >> 30)) + (uint32_t)i;
    }
    return twister;
}

/* Python seeds with the 32-bit words of the number as a key, lowest first. */
MerTwister mer_twister_python(uint64_t seed)
{
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    int            length = key[1] ? 2 : 1;
    MerTwister     twister = mer_twister_numpy(19650218u);
    uint32_t      *words = twister.words;
    int            at = 1;
    for (int step = 0; step < 2 * WORDS - 1; step++) { /* once with the key, then without */
        bool     has_key = step < WORDS;
        uint32_t last = words[at - 1], mixed = last ^ (last >> 30);
        uint32_t more = has_key ? key[step % length] + (uint32_t)(step % length) : -(uint32_t)at;
        words[at] = (words[at] ^ (mixed * (has_key ? 1664525u : 1566083941u))) + more;
        if (++at == WORDS) {
            words[0] = words[WORDS - 1];
            at = 1;
        }
    }
    words[0] = 0x80000000u;
    return twister;
}

static void refill(MerTwister *twister)
{
    uint32_t *words = twister->words;
    for (int i = 0; i < WORDS; i++) {
        uint32_t joined = (words[i] & 0x80000000u) | (words[(i + 1) % WORDS] & 0x7fffffffu);
        words[i] = words[(i + MIDDLE) % WORDS] ^ (joined >> 1) ^ (joined & 1 ? 0x9908b0dfu : 0);
    }
    twister->used = 0;
}

static uint32_t next_word(MerTwister *twister)
{
    if (twister->used == WORDS) {
        refill(twister);
    }
    uint32_t word = twister->words[twister->used++];
    word ^= word >> 11;
    word ^= (word << 7) & 0x9d2c5680u;
    word ^= (word << 15) & 0xefc60000u;
    return word ^ (word >> 18);
}

double mer_twister_unit(MerTwister *twister)
{
    uint32_t high = next_word(twister) >> 5;
    uint32_t low = next_word(twister) >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
}

static int bit_length(uint32_t n)
{
    int length = 0;
    for (; n; n >>= 1) {
        length++;
    }
    return length;
}

/* The highest bits of a word, as many as n has, until they are below n. */
int mer_twister_python_below(MerTwister *twister, int n)
{
    int      shift = 32 - bit_length((uint32_t)n);
    uint32_t drawn;
    do {
        drawn = next_word(twister) >> shift;
    } while (drawn >= (uint32_t)n);
    return (int)drawn;
}

/* The lowest bits of a word, as many as n - 1 has; nothing is drawn where there is no choice. */
int mer_twister_numpy_below(MerTwister *twister, int n)
{
    if (n == 1) {
        return 0;
    }
    uint32_t mask = UINT32_MAX >> (32 - bit_length((uint32_t)n - 1));
    uint32_t drawn;
    do {
        drawn = next_word(twister) & mask;
    } while (drawn >= (uint32_t)n);
    return (int)drawn;
}

/* The first place whose share of the running sum is above a draw. */
static int place_of(double draw, const double *sums, int count)
{
    int low = 0;
    int high = count - 1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (sums[middle] / sums[count - 1] <= draw) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The same if what stands at `taken` weighed nothing. */
static int place_beside(double draw, const double *weights, int count, int taken)
{
    double whole = 0;
    double sum = 0;
    int    place = 0;
    for (int i = 0; i < count; i++) {
        whole += i == taken ? 0 : weights[i];
    }
    for (; place < count - 1; place++) {
        sum += place == taken ? 0 : weights[place];
        if (sum / whole > draw) {
            break;
        }
    }
    return place;
}

/* Two draws at once; if they agree, the second is drawn again without what the first took. */
void mer_twister_choose_pair(MerTwister *twister, const double *weights, const double *sums,
                             int count, int pair[2])
{
    double first = mer_twister_unit(twister);
    double second = mer_twister_unit(twister);
    pair[0] = place_of(first, sums, count);
    pair[1] = place_of(second, sums, count);
    if (pair[0] == pair[1]) {
        pair[1] = place_beside(mer_twister_unit(twister), weights, count, pair[0]);
    }
}

/* Eight partial sums up to 128 values, halves of them (at a multiple of eight) beyond. */
double mer_numpy_sum(const double *values, int count)
{
    double sum = 0;
    int    i = 0;
    if (count > 128) {
        int half = count / 2 - count / 2 % 8;
        return mer_numpy_sum(values, half) + mer_numpy_sum(values + half, count - half);
    }
    if (count >= 8) {
        double part[8];
        memcpy(part, values, sizeof part);
        for (i = 8; i + 8 <= count; i += 8) {
            for (int p = 0; p < 8; p++) {
                part[p] += values[i + p];
            }
        }
        sum = ((part[0] + part[1]) + (part[2] + part[3])) +
              ((part[4] + part[5]) + (part[6] + part[7]));
    }
    for (; i < count; i++) {
        sum += values[i];
    }
    return sum;
}

static void swap(int *a, int *b)
{
    int kept = *a;
    *a = *b;
    *b = kept;
}

static void sort_by_insertion(const double *keys, int *order, int low, int high)
{
    for (int i = low + 1; i <= high; i++) {
        int moved = order[i];
        int at = i;
        for (; at > low && keys[moved] < keys[order[at - 1]]; at--) {
            order[at] = order[at - 1];
        }
        order[at] = moved;
    }
}

/* Lets `moved` sink from heap place `at` (the first is 1) among `count`. */
static void sink(const double *keys, int *heap, int count, int at, int moved)
{
    for (int child = 2 * at; child <= count; child = 2 * at) {
        child += child < count && keys[heap[child - 1]] < keys[heap[child]];
        if (!(keys[moved] < keys[heap[child - 1]])) {
            break;
        }
        heap[at - 1] = heap[child - 1];
        at = child;
    }
    heap[at - 1] = moved;
}

static void sort_by_heap(const double *keys, int *heap, int count)
{
    for (int at = count / 2; at > 0; at--) {
        sink(keys, heap, count, at, heap[at - 1]);
    }
    while (count > 1) {
        int moved = heap[count - 1];
        heap[count - 1] = heap[0];
        sink(keys, heap, --count, 1, moved);
    }
}

/* Splits by the median of first, middle and last, which ends at the place given back. */
static int split(const double *keys, int *order, int low, int high)
{
    int middle = low + (high - low) / 2;
    if (keys[order[middle]] < keys[order[low]]) {
        swap(&order[middle], &order[low]);
    }
    if (keys[order[high]] < keys[order[middle]]) {
        swap(&order[high], &order[middle]);
    }
    if (keys[order[middle]] < keys[order[low]]) {
        swap(&order[middle], &order[low]);
    }
    double pivot = keys[order[middle]];
    int    left = low;
    int    right = high - 1;
    swap(&order[middle], &order[right]);
    for (;;) {
        do {
            left++;
        } while (keys[order[left]] < pivot);
        do {
            right--;
        } while (pivot < keys[order[right]]);
        if (left >= right) {
            break;
        }
        swap(&order[left], &order[right]);
    }
    swap(&order[left], &order[high - 1]);
    return left;
}

/* After `depth` splits one in another the longer part goes to a heap; the shorter one is split on. The parts share
 * nothing, so which is sorted first does not matter. */
static void sort_part(const double *keys, int *order, int low, int high, int depth)
{
    if (depth < 0) {
        sort_by_heap(keys, order + low, high - low + 1);
        return;
    }
    while (high - low > 15) {
        int at = split(keys, order, low, high);
        depth--;
        if (at - low < high - at) {
            sort_part(keys, order, at + 1, high, depth);
            high = at - 1;
        } else {
            sort_part(keys, order, low, at - 1, depth);
            low = at + 1;
        }
    }
    sort_by_insertion(keys, order, low, high);
}

void mer_numpy_argsort(const double *keys, int count, int *order)
{
    for (int i = 0; i < count; i++) {
        order[i] = i;
    }
    sort_part(keys, order, 0, count - 1, 2 * (bit_length((uint32_t)count) - 1));
}
