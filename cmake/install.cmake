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
if(manual_page)
    install(FILES "${manual_page}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
endif()

file(RELATIVE_PATH pkgconfig_to_prefix
    "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
# Not by openblas.pc, which asks for the Fortran compiler's library that only a static OpenBLAS needs.
list(JOIN OPENBLAS_LDFLAGS " " openblas_flags)
configure_file(cmake/mercator.pc.in mercator.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/mercator.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
