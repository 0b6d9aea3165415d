# `cmake --install`: the library, its public headers, print-indexing, the documentation, and the packages
# that find_package(xla_indexing) and pkg-config read.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

get_property(XLA_INDEXING_LAYERS GLOBAL PROPERTY XLA_INDEXING_LAYERS)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/xla_indexing")
list(TRANSFORM XLA_INDEXING_LAYERS PREPEND xla_indexing_ OUTPUT_VARIABLE libraries)
install(TARGETS xla_indexing ${libraries} EXPORT xla_indexing-targets FILE_SET HEADERS)
install(EXPORT xla_indexing-targets NAMESPACE xla_indexing:: DESTINATION "${package_dir}")
if(TARGET print-indexing)
  install(TARGETS print-indexing)
endif()
install(FILES
  "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/BUILD.md"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

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
  "${PROJECT_SOURCE_DIR}/cmake/XlaIndexingAbseil.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/XlaIndexingMLIR.cmake"
  DESTINATION "${package_dir}")

# pkg-config knows no properties of programs: MLIR is linked shared where there is such a library, as
# archives otherwise.
function(xla_indexing_install_pkgconfig)
  set(directory "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  file(RELATIVE_PATH prefix_from_pkgconfig "/${directory}" "/")
  cmake_path(SET prefix_from_pkgconfig NORMALIZE "${prefix_from_pkgconfig}.")
  # A layer stands before those that it uses.
  set(libraries ${XLA_INDEXING_LAYERS})
  list(REMOVE_ITEM libraries lowering dialect linalg)
  list(REVERSE libraries)
  list(TRANSFORM libraries PREPEND "-lxla_indexing_")
  list(JOIN libraries " " libraries)
  string(REPLACE "absl::" "absl_" abseil "${XLA_INDEXING_ABSL}")
  list(JOIN abseil ", " abseil)
  set(mlir_flags ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  list(REMOVE_DUPLICATES mlir_flags)
  list(TRANSFORM mlir_flags PREPEND "-isystem ")
  list(JOIN mlir_flags " " mlir_flags)
  get_target_property(definitions xla_indexing::mlir_headers INTERFACE_COMPILE_DEFINITIONS)
  foreach(definition IN LISTS definitions)
    string(APPEND mlir_flags " -D${definition}")
  endforeach()
  if(TARGET MLIR AND TARGET LLVM)
    set(mlir_libraries "-L$<TARGET_FILE_DIR:MLIR> -lMLIR -lLLVM -Wl,-rpath,$<TARGET_FILE_DIR:MLIR>")
  else()
    list(JOIN _xla_indexing_archives " " mlir_libraries)
  endif()
  file(READ "${PROJECT_SOURCE_DIR}/cmake/xla_indexing.pc.in" content)
  string(CONFIGURE "${content}" content @ONLY)
  file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/xla_indexing.pc" CONTENT "${content}")
  install(FILES "${PROJECT_BINARY_DIR}/xla_indexing.pc" DESTINATION "${directory}")
endfunction()
xla_indexing_install_pkgconfig()
