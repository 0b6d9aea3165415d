# Finds MLIR and defines how a program links it. Read by this project's own build and, installed
# beside the package's configuration file, by the projects that use the library.
#
#   xla_indexing::mlir_headers   include directories and definitions only
#   xla_indexing::mlir           the same, and the libraries
#   xla_indexing::mlir_dialects  what lowering/ uses besides: the dialects that it makes operations of
#
# Debian's MLIR comes as archives and as one shared library, and a program that holds both has two
# copies of MLIR's type ids and of LLVM's options. So the choice is the program's: `xla_indexing::mlir`
# looks at the property XLA_INDEXING_MLIR of the program being linked.
#
#   TARGETS    MLIR's imported targets for its parts (MLIRIR, ...), which bring what they were exported
#              with: on Debian the shared libLLVM. For a program that links such targets itself. This is
#              what a program without the property gets.
#   ARCHIVES   the archives of MLIR and of LLVM's support library, nothing shared.
#   SHARED     the imported targets MLIR and LLVM: libMLIR.so and libLLVM.so.

# A project that has MLIR's targets already keeps its own; one that builds them itself says with
# MLIR_INCLUDE_DIRS and LLVM_INCLUDE_DIRS where their headers are, as MLIR's package does.
#
# XLA_INDEXING_LLVM_MAJOR chooses the version; without it, 22, or 19 where only that is installed. What
# keeps MLIR from being used is left in XLA_INDEXING_MLIR_ERROR.

unset(XLA_INDEXING_MLIR_ERROR)
set(_xla_indexing_majors "${XLA_INDEXING_LLVM_MAJOR}")
if(NOT _xla_indexing_majors)
  set(_xla_indexing_majors 22 19)
endif()
foreach(_major IN LISTS _xla_indexing_majors)
  if(NOT TARGET MLIRIR)
    find_package(MLIR QUIET CONFIG HINTS "/usr/lib/llvm-${_major}/lib/cmake/mlir")
  endif()
endforeach()
if(NOT TARGET MLIRIR)
  list(JOIN _xla_indexing_majors " or " _xla_indexing_majors)
  string(CONCAT XLA_INDEXING_MLIR_ERROR
    "MLIR ${_xla_indexing_majors} was not found (on Debian: libmlir-22-dev mlir-22-tools llvm-22-dev). "
    "Where it is elsewhere, set MLIR_DIR to the directory that holds MLIRConfig.cmake.")
  return()
endif()
if(NOT MLIR_INCLUDE_DIRS OR NOT LLVM_INCLUDE_DIRS)
  set(XLA_INDEXING_MLIR_ERROR
    "The target MLIRIR exists, but MLIR_INCLUDE_DIRS and LLVM_INCLUDE_DIRS do not say where its headers are.")
  return()
endif()
if(LLVM_VERSION_MAJOR AND NOT LLVM_VERSION_MAJOR IN_LIST _xla_indexing_majors)
  list(JOIN _xla_indexing_majors " or " _xla_indexing_majors)
  set(XLA_INDEXING_MLIR_ERROR
    "MLIR ${_xla_indexing_majors} is asked for, and ${MLIR_DIR} is MLIR ${LLVM_VERSION}.")
  return()
endif()

# The parts of MLIR that the library uses; those of LLVM that they use.
set(_xla_indexing_mlir_parts MLIRAsmParser MLIRCallInterfaces MLIRControlFlowInterfaces MLIRFuncDialect
  MLIRFunctionInterfaces MLIRInferTypeOpInterface MLIRIR MLIRPresburger MLIRSideEffectInterfaces
  MLIRSupport)
set(_xla_indexing_llvm_parts LLVMSupport LLVMDemangle)

set(_xla_indexing_archives "")
foreach(_part IN LISTS _xla_indexing_mlir_parts _xla_indexing_llvm_parts)
  list(APPEND _xla_indexing_archives "$<TARGET_FILE:${_part}>")
endforeach()
list(JOIN _xla_indexing_archives "," _xla_indexing_archives)

# What the support library was built against, less the solver, which nothing here reaches.
get_target_property(_xla_indexing_system LLVMSupport INTERFACE_LINK_LIBRARIES)
list(REMOVE_ITEM _xla_indexing_system LLVMDemangle)
list(FILTER _xla_indexing_system EXCLUDE REGEX "z3")

if(NOT TARGET xla_indexing::mlir)
  add_library(xla_indexing::mlir_headers INTERFACE IMPORTED)
  target_include_directories(xla_indexing::mlir_headers SYSTEM INTERFACE
    ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  separate_arguments(_xla_indexing_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
  list(FILTER _xla_indexing_definitions EXCLUDE REGEX "_GLIBCXX_USE_CXX11_ABI")
  list(TRANSFORM _xla_indexing_definitions REPLACE "^-D" "")
  target_compile_definitions(xla_indexing::mlir_headers INTERFACE ${_xla_indexing_definitions})

  set(_choice "$<TARGET_PROPERTY:XLA_INDEXING_MLIR>")
  add_library(xla_indexing::mlir INTERFACE IMPORTED)
  target_link_libraries(xla_indexing::mlir INTERFACE
    xla_indexing::mlir_headers
    "$<$<OR:$<STREQUAL:${_choice},>,$<STREQUAL:${_choice},TARGETS>>:${_xla_indexing_mlir_parts}>"
    "$<$<STREQUAL:${_choice},SHARED>:MLIR;LLVM>"
    "$<$<STREQUAL:${_choice},ARCHIVES>:-Wl,--start-group,${_xla_indexing_archives},--end-group>"
    "$<$<STREQUAL:${_choice},ARCHIVES>:${_xla_indexing_system}>"
    ${CMAKE_DL_LIBS})
  unset(_choice)
endif()

# What lowering/ and linalg/ use of MLIR besides, with all that their archives need.
if(TARGET MLIRSCFDialect AND NOT TARGET xla_indexing::mlir_dialects)
  set(_dialects MLIRAffineDialect MLIRAnalysis MLIRArithDialect MLIRComplexDialect MLIRFuncDialect MLIRLinalgDialect
    MLIRMathDialect MLIRMemRefDialect MLIRPass MLIRSCFDialect MLIRTensorDialect)
  set(_needed ${_dialects})
  set(_next ${_dialects})
  while(_next)
    list(POP_FRONT _next _part)
    get_target_property(_links ${_part} INTERFACE_LINK_LIBRARIES)
    # MLIRSparseTensorEnums has only headers.
    list(FILTER _links INCLUDE REGEX "^MLIR.")
    list(FILTER _links EXCLUDE REGEX "Enums$")
    list(REMOVE_DUPLICATES _links)
    list(REMOVE_ITEM _links ${_needed})
    list(APPEND _needed ${_links})
    list(APPEND _next ${_links})
  endwhile()
  list(TRANSFORM _needed REPLACE "(.+)" "$<TARGET_FILE:\\1>")
  foreach(_part IN LISTS _xla_indexing_llvm_parts)
    list(APPEND _needed "$<TARGET_FILE:${_part}>")
  endforeach()
  list(JOIN _needed "," _needed)
  set(_choice "$<TARGET_PROPERTY:XLA_INDEXING_MLIR>")
  add_library(xla_indexing::mlir_dialects INTERFACE IMPORTED)
  target_link_libraries(xla_indexing::mlir_dialects INTERFACE
    xla_indexing::mlir
    "$<$<OR:$<STREQUAL:${_choice},>,$<STREQUAL:${_choice},TARGETS>>:${_dialects}>"
    "$<$<STREQUAL:${_choice},ARCHIVES>:-Wl,--start-group,${_needed},--end-group>"
    "$<$<STREQUAL:${_choice},ARCHIVES>:${_xla_indexing_system}>")
  unset(_choice)
endif()
