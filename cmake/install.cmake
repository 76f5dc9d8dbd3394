# What `cmake --install` lays down. The data folder's path is compiled into the library, so the
# prefix is chosen when configuring (`make install PREFIX=...` does that).
if(TARGET mercator)
    install(TARGETS mercator)
endif()
install(TARGETS ${libraries})
install(DIRECTORY include/mercator TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
install(DIRECTORY platforms DESTINATION "${CMAKE_INSTALL_DATADIR}/mercator")
install(DIRECTORY models DESTINATION "${CMAKE_INSTALL_DATADIR}/mercator")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES docs/mercator.1 DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
if(TARGET completion)
    install(FILES "${PROJECT_BINARY_DIR}/completion/mercator"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
    install(FILES "${PROJECT_BINARY_DIR}/completion/_mercator"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
endif()

file(RELATIVE_PATH pkgconfig_to_prefix
    "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
# As flags, not as Requires.private, by which --cflags would show the headers of these libraries, too.
list(JOIN FYAML_LDFLAGS " " private_flags)
foreach(name CJSON PROTOBUF_C CLP)
    list(JOIN ${name}_LDFLAGS " " flags)
    string(APPEND private_flags " ${flags}")
endforeach()
# Not by openblas.pc, which asks for the Fortran compiler's library that only a static OpenBLAS needs.
list(JOIN OPENBLAS_LDFLAGS " " openblas_flags)
configure_file(cmake/mercator.pc.in mercator.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/mercator.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# The dynamic linker's cache, where it covers the folder of the library.
if(MERCATOR_SHARED)
    install(CODE "set(libdir \"${CMAKE_INSTALL_LIBDIR}\")")
    install(SCRIPT cmake/ldconfig.cmake)
endif()
