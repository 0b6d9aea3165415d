# How a program links abseil. Read by this project's own build and, installed beside the package's
# configuration file, by the projects that use the library.

# xla_indexing_link_abseil_archives()
# Makes the programs of this directory and those below it link abseil's archives where the imported
# targets are shared libraries and an archive is beside each. Debian's abseil is some forty shared
# libraries, and most of the time in which a small program starts goes into loading those that it
# uses. A program that links other libraries that use the shared abseil should stay with it.
function(xla_indexing_link_abseil_archives)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  list(FILTER targets INCLUDE REGEX "^absl::")
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(NOT type STREQUAL "SHARED_LIBRARY")
      continue()
    endif()
    get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
    foreach(configuration IN LISTS configurations)
      get_target_property(location ${target} IMPORTED_LOCATION_${configuration})
      string(REGEX REPLACE "\\.so[.0-9]*$" ".a" archive "${location}")
      if(EXISTS "${archive}")
        set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_${configuration} "${archive}")
      endif()
    endforeach()
  endforeach()
endfunction()
