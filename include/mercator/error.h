/* What a call that can fail gives back: a status, and one line for the user.
 *
 *     MerError error = {0};
 *     if (mer_graph_import("net.onnx", NULL, arena, &graph, &error) != MER_OK)
 *         fprintf(stderr, "%s\n", error.message);
 *
 * The message says where in the input, what was found and what was expected:
 * `platforms/edge.yaml:14:12: units[0].lanes is -4, expected an integer >= 1`. */
#ifndef MERCATOR_ERROR_H
#define MERCATOR_ERROR_H

#define MER_STATUS_MAP(X)                                                                          \
    X(OK, "ok")                                                                                    \
    X(INVALID, "invalid input")                                                                    \
    X(UNSUPPORTED, "not supported")                                                                \
    X(NOT_FOUND, "not found")                                                                      \
    X(NO_MEMORY, "out of memory")                                                                  \
    X(IO, "input or output failed")                                                                \
    X(CANCELLED, "cancelled")

typedef enum MerStatus {
#define X(id, text) MER_##id,
    MER_STATUS_MAP(X)
#undef X
} MerStatus;

typedef struct MerError {
    MerStatus status;
    char      message[600];
} MerError;

/* Fills `error` (NULL is fine) and returns `status`, so that it can end a function:
 * `return mer_error_set(error, MER_INVALID, "%s is empty", path);` */
MerStatus mer_error_set(MerError *error, MerStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

const char *mer_status_name(MerStatus status);

/* Hands a failure on to the caller: for functions that are chains of steps that may fail. */
#define MER_TRY(call)                                                                              \
    do {                                                                                           \
        MerStatus status_ = (call);                                                                \
        if (status_ != MER_OK) {                                                                   \
            return status_;                                                                        \
        }                                                                                          \
    } while (0)

#endif
