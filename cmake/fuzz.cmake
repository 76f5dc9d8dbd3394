# libFuzzer programs, one for each tests/fuzz/fuzz_*.c (clang; `make fuzz` runs them).
file(GLOB fuzzers CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
set(fuzz_targets)
foreach(source IN LISTS fuzzers)
    get_filename_component(target ${source} NAME_WE)
    add_executable(${target} ${source})
    set_target_properties(${target} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
    target_include_directories(${target} PRIVATE src tests)
    target_link_libraries(${target} PRIVATE mercator-flags mercator-static Threads::Threads m)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    list(APPEND fuzz_targets ${target})
endforeach()
add_custom_target(fuzzers DEPENDS ${fuzz_targets})
