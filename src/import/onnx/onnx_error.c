/* The first failure of an import: file, node, what is wrong. */
#include "import/onnx/onnx.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void set(OnnxContext *context, const char *where, const char *text)
{
    if (context->status != MER_OK)
        return;
    context->status =
        mer_error_set(context->error, MER_INVALID, "%s: %s%s", context->file->path, where, text);
}

void mer_onnx_fail_model(OnnxContext *context, const char *format, ...)
{
    char    text[500];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    set(context, "", text);
}

OnnxShape mer_onnx_fail(OnnxNode *node, const char *format, ...)
{
    char    text[400], where[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(where, sizeof where, "node \"%.120s\" (%.40s): ", node->name, node->op);
    set(node->context, where, text);
    return mer_onnx_unknown_shape;
}

bool mer_onnx_failed(const OnnxContext *context)
{
    return context->status != MER_OK;
}

const char *mer_onnx_clean(OnnxContext *context, const char *name)
{
    size_t size = strlen(name);
    char  *copy = mer_arena_text_n(context->scratch, name, size);
    for (size_t i = 0; i < size;) {
        int  length = mer_utf8_length(copy + i, size - i);
        bool is_control = length == 1 && ((unsigned char)copy[i] < 0x20 || copy[i] == 0x7f);
        if (length == 0 || is_control)
            copy[i] = '?';
        i += length > 1 ? (size_t)length : 1;
    }
    return copy;
}
