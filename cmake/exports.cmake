# mercator_exports(FILE HEADER...): writes a linker version script that shows what the public headers declare and
# hides everything else. Functions and `extern` data are found in the text of the headers, so nobody keeps a list;
# a declaration that only a macro makes is not found, and tests/cli/exports.sh would say so.
function(mercator_exports file)
    set(names)
    foreach(header IN LISTS ARGN)
        file(READ "${header}" text)
        # Leaves declarations alone: comments, then directives with their continuations, then bodies go.
        string(REGEX REPLACE "/[*]([^*]|[*]+[^*/])*[*]+/" " " text "${text}")
        string(REGEX REPLACE "//[^\n]*" " " text "${text}")
        string(REGEX REPLACE "\\\\\n" " " text "${text}")
        string(REGEX REPLACE "(^|\n)[ \t]*#[^\n]*" "\n" text "${text}")
        string(REGEX REPLACE "extern[ \t]+\"C\"[ \t\n]*{" " " text "${text}")
        set(before)
        while(NOT before STREQUAL text)
            set(before "${text}")
            string(REGEX REPLACE "{[^{}]*}" ";" text "${text}") # what follows a body is another declaration
        endwhile()
        # One declaration per line. Brackets mean something to CMake's lists and nothing here.
        string(REGEX REPLACE "[][ \t\n}]+" " " text "${text}")
        string(REPLACE ";" "\n" text "${text}")
        string(REGEX MATCHALL "[^\n]+" declarations "${text}")
        foreach(declaration IN LISTS declarations)
            if(declaration MATCHES "^ ?(typedef|static) ")
                continue()
            elseif(declaration MATCHES "[ *](mer_[a-z0-9_]+) ?[(]") # a function; behind it stand its parameters
                list(APPEND names ${CMAKE_MATCH_1})
            elseif(declaration MATCHES "^ ?extern ")
                string(REGEX MATCHALL "mer_[a-z0-9_]+" data "${declaration}")
                list(APPEND names ${data})
            endif()
        endforeach()
    endforeach()
    list(REMOVE_DUPLICATES names)
    list(SORT names)
    list(JOIN names ";\n        " names)
    file(CONFIGURE OUTPUT "${file}" CONTENT "{\n    global:\n        ${names};\n    local: *;\n};\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
endfunction()
