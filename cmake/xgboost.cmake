# XGBoost's C library, which trains the boosted trees of src/learn/trees.c. Its package has no pkg-config
# file, and its CMake file wants a C++ compiler.
find_path(XGBOOST_INCLUDE_DIR xgboost/c_api.h)
find_library(XGBOOST_LIBRARY xgboost)
if(NOT XGBOOST_INCLUDE_DIR OR NOT XGBOOST_LIBRARY)
    message(FATAL_ERROR "XGBoost (xgboost/c_api.h and libxgboost) was not found; Debian: apt install libxgboost-dev")
endif()

add_library(Mercator::xgboost INTERFACE IMPORTED)
set_target_properties(Mercator::xgboost PROPERTIES
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${XGBOOST_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${XGBOOST_LIBRARY}")
