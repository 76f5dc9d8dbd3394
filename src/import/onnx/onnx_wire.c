/* A look over the bytes of a protobuf message before protobuf-c unpacks it, driven by protobuf-c's
 * own descriptors: broken fields are reported with their byte offset, nesting is limited (unpacking
 * recurses), and so is the memory that many tiny messages would unpack to. */
#include "import/onnx/onnx.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum { WIRE_VARINT = 0, WIRE_64BIT = 1, WIRE_BYTES = 2, WIRE_32BIT = 5 };

/* Memory beside the raw bytes themselves: messages, pointers, lists of integers. */
#define MAX_OVERHEAD_BYTES (INT64_C(1) << 30)

typedef struct Level {
    const ProtobufCMessageDescriptor *message;
    size_t                            end;
    uint64_t                          seen; /* singular fields that occurred, by their index */
} Level;

typedef struct Scanner {
    const uint8_t *data;
    size_t         at;
    const char    *path;
    int64_t        overhead;
    int            depth;
    Level          levels[ONNX_MAX_MESSAGE_DEPTH];
    MerError      *error;
} Scanner;

/* `FILE: byte START: ` and the text; returns false. */
__attribute__((format(printf, 3, 4))) static bool fail(const Scanner *scanner, size_t start,
                                                       const char *format, ...)
{
    char    text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    mer_error_set(scanner->error, MER_INVALID, "%s: byte %zu: %s", scanner->path, start, text);
    return false;
}

/* False if the number is longer than 10 bytes or runs past `end`. */
static bool read_varint(const uint8_t *data, size_t end, size_t *at, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        if (*at >= end)
            return false;
        uint8_t byte = data[(*at)++];
        if (shift < 64)
            *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static int wire_type_of(const ProtobufCFieldDescriptor *field)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
        return WIRE_BYTES;
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
        return WIRE_32BIT;
    case PROTOBUF_C_TYPE_DOUBLE:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
        return WIRE_64BIT;
    default:
        return WIRE_VARINT;
    }
}

static bool fits_field(const ProtobufCFieldDescriptor *field, int wire_type)
{
    int  expected = wire_type_of(field);
    bool is_packed = wire_type == WIRE_BYTES && field->label == PROTOBUF_C_LABEL_REPEATED;
    return wire_type == expected || is_packed;
}

/* Elements of a packed list of numbers, -1 if it is broken. */
static int64_t count_packed(const uint8_t *data, size_t length, int wire_type)
{
    size_t width = wire_type == WIRE_64BIT ? 8 : 4;
    if (wire_type != WIRE_VARINT)
        return length % width == 0 ? (int64_t)(length / width) : -1;
    int64_t count = 0;
    size_t  run = 0;
    for (size_t i = 0; i < length; i++) {
        run = data[i] < 0x80 ? 0 : run + 1;
        count += data[i] < 0x80;
        if (run >= 10)
            return -1;
    }
    return run == 0 ? count : -1;
}

static bool enter(Scanner *scanner, const ProtobufCFieldDescriptor *field, size_t end, size_t start)
{
    if (scanner->depth == ONNX_MAX_MESSAGE_DEPTH)
        return fail(scanner, start, "messages are nested deeper than %d levels",
                    ONNX_MAX_MESSAGE_DEPTH);
    const ProtobufCMessageDescriptor *message = field->descriptor;
    scanner->overhead += (int64_t)message->sizeof_message;
    scanner->levels[scanner->depth++] = (Level){.message = message, .end = end};
    return true;
}

/* A length-delimited field: text, bytes, a packed list or a message. */
static bool scan_bytes(Scanner *scanner, const ProtobufCFieldDescriptor *field, size_t start)
{
    const Level *level = &scanner->levels[scanner->depth - 1];
    uint64_t     length;
    if (!read_varint(scanner->data, level->end, &scanner->at, &length) ||
        length > level->end - scanner->at)
        return fail(scanner, start,
                    "field %s runs past the end of its %s at byte %zu, is the file truncated?",
                    field != NULL ? field->name : "of unknown name", level->message->short_name,
                    level->end);
    size_t end = scanner->at + (size_t)length;
    if (field != NULL && field->type == PROTOBUF_C_TYPE_MESSAGE)
        return enter(scanner, field, end, start);
    if (field != NULL && wire_type_of(field) != WIRE_BYTES) {
        int64_t count =
            count_packed(scanner->data + scanner->at, (size_t)length, wire_type_of(field));
        if (count < 0)
            return fail(scanner, start, "the list %s is broken", field->name);
        scanner->overhead += 8 * count;
    }
    scanner->at = end;
    return true;
}

static bool skip_number(Scanner *scanner, int wire_type, size_t start)
{
    const Level *level = &scanner->levels[scanner->depth - 1];
    uint64_t     ignored;
    size_t       width = wire_type == WIRE_64BIT ? 8 : 4;
    bool         fits;
    if (wire_type == WIRE_VARINT) {
        fits = read_varint(scanner->data, level->end, &scanner->at, &ignored);
    } else {
        fits = level->end - scanner->at >= width;
        scanner->at += fits ? width : 0;
    }
    return fits ||
           fail(scanner, start, "a number of %s is cut off at byte %zu, is the file truncated?",
                level->message->short_name, level->end);
}

/* protobuf-c would merge a field that is given twice, which takes quadratic time. */
static bool note_field(Scanner *scanner, const ProtobufCFieldDescriptor *field, size_t start)
{
    Level *level = &scanner->levels[scanner->depth - 1];
    if (field->label == PROTOBUF_C_LABEL_REPEATED || field->type != PROTOBUF_C_TYPE_MESSAGE)
        return true;
    uint64_t bit = UINT64_C(1) << ((size_t)(field - level->message->fields) & 63);
    if ((level->seen & bit) != 0)
        return fail(scanner, start, "field %s of %s occurs twice, expected once", field->name,
                    level->message->short_name);
    level->seen |= bit;
    return true;
}

static bool scan_field(Scanner *scanner)
{
    const Level *level = &scanner->levels[scanner->depth - 1];
    size_t       start = scanner->at;
    uint64_t     tag;
    bool         is_tag = read_varint(scanner->data, level->end, &scanner->at, &tag);
    uint64_t     number = tag >> 3;
    int          wire_type = (int)(tag & 7);
    if (!is_tag || number == 0 || number > 536870911 || wire_type == 3 || wire_type == 4 ||
        wire_type > 5)
        return fail(scanner, start, "found 0x%02x, expected a field of %s (is this an ONNX file?)",
                    (unsigned)scanner->data[start], level->message->short_name);
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field(level->message, (unsigned)number);
    if (field != NULL && !fits_field(field, wire_type))
        return fail(scanner, start,
                    "field %s of %s has wire type %d, expected %d (is this an ONNX file?)",
                    field->name, level->message->short_name, wire_type, wire_type_of(field));
    if (field != NULL && !note_field(scanner, field, start))
        return false;
    scanner->overhead += 16;
    return wire_type == WIRE_BYTES ? scan_bytes(scanner, field, start)
                                   : skip_number(scanner, wire_type, start);
}

MerStatus mer_onnx_wire_check(const MerImportFile *file, MerError *error)
{
    Scanner scanner = {
        .data = (const uint8_t *)file->data, .path = file->path, .depth = 1, .error = error};
    scanner.levels[0] = (Level){.message = &onnx__model_proto__descriptor, .end = file->size};
    while (scanner.depth > 0) {
        if (scanner.at == scanner.levels[scanner.depth - 1].end) {
            scanner.depth--;
            continue;
        }
        bool is_right = scan_field(&scanner);
        if (is_right && scanner.overhead > MAX_OVERHEAD_BYTES)
            is_right = fail(&scanner, scanner.at,
                            "the model unpacks to more than %" PRId64 " bytes beside its weights",
                            MAX_OVERHEAD_BYTES);
        if (!is_right)
            return MER_INVALID;
    }
    return MER_OK;
}

/* An ONNX file is a run of well-typed fields of ModelProto with the graph among them. The graph may
 * be cut off: the reader then says where. */
bool mer_onnx_wire_probe(const MerImportFile *file)
{
    const uint8_t *data = (const uint8_t *)file->data;
    size_t         at = 0;
    while (at < file->size) {
        uint64_t tag, length = 0;
        if (!read_varint(data, file->size, &at, &tag))
            return false;
        const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field(
            &onnx__model_proto__descriptor, (unsigned)(tag >> 3));
        int wire_type = (int)(tag & 7);
        if (field == NULL || !fits_field(field, wire_type) ||
            !read_varint(data, file->size, &at, &length))
            return false;
        if (field->id == 7)
            return true;
        if (wire_type == WIRE_BYTES && length > file->size - at)
            return false;
        at += wire_type == WIRE_BYTES ? (size_t)length : 0;
    }
    return false;
}
