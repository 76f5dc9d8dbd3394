# METIS (Apache-2.0) and Scotch (CeCILL-C), graph partitioners that `place` offers as solvers of their names. Neither has to be
# there: without them the solvers say that they are not built in. Linked dynamically. Debian: libmetis-dev, libscotch-dev.
set(partitioner_libraries "")
set(partitioner_flags "") # for mercator.pc

find_path(METIS_INCLUDE_DIR metis.h)
find_library(METIS_LIBRARY metis)
if(METIS_INCLUDE_DIR AND METIS_LIBRARY)
    set_source_files_properties(src/place/solve/partition_metis.c PROPERTIES
        COMPILE_DEFINITIONS MERCATOR_METIS INCLUDE_DIRECTORIES "${METIS_INCLUDE_DIR}")
    list(APPEND partitioner_libraries "${METIS_LIBRARY}")
    string(APPEND partitioner_flags " -lmetis")
endif()

# libscotcherr only reports errors; the library wants one of two that do.
find_path(SCOTCH_INCLUDE_DIR scotch.h PATH_SUFFIXES scotch)
find_library(SCOTCH_LIBRARY scotch)
find_library(SCOTCH_ERROR_LIBRARY scotcherr)
if(SCOTCH_INCLUDE_DIR AND SCOTCH_LIBRARY AND SCOTCH_ERROR_LIBRARY)
    set_source_files_properties(src/place/solve/partition_scotch.c PROPERTIES
        COMPILE_DEFINITIONS MERCATOR_SCOTCH INCLUDE_DIRECTORIES "${SCOTCH_INCLUDE_DIR}")
    list(APPEND partitioner_libraries "${SCOTCH_LIBRARY}" "${SCOTCH_ERROR_LIBRARY}")
    string(APPEND partitioner_flags " -lscotch -lscotcherr")
endif()
