/* Named tensors that outlive a step. */
#include "base/memory.h"
#include "tensor/tape.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct Entry {
    char      *name;
    MerTensor *tensor; /* its own memory, so that pointers stay when the list grows */
} Entry;

struct MerParameters {
    Entry *entries;
    int    count, capacity;
};

MerParameters *mer_parameters_new(void)
{
    return mer_heap_zeroed(1, sizeof(MerParameters));
}

void mer_parameters_free(MerParameters *parameters)
{
    if (parameters == NULL) {
        return;
    }
    for (int i = 0; i < parameters->count; i++) {
        free(parameters->entries[i].tensor->data);
        free(parameters->entries[i].tensor->grad);
        free(parameters->entries[i].tensor);
        free(parameters->entries[i].name);
    }
    free(parameters->entries);
    free(parameters);
}

static float *new_numbers(int64_t count)
{
    size_t bytes = ((size_t)count * sizeof(float) + 63) / 64 * 64;
    float *numbers = aligned_alloc(64, bytes > 0 ? bytes : 64);
    if (numbers == NULL) {
        mer_out_of_memory(bytes);
    }
    memset(numbers, 0, bytes);
    return numbers;
}

static char *copy_name(const char *name)
{
    size_t length = strlen(name);
    assert(length > 0 && strcspn(name, " \n") == length);
    char *copy = mer_heap_zeroed(length + 1, 1);
    memcpy(copy, name, length);
    return copy;
}

MerTensor *mer_parameters_add_constant(MerParameters *parameters, const char *name, int rank,
                                       const int *shape)
{
    assert(mer_parameters_find(parameters, name) == NULL);
    if (parameters->count == parameters->capacity) {
        parameters->capacity = parameters->capacity == 0 ? 16 : 2 * parameters->capacity;
        parameters->entries =
            mer_heap_resize(parameters->entries, (size_t)parameters->capacity, sizeof(Entry));
    }
    MerTensor *tensor = mer_heap_zeroed(1, sizeof *tensor);
    tensor->is_parameter = true;
    mer_tensor_form(tensor, rank, shape);
    tensor->data = new_numbers(tensor->size);
    parameters->entries[parameters->count++] = (Entry){copy_name(name), tensor};
    return tensor;
}

MerTensor *mer_parameters_add(MerParameters *parameters, const char *name, int rank,
                              const int *shape)
{
    MerTensor *tensor = mer_parameters_add_constant(parameters, name, rank, shape);
    tensor->grad = new_numbers(tensor->size);
    tensor->needs_grad = true;
    return tensor;
}

int mer_parameters_count(const MerParameters *parameters)
{
    return parameters->count;
}

MerTensor *mer_parameters_get(const MerParameters *parameters, int index)
{
    assert(index >= 0 && index < parameters->count);
    return parameters->entries[index].tensor;
}

const char *mer_parameters_name(const MerParameters *parameters, int index)
{
    assert(index >= 0 && index < parameters->count);
    return parameters->entries[index].name;
}

MerTensor *mer_parameters_find(const MerParameters *parameters, const char *name)
{
    for (int i = 0; i < parameters->count; i++) {
        if (strcmp(parameters->entries[i].name, name) == 0) {
            return parameters->entries[i].tensor;
        }
    }
    return NULL;
}

void mer_parameters_clear(MerParameters *parameters)
{
    for (int i = 0; i < parameters->count; i++) {
        parameters->entries[i].tensor->has_grad = false;
    }
}

double mer_parameters_clip(MerTape *tape, MerParameters *parameters, double limit)
{
    return tape->backend.clip(tape, parameters, limit);
}
