# The functions that the build files of this project are written in.

include(GNUInstallDirs)
include(XlaIndexingHeaders)

# Our own code's compiler flags. Not part of what a user of the library gets.
add_library(xla_indexing_options INTERFACE)
target_compile_options(xla_indexing_options INTERFACE -Wall -Wextra)
if(XLA_INDEXING_WARNINGS_AS_ERRORS)
  target_compile_options(xla_indexing_options INTERFACE -Werror)
endif()
if(XLA_INDEXING_BOARD)
  target_compile_definitions(xla_indexing_options INTERFACE XLA_INDEXING_BOARD)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlapping copies inside std::string's own code (its bug 105651).
  target_compile_options(xla_indexing_options INTERFACE -Wno-restrict)
  if(XLA_INDEXING_PRECOMPILE_HEADERS)
    # It forgets that precompiled headers are the system's.
    target_compile_options(xla_indexing_options INTERFACE -Wno-stringop-overflow -Wno-array-bounds)
  endif()
  if(CMAKE_UNITY_BUILD)
    # With much in view it takes the value of an empty std::optional for used (its bug 80635).
    target_compile_options(xla_indexing_options INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Nobody replaces a function of the library by one of the same name, so that calls may be inlined.
  target_compile_options(xla_indexing_options INTERFACE -fno-semantic-interposition)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # std::stable_sort of GCC 12's library calls what that library calls deprecated.
  target_compile_options(xla_indexing_options INTERFACE -Wno-deprecated-declarations)
endif()
if(XLA_INDEXING_SANITIZE)
  set(_flags "-fsanitize=${XLA_INDEXING_SANITIZE}" -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(xla_indexing_options INTERFACE ${_flags})
  target_link_options(xla_indexing_options INTERFACE ${_flags})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The checks that the sanitizers add confuse GCC's flow analysis.
    target_compile_options(xla_indexing_options INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()

# The parts of abseil that the library's headers and sources use.
set(XLA_INDEXING_ABSL
    absl::algorithm_container absl::any_invocable absl::btree absl::cleanup absl::flat_hash_map
    absl::flat_hash_set absl::function_ref absl::hash absl::inlined_vector absl::int128 absl::node_hash_map absl::span
    absl::status absl::statusor absl::str_format absl::strings)

# xla_indexing_precompile(<target> [MLIR] [GTEST] [SHARED_BY <kind>])
# Most of the time to compile a file goes into reading the headers of MLIR, abseil and GoogleTest. With
# XLA_INDEXING_PRECOMPILE_HEADERS they are read once: for a target, or for all targets of a kind, which have to
# be compiled with the same options and definitions and ask for the same headers.
function(xla_indexing_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "MLIR;GTEST" "SHARED_BY" "")
  if(NOT XLA_INDEXING_PRECOMPILE_HEADERS)
    return()
  endif()
  if(arg_SHARED_BY)
    get_property(first GLOBAL PROPERTY "XLA_INDEXING_PRECOMPILED_${arg_SHARED_BY}")
    if(first)
      target_precompile_headers(${target} REUSE_FROM ${first})
      return()
    endif()
    set_property(GLOBAL PROPERTY "XLA_INDEXING_PRECOMPILED_${arg_SHARED_BY}" ${target})
  endif()
  set(headers
    <algorithm> <cstddef> <cstdint> <map> <memory> <optional> <set> <string> <utility> <vector>
    <absl/algorithm/container.h> <absl/container/flat_hash_map.h> <absl/container/flat_hash_set.h>
    <absl/container/inlined_vector.h> <absl/functional/function_ref.h> <absl/status/status.h>
    <absl/status/statusor.h> <absl/strings/str_cat.h> <absl/strings/str_join.h>
    <absl/strings/string_view.h> <absl/types/span.h>)
  if(arg_MLIR)
    list(APPEND headers
      <llvm/ADT/ArrayRef.h> <llvm/ADT/BitVector.h> <llvm/ADT/STLExtras.h> <llvm/ADT/SmallVector.h>
      <llvm/Support/Casting.h> <mlir/IR/AffineExpr.h> <mlir/IR/AffineMap.h> <mlir/IR/MLIRContext.h>)
  endif()
  if(arg_GTEST)
    list(APPEND headers <gmock/gmock.h> <gtest/gtest.h>)
  endif()
  target_precompile_headers(${target} PRIVATE ${headers})
endfunction()

# xla_indexing_set_batches(<target> <number of files>)
# In a unity build, files of one target are compiled some 24 at once, in batches of equal size. What headers and
# templates cost is then paid a third as often as with CMake's 8, and two processors still finish together.
function(xla_indexing_set_batches target files)
  math(EXPR batches "(${files} + 23) / 24")
  math(EXPR size "(${files} + ${batches} - 1) / ${batches}")
  set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE ${size})
endfunction()

# xla_indexing_add_headers(<target> <regex> [<except>]): the target's public headers, those of XLA_INDEXING_PUBLIC_HEADERS that
# match the first and not the second. They are installed, and each is compiled alone where CMAKE_VERIFY_INTERFACE_HEADER_SETS is on.
function(xla_indexing_add_headers target regex)
  set(headers ${XLA_INDEXING_PUBLIC_HEADERS})
  list(FILTER headers INCLUDE REGEX "${regex}")
  if(ARGN)
    list(FILTER headers EXCLUDE REGEX "${ARGN}")
  endif()
  list(TRANSFORM headers PREPEND "${PROJECT_SOURCE_DIR}/xla_indexing/")
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${headers})
endfunction()

# xla_indexing_add_layer(<layer> [DIRECTORY <directory>] [DEPENDS <layer>...] [MLIR] [EXCEPT <regex>])
# Target xla_indexing_<layer>, for users xla_indexing::<layer>, of all xla_indexing/<layer>/**.cc, or those of that directory,
# but the files that match. It compiles against MLIR's headers; the program that links it chooses the libraries.
function(xla_indexing_add_layer layer)
  cmake_parse_arguments(PARSE_ARGV 1 arg "MLIR" "DIRECTORY;EXCEPT" "DEPENDS")
  if(NOT arg_DIRECTORY)
    set(arg_DIRECTORY ${layer})
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/xla_indexing/${arg_DIRECTORY}/*.cc")
  if(arg_EXCEPT)
    list(FILTER sources EXCLUDE REGEX "${arg_EXCEPT}")
  endif()
  set(target xla_indexing_${layer})
  add_library(${target} STATIC ${sources})
  add_library(xla_indexing::${layer} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${layer})
  list(LENGTH sources files)
  xla_indexing_set_batches(${target} ${files})
  target_compile_features(${target} PUBLIC cxx_std_20)
  list(TRANSFORM arg_DEPENDS PREPEND xla_indexing_)
  target_link_libraries(${target}
    PUBLIC ${arg_DEPENDS} ${XLA_INDEXING_ABSL} Threads::Threads
    PRIVATE $<BUILD_INTERFACE:xla_indexing_options>)
  if(arg_MLIR)
    target_link_libraries(${target} PUBLIC xla_indexing::mlir)
  endif()
  # The fuzzers look into what the lower layers do (tests/fuzz), which are compiled differently for that.
  if(layer MATCHES "^(affine|map)$" AND XLA_INDEXING_BUILD_FUZZERS)
    xla_indexing_precompile(${target} MLIR SHARED_BY lower_layers)
  elseif(arg_MLIR)
    xla_indexing_precompile(${target} MLIR SHARED_BY layers_with_mlir)
  else()
    xla_indexing_precompile(${target} SHARED_BY layers_without_mlir)
  endif()
  # Programs spend their time in the simplifier, where -O3 shows, and none in what only writes answers.
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    if(layer MATCHES "^(affine|map)$")
      target_compile_options(${target} PRIVATE -O3)
    elseif(layer MATCHES "^(report|tools)$")
      target_compile_options(${target} PRIVATE -O1)
    endif()
  endif()
  if(NOT layer STREQUAL "tools")
    xla_indexing_add_headers(${target} "^${arg_DIRECTORY}/" ${arg_EXCEPT})
    set_property(GLOBAL APPEND PROPERTY XLA_INDEXING_LAYERS ${layer})
  endif()
endfunction()

# xla_indexing_generate_dialect(<target> <directory> <name>): what mlir-tblgen makes of <name>_ops.td, for a target and its users.
function(xla_indexing_generate_dialect target directory name)
  set(source "${PROJECT_SOURCE_DIR}/xla_indexing/${directory}")
  set(generated "${PROJECT_BINARY_DIR}/generated/dialect")
  set(outputs "")
  foreach(part dialect attributes ops)
    string(REGEX REPLACE "attributes" "attrdef" kind ${part})
    string(REGEX REPLACE "ops" "op" kind ${kind})
    foreach(suffix h cc)
      string(REGEX REPLACE "h" "decls" what ${suffix})
      string(REGEX REPLACE "cc" "defs" what ${what})
      set(output "${generated}/${name}_${part}.${suffix}.inc")
      add_custom_command(OUTPUT "${output}"
        COMMAND ${MLIR_TABLEGEN_EXE} -gen-${kind}-${what} "-I${MLIR_INCLUDE_DIRS}" "-I${LLVM_INCLUDE_DIRS}"
          "${source}/${name}_ops.td" -o "${output}"
        DEPENDS "${source}/${name}_ops.td" VERBATIM)
      list(APPEND outputs "${output}")
    endforeach()
  endforeach()
  target_sources(${target} PRIVATE ${outputs})
  target_include_directories(${target} SYSTEM PUBLIC
    "$<BUILD_INTERFACE:${generated}>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/xla_indexing/generated>")
  if(XLA_INDEXING_INSTALL AND NOT SKBUILD)
    list(FILTER outputs INCLUDE REGEX "\\.h\\.inc$")
    install(FILES ${outputs} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/xla_indexing/generated")
  endif()
endfunction()

# libXlaIndexingPlugin.so, for mlir-opt, with which it shares MLIR, down to what MLIR keeps in inline functions, so that nothing is hidden. Debian's archives
# of abseil are for programs: where there are shared libraries beside archives these come first, so that no archive is needed.
function(xla_indexing_add_plugin)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/xla_indexing/plugin/*.cc")
  add_library(XlaIndexingPlugin MODULE ${sources})
  set(needed ${XLA_INDEXING_ABSL})
  set(next ${XLA_INDEXING_ABSL})
  while(next)
    list(POP_FRONT next part)
    get_target_property(type ${part} TYPE)
    if(type STREQUAL "SHARED_LIBRARY")
      get_target_property(location ${part} LOCATION)
      string(REGEX REPLACE "\\.a$" ".so" location "${location}")
      if(EXISTS "${location}")
        target_link_libraries(XlaIndexingPlugin PRIVATE "${location}")
      endif()
    endif()
    get_target_property(links ${part} INTERFACE_LINK_LIBRARIES)
    list(FILTER links INCLUDE REGEX "^absl::")
    list(REMOVE_ITEM links ${needed})
    list(APPEND needed ${links})
    list(APPEND next ${links})
  endwhile()
  target_link_libraries(XlaIndexingPlugin PRIVATE xla_indexing_dialect xla_indexing_linalg xla_indexing_gpu xla_indexing_options)
  target_link_options(XlaIndexingPlugin PRIVATE LINKER:--no-as-needed)
  set_target_properties(XlaIndexingPlugin PROPERTIES XLA_INDEXING_MLIR SHARED)
  if(XLA_INDEXING_INSTALL)
    install(TARGETS XlaIndexingPlugin LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  endif()
endfunction()

# The page of reports, report/page, as a text of the layer.
function(xla_indexing_inline_page)
  set(page "${PROJECT_SOURCE_DIR}/xla_indexing/report/page")
  set(output "${PROJECT_BINARY_DIR}/generated/report_page_text.cc")
  set(script "${PROJECT_SOURCE_DIR}/cmake/XlaIndexingInlinePage.cmake")
  file(GLOB files CONFIGURE_DEPENDS "${page}/*")
  add_custom_command(OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DPAGE=${page}" "-DOUTPUT=${output}" -P "${script}"
    DEPENDS ${files} "${script}" VERBATIM)
  target_sources(xla_indexing_report PRIVATE "${output}")
endfunction()

# The users' target xla_indexing::xla_indexing: all layers but those that link dialects of MLIR.
function(xla_indexing_add_library)
  get_property(layers GLOBAL PROPERTY XLA_INDEXING_LAYERS)
  list(REMOVE_ITEM layers lowering dialect linalg)
  list(TRANSFORM layers PREPEND xla_indexing_)
  add_library(xla_indexing INTERFACE)
  add_library(xla_indexing::xla_indexing ALIAS xla_indexing)
  target_link_libraries(xla_indexing INTERFACE ${layers})
  xla_indexing_add_headers(xla_indexing "^[^/]+$")
endfunction()

# xla_indexing_add_program(<name> SOURCES <file>... [LIBRARIES <target>...])
# A program of this project: our flags, MLIR's archives and no shared library that it does not use, so
# that it starts at once.
function(xla_indexing_add_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} xla_indexing_options)
  target_link_options(${name} PRIVATE LINKER:--as-needed)
  set_target_properties(${name} PROPERTIES XLA_INDEXING_MLIR ARCHIVES)
endfunction()

# print-indexing, and the library xla_indexing_tools of everything in tools/ but its main program.
function(xla_indexing_add_tool)
  set(main "${PROJECT_SOURCE_DIR}/xla_indexing/tools/print_indexing_main.cc")
  xla_indexing_add_layer(tools DEPENDS report stablehlo MLIR EXCEPT "/print_indexing_main.cc$")
  find_package(ZLIB REQUIRED)
  target_link_libraries(xla_indexing_tools PRIVATE ZLIB::ZLIB)
  if(TARGET xla_indexing_lowering)
    target_link_libraries(xla_indexing_tools PRIVATE xla_indexing_lowering)
    target_compile_definitions(xla_indexing_tools PRIVATE XLA_INDEXING_HAS_LOWERING)
  endif()
  xla_indexing_add_program(print-indexing SOURCES "${main}" LIBRARIES xla_indexing_tools)
endfunction()
