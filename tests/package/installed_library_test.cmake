# Run by ctest; see CMakeLists.txt beside this file.
cmake_minimum_required(VERSION 3.25)

# run(<command>...): fails the test with the command's output where it fails; leaves it in `output`.
function(run)
  execute_process(COMMAND ${ARGV} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}\nended with ${result}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${SCRATCH_DIR}")
run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${SCRATCH_DIR}/prefix")
run("${CMAKE_COMMAND}" -S "${SOURCE_DIR}" -B "${SCRATCH_DIR}/build" -G "${GENERATOR}"
  "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${CXX_COMPILER_LAUNCHER}"
  "-DCMAKE_PREFIX_PATH=${SCRATCH_DIR}/prefix" -DCMAKE_BUILD_TYPE=Release)
run("${CMAKE_COMMAND}" --build "${SCRATCH_DIR}/build")

# check(<program> MLIR|NO_MLIR LLVM|NO_LLVM): what it prints, and which shared libraries it loads.
function(check program mlir llvm)
  run("${SCRATCH_DIR}/build/${program}")
  if(NOT output STREQUAL "(d0, d1) -> (d0, d1), domain: d0 in [0, 4], d1 in [0, 9]\n")
    message(FATAL_ERROR "${program} printed: ${output}")
  endif()
  run(ldd "${SCRATCH_DIR}/build/${program}")
  foreach(library MLIR LLVM)
    string(TOLOWER "${library}" choice)
    string(FIND "${output}" "lib${library}" place)
    if((${choice} STREQUAL library AND place EQUAL -1) OR
       (NOT ${choice} STREQUAL library AND NOT place EQUAL -1))
      message(FATAL_ERROR "${program} should be linked with ${mlir} and ${llvm}:\n${output}")
    endif()
  endforeach()
endfunction()

# build_example(<name>): a project in examples/.
function(build_example name)
  run("${CMAKE_COMMAND}" -S "${EXAMPLES_DIR}/${name}" -B "${SCRATCH_DIR}/${name}" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${CXX_COMPILER_LAUNCHER}"
    "-DCMAKE_PREFIX_PATH=${SCRATCH_DIR}/prefix" -DCMAKE_BUILD_TYPE=Release)
  run("${CMAKE_COMMAND}" --build "${SCRATCH_DIR}/${name}")
endfunction()

# Its numbers are worked out in docs/queries.md, which has the same table.
build_example(fusion_cost_pass)
run("${SCRATCH_DIR}/fusion_cost_pass/fusion_cost_pass" "${EXAMPLES_DIR}/fusion_cost_pass/model.hlo")
file(READ "${EXAMPLES_DIR}/../docs/queries.md" page)
string(STRIP "${output}" indented)
string(REPLACE "\n" "\n    " indented "${indented}")
string(FIND "${page}" "    ${indented}" place)
if(place EQUAL -1)
  message(FATAL_ERROR "docs/queries.md does not have what fusion_cost_pass prints:\n${output}")
endif()

# Its page shows what it prints.
build_example(tiling_pass)
run("${PYTHON}" "${RUN_COMMANDS}" "${EXAMPLES_DIR}/.." "${SCRATCH_DIR}/tiling_pass"
  examples/tiling_pass/README.md build/tiling_pass)

check(archives NO_MLIR NO_LLVM)
check(shared MLIR LLVM)
check(targets NO_MLIR LLVM)
