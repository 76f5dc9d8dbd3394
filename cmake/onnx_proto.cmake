# Target mercator-onnx-proto: onnx.proto, as libonnx-dev installs it, compiled by protoc-c.
# Its interface include directory holds onnx.pb-c.h. Generated code is not held to our warnings.
find_path(ONNX_PROTO_DIR onnx/onnx.proto)
find_program(PROTOC_C protoc-c)
if(NOT ONNX_PROTO_DIR)
    message(FATAL_ERROR "onnx/onnx.proto is missing, expected in the include path "
        "(Debian: apt-get install libonnx-dev)")
endif()
if(NOT PROTOC_C)
    message(FATAL_ERROR "protoc-c is missing (Debian: apt-get install protobuf-c-compiler)")
endif()

set(onnx_generated "${PROJECT_BINARY_DIR}/onnx-proto")
file(MAKE_DIRECTORY "${onnx_generated}")
add_custom_command(
    OUTPUT "${onnx_generated}/onnx.pb-c.c" "${onnx_generated}/onnx.pb-c.h"
    COMMAND "${PROTOC_C}" "--proto_path=${ONNX_PROTO_DIR}/onnx" "--c_out=${onnx_generated}"
        "${ONNX_PROTO_DIR}/onnx/onnx.proto"
    DEPENDS "${ONNX_PROTO_DIR}/onnx/onnx.proto"
    VERBATIM COMMENT "Generating onnx.pb-c.c")

add_library(mercator-onnx-proto OBJECT
    "${onnx_generated}/onnx.pb-c.c" "${onnx_generated}/onnx.pb-c.h")
target_include_directories(mercator-onnx-proto SYSTEM PUBLIC "${onnx_generated}")
target_link_libraries(mercator-onnx-proto PUBLIC PkgConfig::PROTOBUF_C)
# Tests build models with the generated structs.
include_directories(SYSTEM "${onnx_generated}")
if(sanitize_flags)
    target_compile_options(mercator-onnx-proto PRIVATE ${sanitize_flags})
endif()
