# Run by ctest; see CMakeLists.txt beside this file.
cmake_minimum_required(VERSION 3.25)
include("${SOURCE_DIR}/run.cmake")

file(REMOVE_RECURSE "${SCRATCH_DIR}")
foreach(find_packages ON OFF)
  run("${CMAKE_COMMAND}" -S "${SOURCE_DIR}/subproject" -B "${SCRATCH_DIR}" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${CXX_COMPILER_LAUNCHER}"
    "-DMLIR_DIR=${MLIR_DIR}" "-DLLVM_DIR=${LLVM_DIR}" -DCMAKE_UNITY_BUILD=ON
    "-DXLA_INDEXING_SOURCE_DIR=${PROJECT_DIR}" "-DFIND_PACKAGES=${find_packages}")
  run("${CMAKE_COMMAND}" --build "${SCRATCH_DIR}" --target consumer)
  run("${SCRATCH_DIR}/consumer")
  if(NOT output STREQUAL "(d0, d1) -> (d0, d1), domain: d0 in [0, 4], d1 in [0, 9]\n")
    message(FATAL_ERROR "consumer printed: ${output}")
  endif()
endforeach()

# The containing project decides what is installed.
run("${CMAKE_COMMAND}" --install "${SCRATCH_DIR}" --prefix "${SCRATCH_DIR}/prefix")
if(EXISTS "${SCRATCH_DIR}/prefix")
  message(FATAL_ERROR "Something was installed: ${output}")
endif()
