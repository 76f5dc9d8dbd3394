/* Names and the values they stand for, scope in scope. */
#include "import/onnx/onnx.h"

OnnxValue *mer_onnx_scope_find(const OnnxScope *scope, const char *name)
{
    for (; scope != NULL; scope = scope->parent) {
        OnnxValue *value = mer_name_table_find(&scope->values, name);
        if (value != NULL)
            return value;
    }
    return NULL;
}

OnnxScope *mer_onnx_scope_new(OnnxContext *context, const OnnxScope *parent)
{
    OnnxScope *scope = MER_NEW(context->scratch, OnnxScope);
    scope->parent = parent;
    scope->values.arena = context->scratch;
    scope->declared.arena = context->scratch;
    return scope;
}

void mer_onnx_define(OnnxContext *context, const char *name, OnnxValue *value)
{
    if (name == NULL || name[0] == '\0')
        return;
    if (mer_name_table_find(&context->scope->values, name) != NULL)
        mer_onnx_fail_model(context, "\"%.120s\" is defined twice, expected one producer",
                            mer_onnx_clean(context, name));
    mer_name_table_set(&context->scope->values, name, value);
}
