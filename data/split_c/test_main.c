/* Replays the inputs of golden.bin and compares every logit: 0 if all are equal, 1 if not, 2 if the file cannot be used.
 *
 * The file: "MSG1", then numbers of 4 bytes, the lowest first: images, random inputs, bytes of an input, classes; then for each image
 * its bytes and its logits, then the logits of the random inputs, which are made here. */
#include "network.h"

#include <stdio.h>
#include <string.h>

static uint8_t input[NETWORK_INPUT_BYTES];
static int32_t logits[NETWORK_CLASSES], expected[NETWORK_CLASSES];

static int read_number(FILE *file, uint32_t *number)
{
    uint8_t bytes[4];
    if (fread(bytes, 1, 4, file) != 4) {
        return 0;
    }
    *number =
        bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    return 1;
}

static int read_logits(FILE *file)
{
    for (int c = 0; c < NETWORK_CLASSES; c++) {
        uint32_t number;
        if (!read_number(file, &number)) {
            return 0;
        }
        expected[c] = number < 0x80000000u ? (int32_t)number : -1 - (int32_t)(0xffffffffu - number);
    }
    return 1;
}

/* Bytes 0 .. 127 by a xorshift generator that starts with the number of the input. */
static void make_input(uint32_t number)
{
    uint32_t state = (number + 1) * 2654435761u | 1u;
    for (int i = 0; i < NETWORK_INPUT_BYTES; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        input[i] = (uint8_t)(state >> 25);
    }
}

static uint32_t count_wrong(uint32_t number)
{
    uint32_t wrong = 0;
    network_run(input, logits);
    for (int c = 0; c < NETWORK_CLASSES; c++) {
        if (logits[c] != expected[c]) {
            if (wrong == 0) {
                fprintf(stderr, "input %lu, class %d: %ld, expected %ld\n", (unsigned long)number,
                        c, (long)logits[c], (long)expected[c]);
            }
            wrong++;
        }
    }
    return wrong;
}

static int replay(FILE *file, const char *path)
{
    char     magic[4];
    uint32_t images, randoms, bytes, classes, wrong = 0;
    if (fread(magic, 1, 4, file) != 4 || memcmp(magic, "MSG1", 4) != 0 ||
        !read_number(file, &images) || !read_number(file, &randoms) || !read_number(file, &bytes) ||
        !read_number(file, &classes) || bytes != NETWORK_INPUT_BYTES ||
        classes != NETWORK_CLASSES) {
        fprintf(stderr, "%s is not made for this network\n", path);
        return 2;
    }
    for (uint32_t i = 0; i < images + randoms; i++) {
        make_input(i);
        if ((i < images && fread(input, 1, sizeof input, file) != sizeof input) ||
            !read_logits(file)) {
            fprintf(stderr, "%s ends at input %lu of %lu\n", path, (unsigned long)i,
                    (unsigned long)(images + randoms));
            return 2;
        }
        wrong += count_wrong(i) > 0;
    }
    printf("%s: %lu images and %lu random inputs, %lu differ\n", NETWORK_NAME,
           (unsigned long)images, (unsigned long)randoms, (unsigned long)wrong);
    return wrong > 0;
}

int main(int count, char **arguments)
{
    const char *path = count > 1 ? arguments[1] : "golden.bin";
    FILE       *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "%s cannot be read, expected golden.bin\n", path);
        return 2;
    }
    int code = replay(file, path);
    fclose(file);
    return code;
}
