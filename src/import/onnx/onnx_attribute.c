/* Attributes of nodes by name and type. Inside an inlined function an attribute may refer to one of
 * the call (ref_attr_name). */
#include "import/onnx/onnx.h"

#include <string.h>

enum {
    TYPE_FLOAT = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT,
    TYPE_INT = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT,
    TYPE_STRING = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING,
    TYPE_TENSOR = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR,
    TYPE_GRAPH = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH,
    TYPE_FLOATS = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS,
    TYPE_INTS = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS
};

static const Onnx__AttributeProto *find(const Onnx__NodeProto *node, const char *name)
{
    for (size_t i = 0; i < node->n_attribute; i++) {
        const Onnx__AttributeProto *attribute = node->attribute[i];
        if (attribute->name != NULL && strcmp(attribute->name, name) == 0)
            return attribute;
    }
    return NULL;
}

const Onnx__AttributeProto *mer_onnx_attribute(const OnnxNode *node, const char *name)
{
    const Onnx__AttributeProto *attribute = find(node->proto, name);
    const OnnxFrame            *frame = node->context->frame;
    while (attribute != NULL && attribute->ref_attr_name != NULL &&
           attribute->ref_attr_name[0] != '\0') {
        if (frame == NULL)
            return NULL;
        attribute = find(frame->call, attribute->ref_attr_name);
        frame = frame->parent;
    }
    return attribute;
}

bool mer_onnx_has(const OnnxNode *node, const char *name)
{
    return mer_onnx_attribute(node, name) != NULL;
}

static const char *type_name(int type)
{
    static const char *const names[] = {
        "of no type",        "a float",           "an integer",       "a string",
        "a tensor",          "a graph",           "a list of floats", "a list of integers",
        "a list of strings", "a list of tensors", "a list of graphs"};
    return type >= 0 && type < (int)(sizeof names / sizeof *names) ? names[type]
                                                                   : "of another type";
}

/* Files older than IR version 2 leave the type out: then the field that is filled counts. */
static int type_of(const Onnx__AttributeProto *attribute)
{
    if (attribute->has_type && attribute->type != 0)
        return (int)attribute->type;
    return attribute->n_ints > 0     ? TYPE_INTS
           : attribute->n_floats > 0 ? TYPE_FLOATS
           : attribute->has_i        ? TYPE_INT
           : attribute->has_f        ? TYPE_FLOAT
           : attribute->has_s        ? TYPE_STRING
           : attribute->t != NULL    ? TYPE_TENSOR
           : attribute->g != NULL    ? TYPE_GRAPH
                                     : 0;
}

/* The attribute if it is there and of that type. A list without elements may have no type. */
static const Onnx__AttributeProto *typed(OnnxNode *node, const char *name, int type)
{
    const Onnx__AttributeProto *attribute = mer_onnx_attribute(node, name);
    if (attribute == NULL)
        return NULL;
    int  found = type_of(attribute);
    bool is_list = type == TYPE_INTS || type == TYPE_FLOATS;
    if (found == type || (found == 0 && is_list))
        return attribute;
    mer_onnx_fail(node, "attribute %s is %s, expected %s", name, type_name(found), type_name(type));
    return NULL;
}

int64_t mer_onnx_int(OnnxNode *node, const char *name, int64_t fallback)
{
    const Onnx__AttributeProto *attribute = typed(node, name, TYPE_INT);
    return attribute != NULL ? attribute->i : fallback;
}

int64_t mer_onnx_required_int(OnnxNode *node, const char *name)
{
    if (!mer_onnx_has(node, name))
        mer_onnx_fail(node, "attribute %s is missing", name);
    return mer_onnx_int(node, name, 0);
}

double mer_onnx_real(OnnxNode *node, const char *name, double fallback)
{
    const Onnx__AttributeProto *attribute = typed(node, name, TYPE_FLOAT);
    return attribute != NULL ? (double)attribute->f : fallback;
}

const char *mer_onnx_text(OnnxNode *node, const char *name, const char *fallback)
{
    const Onnx__AttributeProto *attribute = typed(node, name, TYPE_STRING);
    if (attribute == NULL)
        return fallback;
    return mer_onnx_clean(node->context,
                          mer_arena_text_n(node->context->scratch, (const char *)attribute->s.data,
                                           attribute->s.len));
}

const Onnx__GraphProto *mer_onnx_subgraph(OnnxNode *node, const char *name)
{
    const Onnx__AttributeProto *attribute = typed(node, name, TYPE_GRAPH);
    if (attribute == NULL || attribute->g == NULL) {
        mer_onnx_fail(node, "attribute %s is missing, expected a graph", name);
        return NULL;
    }
    return attribute->g;
}

OnnxInts mer_onnx_ints(OnnxNode *node, const char *name)
{
    const Onnx__AttributeProto *attribute = typed(node, name, TYPE_INTS);
    if (attribute != NULL && attribute->n_ints <= ONNX_MAX_CONTENT)
        return (OnnxInts){(int)attribute->n_ints, attribute->ints};
    if (attribute != NULL)
        mer_onnx_fail(node, "attribute %s has %zu elements, expected at most %d", name,
                      attribute->n_ints, ONNX_MAX_CONTENT);
    return (OnnxInts){-1, NULL};
}

int mer_onnx_reals(OnnxNode *node, const char *name, const float **reals)
{
    const Onnx__AttributeProto *attribute = typed(node, name, TYPE_FLOATS);
    *reals = NULL;
    if (attribute == NULL)
        return -1;
    *reals = attribute->floats;
    return attribute->n_floats > ONNX_MAX_CONTENT ? ONNX_MAX_CONTENT : (int)attribute->n_floats;
}
