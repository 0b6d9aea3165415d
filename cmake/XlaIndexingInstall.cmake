# `cmake --install`: the library, its headers, print-indexing, and the package that
# find_package(xla_indexing) reads.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/xla_indexing")
install(TARGETS xla_indexing EXPORT xla_indexing-targets)
install(EXPORT xla_indexing-targets NAMESPACE xla_indexing:: DESTINATION "${package_dir}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/xla_indexing" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.h" PATTERN tools EXCLUDE)

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/xla_indexing-config.cmake.in"
  "${PROJECT_BINARY_DIR}/xla_indexing-config.cmake"
  INSTALL_DESTINATION "${package_dir}"
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/xla_indexing-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/xla_indexing-config.cmake"
  "${PROJECT_BINARY_DIR}/xla_indexing-config-version.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/XlaIndexingMLIR.cmake"
  DESTINATION "${package_dir}")
