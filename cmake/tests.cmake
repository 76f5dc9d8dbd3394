# Tests and benchmarks, found by name:
#   tests/{unit,property,golden}/test_*.c  one cmocka program and one ctest entry each
#   tests/cli/*.sh                         one entry each; MERCATOR is the program's path
#   tests/fuzz/fuzz_*.c                    replays tests/fuzz/corpus/<name>/
#   tests/faults/*.sh                      one entry each, over commands whose calls fail (fault_shim.c)
#   bench/bench_*.c                        one program each, target `bench`
# Every test runs in an empty folder of its own (tests/run_test.sh). Exit code 77 means skipped.
get_filename_component(shared_dir "${PROJECT_SOURCE_DIR}/../shared" ABSOLUTE)
set(run_test sh "${PROJECT_SOURCE_DIR}/tests/run_test.sh")

add_library(mercator-test-flags INTERFACE)
target_include_directories(mercator-test-flags INTERFACE src tests)
target_include_directories(mercator-test-flags SYSTEM INTERFACE
    $<TARGET_PROPERTY:mercator-onnx-proto,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_definitions(mercator-test-flags INTERFACE
    MERCATOR_SOURCE_DIR="${PROJECT_SOURCE_DIR}" MERCATOR_SHARED_DIR="${shared_dir}")
target_link_libraries(mercator-test-flags INTERFACE
    mercator-flags mercator-static PkgConfig::FYAML PkgConfig::CJSON PkgConfig::PROTOBUF_C Mercator::dnnl Mercator::xgboost
    Threads::Threads m)

# What a test that compiles against the static library must add.
set(test_flag "")
set(test_timeout 600)
if(MERCATOR_SANITIZE)
    set(test_flag "-fsanitize=${MERCATOR_SANITIZE}")
    set(test_timeout 3600) # sanitizers make programs up to twenty times slower
elseif(MERCATOR_COVERAGE)
    set(test_flag "--coverage")
endif()

function(mercator_test name label)
    add_test(NAME ${label}/${name} COMMAND ${run_test} ${ARGN})
    set_tests_properties(${label}/${name} PROPERTIES
        LABELS ${label} SKIP_RETURN_CODE 77 TIMEOUT ${test_timeout}
        ENVIRONMENT "MERCATOR=$<$<TARGET_EXISTS:mercator>:$<TARGET_FILE:mercator>>;MERCATOR_SOURCE_DIR=${PROJECT_SOURCE_DIR};MERCATOR_BUILD_DIR=${PROJECT_BINARY_DIR};MERCATOR_SHARED=${shared_dir};MERCATOR_TEST_FLAGS=${test_flag};CC=${CMAKE_C_COMPILER}")
endfunction()

function(mercator_test_program target folder)
    add_executable(${target} ${ARGN})
    set_target_properties(${target} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${folder}")
    target_link_libraries(${target} PRIVATE mercator-test-flags)
endfunction()

file(GLOB bench_sources CONFIGURE_DEPENDS bench/bench_*.c)
set(bench_targets)
foreach(source IN LISTS bench_sources)
    get_filename_component(target ${source} NAME_WE)
    mercator_test_program(${target} bench ${source})
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
    list(APPEND bench_targets ${target})
endforeach()
add_custom_target(bench DEPENDS ${bench_targets} ${programs})

# Only the tests need cmocka; without it the product still builds.
pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
option(MERCATOR_TESTS "Build the tests" ${CMOCKA_FOUND})
if(NOT MERCATOR_TESTS)
    return()
endif()
if(NOT CMOCKA_FOUND)
    message(FATAL_ERROR "The tests need cmocka (Debian: libcmocka-dev)")
endif()
enable_testing()

foreach(label unit property golden)
    file(GLOB sources CONFIGURE_DEPENDS tests/${label}/test_*.c)
    foreach(source IN LISTS sources)
        get_filename_component(program ${source} NAME_WE)
        string(REGEX REPLACE "^test_" "" name ${program})
        mercator_test_program(${label}_${program} tests/${label} ${source})
        set_target_properties(${label}_${program} PROPERTIES OUTPUT_NAME ${program})
        target_link_libraries(${label}_${program} PRIVATE PkgConfig::CMOCKA)
        mercator_test(${name} ${label} $<TARGET_FILE:${label}_${program}>)
    endforeach()
endforeach()

# The problem of docs/how-to-add-a-problem.md is one of every problem.
target_sources(property_test_every_problem PRIVATE tests/example/assign.c)

file(GLOB scripts CONFIGURE_DEPENDS tests/cli/*.sh)
foreach(script IN LISTS scripts)
    get_filename_component(name ${script} NAME_WE)
    mercator_test(${name} cli sh "${script}")
endforeach()

file(GLOB fuzzers CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
foreach(source IN LISTS fuzzers)
    get_filename_component(program ${source} NAME_WE)
    string(REGEX REPLACE "^fuzz_" "" name ${program})
    mercator_test_program(replay_${name} tests/fuzz ${source} tests/fuzz/replay.c)
    mercator_test(${name} fuzz-replay
        $<TARGET_FILE:replay_${name}> "${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name}")
endforeach()

# Loaded before the program: with our warnings, without the sanitizers of our other targets.
add_library(fault_shim SHARED tests/faults/fault_shim.c)
set_target_properties(fault_shim PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/faults")
target_compile_options(fault_shim PRIVATE -Wall -Wextra -Wpedantic $<$<BOOL:${MERCATOR_WERROR}>:-Werror>)
target_link_libraries(fault_shim PRIVATE ${CMAKE_DL_LIBS})
file(GLOB scripts CONFIGURE_DEPENDS tests/faults/*.sh)
foreach(script IN LISTS scripts)
    get_filename_component(name ${script} NAME_WE)
    mercator_test(${name} faults sh "${script}")
    set_tests_properties(faults/${name} PROPERTIES TIMEOUT 1800)
endforeach()
