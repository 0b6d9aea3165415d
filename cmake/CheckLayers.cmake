# Reads the includes of every file of the library and stops at one that a layer may not have:
#   cmake -P cmake/CheckLayers.cmake
# The arrows between layers: tools -> {gpu, tiling} -> query -> fusion -> ops -> {hlo, map}; map -> affine -> base;
# hlo -> base. A layer may include itself and what its arrows lead to. base and hlo know no MLIR.

cmake_minimum_required(VERSION 3.25)

set(base_may_include base)
set(affine_may_include affine ${base_may_include})
set(map_may_include map ${affine_may_include})
set(hlo_may_include hlo ${base_may_include})
set(ops_may_include ops ${hlo_may_include} ${map_may_include})
set(fusion_may_include fusion ${ops_may_include})
set(query_may_include query ${fusion_may_include})
set(gpu_may_include gpu ${query_may_include})
set(tiling_may_include tiling ${query_may_include})
set(tools_may_include tools ${gpu_may_include} ${tiling_may_include})
set(layers_without_mlir base hlo)

cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH source_dir)
file(GLOB_RECURSE files RELATIVE "${source_dir}"
  "${source_dir}/xla_indexing/*.h" "${source_dir}/xla_indexing/*.cc")
set(wrong "")
foreach(file IN LISTS files)
  string(REGEX REPLACE "^xla_indexing/([^/]*)/.*$" "\\1" layer "${file}")
  if(NOT DEFINED ${layer}_may_include)
    string(APPEND wrong "\n  ${file}: is in no layer that CheckLayers.cmake knows")
    continue()
  endif()
  file(STRINGS "${source_dir}/${file}" includes REGEX "^[ \t]*#[ \t]*include")
  foreach(include IN LISTS includes)
    if(include MATCHES "[<\"]xla_indexing/([^/]*)/" AND NOT CMAKE_MATCH_1 IN_LIST ${layer}_may_include)
      string(APPEND wrong "\n  ${file}: ${layer} may not include ${CMAKE_MATCH_1}: ${include}")
    elseif(include MATCHES "[<\"](mlir|llvm)(-c)?/" AND layer IN_LIST layers_without_mlir)
      string(APPEND wrong "\n  ${file}: ${layer} uses no MLIR: ${include}")
    endif()
  endforeach()
endforeach()
if(wrong)
  message(FATAL_ERROR "Includes against the order of the layers:${wrong}")
endif()
list(LENGTH files count)
message(STATUS "The includes of ${count} files follow the order of the layers.")
