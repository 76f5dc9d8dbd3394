/* Named tensors that outlive a step. */
#include "base/memory.h"
#include "mercator/arena.h"
#include "tensor/tape.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct Entry {
    const char *name;
    MerTensor  *tensor; /* its own memory, so that pointers stay when the list grows */
} Entry;

struct MerParameters {
    MerArena *arena; /* of all but the numbers */
    Entry    *entries;
    int       count;
};

MerParameters *mer_parameters_new(void)
{
    MerArena      *arena = mer_arena_new();
    MerParameters *parameters = MER_NEW(arena, MerParameters);
    parameters->arena = arena;
    return parameters;
}

void mer_parameters_free(MerParameters *parameters)
{
    for (int i = 0; parameters != NULL && i < parameters->count; i++) {
        free(parameters->entries[i].tensor->data);
        free(parameters->entries[i].tensor->grad);
    }
    mer_arena_free(parameters != NULL ? parameters->arena : NULL);
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

MerTensor *mer_parameters_add_constant(MerParameters *parameters, const char *name, int rank,
                                       const int *shape)
{
    assert(mer_parameters_find(parameters, name) == NULL);
    assert(name[0] != '\0' && strpbrk(name, " \n") == NULL);
    MerTensor *tensor = MER_NEW(parameters->arena, MerTensor);
    tensor->is_parameter = true;
    mer_tensor_form(tensor, rank, shape);
    tensor->data = new_numbers(tensor->size);
    MER_GROW(parameters->arena, parameters->entries, parameters->count);
    parameters->entries[parameters->count++] =
        (Entry){mer_arena_text(parameters->arena, name), tensor};
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
