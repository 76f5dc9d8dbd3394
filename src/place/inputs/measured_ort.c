/* Times from the profile that ONNX Runtime writes (JSON, a list of events): those of category "Node" whose names end
 * in _kernel_time, with `dur` in us and the provider that ran them. */
#include "place/inputs/measured.h"

#include "base/json_read.h"

#include <stdlib.h>
#include <string.h>

#define ENDING "_kernel_time"

/* What the classes of units are called that a provider's kernels run on. */
static const struct {
    const char *provider, *class_name;
} providers[] = {
    {"CUDAExecutionProvider", "gpu"},     {"TensorrtExecutionProvider", "gpu"},
    {"ROCMExecutionProvider", "gpu"},     {"MIGraphXExecutionProvider", "gpu"},
    {"DmlExecutionProvider", "gpu"},      {"WebGpuExecutionProvider", "gpu"},
    {"OpenVINOExecutionProvider", "npu"}, {"QNNExecutionProvider", "npu"},
    {"NnapiExecutionProvider", "npu"},    {"CoreMLExecutionProvider", "npu"},
    {"VitisAIExecutionProvider", "npu"},
};

/* Hosts are the processor; another provider's class is found by its name, or is the only class of accelerators. */
static bool is_of_provider(const MerPlace *place, int unit, const char *provider)
{
    bool is_named = false, is_only = true;
    if (strcmp(provider, "CPUExecutionProvider") == 0 || place->is_host[unit]) {
        return strcmp(provider, "CPUExecutionProvider") == 0 && place->is_host[unit];
    }
    for (size_t i = 0; i < sizeof providers / sizeof *providers; i++) {
        if (strcmp(provider, providers[i].provider) == 0) {
            is_named = mer_unit_is_of_class(place, unit, providers[i].class_name);
        }
    }
    for (int u = 0; u < place->unit_count; u++) {
        is_only = is_only && (place->is_host[u] || place->unit_class[u] == place->unit_class[unit]);
    }
    return is_named || is_only;
}

static MerStatus fail_event(const MerMeasured *measured, int number, const char *what)
{
    return mer_error_set(measured->error, MER_INVALID, "%s: event %d (counted from 0) %s",
                         measured->path, number, what);
}

static MerStatus read_event(MerMeasured *measured, const cJSON *event, int number)
{
    const char *name = mer_json_get_text(event, "name", "");
    size_t      length = strlen(name), ending = strlen(ENDING);
    if (!cJSON_IsObject(event)) {
        return fail_event(measured, number, "is no object, expected one");
    }
    if (strcmp(mer_json_get_text(event, "cat", ""), "Node") != 0 || length <= ending ||
        strcmp(name + length - ending, ENDING) != 0) {
        return MER_OK;
    }
    double      time_us = mer_json_get_real(event, "dur", NAN);
    const char *provider = mer_json_get_text(mer_json_get(event, "args"), "provider", NULL);
    if (!(time_us >= 0 && time_us <= MER_MEASURED_MAX_US)) {
        return fail_event(measured, number,
                          "has no usable dur, expected microseconds in 0 .. 1e15");
    }
    if (!provider) {
        return fail_event(measured, number, "has no args.provider, expected a text");
    }
    const char *op = mer_arena_text_n(measured->scratch, name, length - ending);
    mer_measured_add(
        measured, op, provider, is_of_provider,
        (MerMeasuredRow){
            .time_us = time_us, .output_bytes = NAN, .weight_bytes = NAN, .workspace_bytes = NAN});
    return MER_OK;
}

static MerStatus read_events(MerMeasured *measured, const cJSON *root)
{
    const cJSON *events = cJSON_IsObject(root) ? mer_json_get(root, "traceEvents") : root;
    const cJSON *event;
    int          number = 0;
    if (!cJSON_IsArray(events)) {
        return mer_error_set(measured->error, MER_INVALID,
                             "%s: found no list of events, expected the profile of ONNX Runtime",
                             measured->path);
    }
    cJSON_ArrayForEach(event, events)
    {
        MER_TRY(read_event(measured, event, number++));
    }
    return MER_OK;
}

MerStatus mer_measured_ort(MerMeasured *measured, const char *data, size_t size)
{
    const char *end = data;
    cJSON      *root = cJSON_ParseWithLengthOpts(data, size, &end, false);
    if (!root) {
        int line = 1;
        for (const char *at = data; at < end && at < data + size; at++) {
            line += *at == '\n';
        }
        return mer_error_set(measured->error, MER_INVALID,
                             "%s:%d: this is no JSON from here on, expected a complete profile of "
                             "ONNX Runtime",
                             measured->path, line);
    }
    MerStatus status = read_events(measured, root);
    cJSON_Delete(root);
    return status;
}
