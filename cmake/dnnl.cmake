# oneDNN 2.x, the kernels of src/tensor. Its package has no pkg-config file. Its threads come from libgomp,
# which src/tensor/dnnl_kernel.c asks for one.
find_path(DNNL_INCLUDE_DIR dnnl.h)
find_library(DNNL_LIBRARY dnnl)
if(NOT DNNL_INCLUDE_DIR OR NOT DNNL_LIBRARY)
    message(FATAL_ERROR "oneDNN (dnnl.h and libdnnl) was not found; Debian: apt install libdnnl-dev")
endif()
file(STRINGS "${DNNL_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h" dnnl_version
    REGEX "#define DNNL_VERSION_MAJOR" LIMIT_COUNT 1)
if(NOT dnnl_version MATCHES " 2$")
    message(FATAL_ERROR "oneDNN 2.x is needed, found \"${dnnl_version}\" in ${DNNL_INCLUDE_DIR}; Debian 12: libdnnl-dev")
endif()

add_library(Mercator::dnnl INTERFACE IMPORTED)
set_target_properties(Mercator::dnnl PROPERTIES
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${DNNL_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${DNNL_LIBRARY};gomp")
