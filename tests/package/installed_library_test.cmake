# Run by ctest; see CMakeLists.txt beside this file.
cmake_minimum_required(VERSION 3.25)

include("${SOURCE_DIR}/run.cmake")

# build_project(<name> <directory> [<argument>...]): a project that finds the installed library.
function(build_project name directory)
  run("${CMAKE_COMMAND}" -S "${directory}" -B "${SCRATCH_DIR}/${name}" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${CXX_COMPILER_LAUNCHER}"
    "-DCMAKE_PREFIX_PATH=${SCRATCH_DIR}/prefix" -DCMAKE_BUILD_TYPE=Release ${ARGN})
  run("${CMAKE_COMMAND}" --build "${SCRATCH_DIR}/${name}")
endfunction()

# check_libraries(<program> <name>...): of MLIR, LLVM and abseil (absl) it loads these shared libraries only.
function(check_libraries program)
  run(ldd "${program}")
  foreach(library MLIR LLVM absl)
    string(FIND "${output}" "lib${library}" place)
    if((library IN_LIST ARGN AND place EQUAL -1) OR (NOT library IN_LIST ARGN AND NOT place EQUAL -1))
      message(FATAL_ERROR "Of MLIR, LLVM and abseil ${program} should load: ${ARGN}\n${output}")
    endif()
  endforeach()
endfunction()

# check_output(<program> <output>)
function(check_output program expected)
  run("${program}")
  if(NOT output STREQUAL expected)
    message(FATAL_ERROR "${program} printed: ${output}")
  endif()
endfunction()

file(REMOVE_RECURSE "${SCRATCH_DIR}")
set(prefix "${SCRATCH_DIR}/prefix")
run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${prefix}")

# Public headers only, and xla_indexing.h has all of them but those of components of their own.
file(GLOB_RECURSE headers RELATIVE "${prefix}/include" "${prefix}/include/*")
file(READ "${prefix}/include/xla_indexing/xla_indexing.h" umbrella)
foreach(header IN LISTS headers)
  string(FIND "${umbrella}" "#include \"${header}\"\n" place)
  if(place EQUAL -1 AND NOT header MATCHES "^xla_indexing/(lowering|linalg|generated)/" AND NOT header STREQUAL "xla_indexing/xla_indexing.h")
    message(FATAL_ERROR "xla_indexing.h does not include ${header}.")
  endif()
endforeach()
foreach(file LICENSE README.md BUILD.md docs/architecture.md)
  if(NOT EXISTS "${prefix}/share/doc/xla_indexing/${file}")
    message(FATAL_ERROR "${file} was not installed.")
  endif()
endforeach()

# Its numbers are worked out in docs/queries.md, which has the same table.
build_project(fusion_cost_pass "${EXAMPLES_DIR}/fusion_cost_pass")
check_libraries("${SCRATCH_DIR}/fusion_cost_pass/fusion_cost_pass")
run("${SCRATCH_DIR}/fusion_cost_pass/fusion_cost_pass" "${EXAMPLES_DIR}/fusion_cost_pass/model.hlo")
file(READ "${EXAMPLES_DIR}/../docs/queries.md" page)
string(STRIP "${output}" indented)
string(REPLACE "\n" "\n    " indented "${indented}")
string(FIND "${page}" "    ${indented}" place)
if(place EQUAL -1)
  message(FATAL_ERROR "docs/queries.md does not have what fusion_cost_pass prints:\n${output}")
endif()

# Its page shows what it prints.
build_project(tiling_pass "${EXAMPLES_DIR}/tiling_pass")
run("${PYTHON}" "${RUN_COMMANDS}" "${EXAMPLES_DIR}/.." "${SCRATCH_DIR}/tiling_pass"
  examples/tiling_pass/README.md build/tiling_pass)
build_project(triton_writer "${EXAMPLES_DIR}/triton_writer")
run("${PYTHON}" "${RUN_COMMANDS}" "${EXAMPLES_DIR}/.." "${SCRATCH_DIR}/triton_writer"
  examples/triton_writer/README.md build/triton_writer)

# So does its page.
build_project(linalg_maps "${EXAMPLES_DIR}/linalg_maps")
run("${SCRATCH_DIR}/linalg_maps/linalg_maps" "${EXAMPLES_DIR}/linalg_maps/matmul_bias.mlir")
if(NOT EXISTS "${prefix}/${LIBDIR}/libXlaIndexingPlugin.so")
  message(FATAL_ERROR "The plugin of mlir-opt was not installed.")
endif()

# What consumer.cc prints.
set(map "(d0, d1) -> (d0, d1), domain: d0 in [0, 4], d1 in [0, 9]\n")
run("${PYTHON}" "${SOURCE_DIR}/header_example.py" "${prefix}/include/xla_indexing/xla_indexing.h"
  "${SCRATCH_DIR}/usage.cc" "${SCRATCH_DIR}/usage.txt")
run("${PYTHON}" "${SOURCE_DIR}/page_program.py" "${EXAMPLES_DIR}/../docs/api.md"
  "${SCRATCH_DIR}/api.cc" "${SCRATCH_DIR}/api.txt")
build_project(consumer "${SOURCE_DIR}/consumer" "-DUSAGE=${SCRATCH_DIR}/usage.cc" "-DAPI=${SCRATCH_DIR}/api.cc")
foreach(program archives shared targets)
  check_output("${SCRATCH_DIR}/consumer/${program}" "${map}")
endforeach()
check_libraries("${SCRATCH_DIR}/consumer/archives" absl)
check_libraries("${SCRATCH_DIR}/consumer/shared" absl MLIR LLVM)
check_libraries("${SCRATCH_DIR}/consumer/targets" absl LLVM)
foreach(program usage api)
  file(READ "${SCRATCH_DIR}/${program}.txt" expected)
  check_output("${SCRATCH_DIR}/consumer/${program}" "${expected}")
endforeach()

# Every component alone, two of them without MLIR.
build_project(components "${SOURCE_DIR}/components")
foreach(component base affine map hlo stablehlo ops fusion query gpu tiling)
  check_output("${SCRATCH_DIR}/components/all_of_${component}" "")
endforeach()
check_libraries("${SCRATCH_DIR}/components/all_of_hlo" absl)
check_libraries("${SCRATCH_DIR}/components/all_of_map" absl MLIR LLVM)

# Without CMake.
find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG)
  set(ENV{PKG_CONFIG_PATH} "${prefix}/${LIBDIR}/pkgconfig")
  run("${PKG_CONFIG}" --cflags --libs xla_indexing)
  separate_arguments(flags UNIX_COMMAND "${output}")
  run("${CXX_COMPILER}" "${SOURCE_DIR}/consumer/consumer.cc" -o "${SCRATCH_DIR}/pkg_config" ${flags})
  check_output("${SCRATCH_DIR}/pkg_config" "${map}")
  # An older C++ is told at once what is needed, by whatever header comes first.
  foreach(header xla_indexing version hlo/types/opcode map/indexing_map)
    execute_process(
      COMMAND "${CXX_COMPILER}" ${flags} -std=c++17 -E -x c++ "${prefix}/include/xla_indexing/${header}.h"
      OUTPUT_QUIET ERROR_VARIABLE errors)
    string(REGEX MATCH "error: [^\n]*" first "${errors}")
    if(NOT first MATCHES "xla_indexing needs C\\+\\+20: compile with -std=c\\+\\+20")
      message(FATAL_ERROR "${header}.h with -std=c++17 says first: ${first}")
    endif()
  endforeach()
else()
  message(STATUS "xla_indexing.pc is not tested: there is no pkg-config.")
endif()
