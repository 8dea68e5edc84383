# A find module like those of projects that use an NVSHMEM without a CMake package: one directory, the header, two
# libraries.
find_path(NVSHMEM_INCLUDE_DIR nvshmem.h HINTS ${NVSHMEM_HOME} ENV NVSHMEM_HOME PATH_SUFFIXES include)
find_library(NVSHMEM_HOST_LIBRARY nvshmem_host HINTS ${NVSHMEM_HOME} ENV NVSHMEM_HOME PATH_SUFFIXES lib lib64)
find_library(NVSHMEM_DEVICE_LIBRARY nvshmem_device HINTS ${NVSHMEM_HOME} ENV NVSHMEM_HOME PATH_SUFFIXES lib lib64)

foreach(part MAJOR MINOR PATCH)
  file(STRINGS ${NVSHMEM_INCLUDE_DIR}/non_abi/nvshmem_version.h line REGEX "define NVSHMEM_VENDOR_${part}_VERSION")
  string(REGEX MATCH "[0-9]+$" NVSHMEM_VERSION_${part} "${line}")
endforeach()
set(NVSHMEM_VERSION ${NVSHMEM_VERSION_MAJOR}.${NVSHMEM_VERSION_MINOR}.${NVSHMEM_VERSION_PATCH})

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NVSHMEM VERSION_VAR NVSHMEM_VERSION
  REQUIRED_VARS NVSHMEM_INCLUDE_DIR NVSHMEM_HOST_LIBRARY NVSHMEM_DEVICE_LIBRARY)
if(NVSHMEM_FOUND)
  add_library(NVSHMEM::host UNKNOWN IMPORTED)
  set_target_properties(NVSHMEM::host PROPERTIES
    IMPORTED_LOCATION ${NVSHMEM_HOST_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${NVSHMEM_INCLUDE_DIR})
  add_library(NVSHMEM::device UNKNOWN IMPORTED)
  set_target_properties(NVSHMEM::device PROPERTIES IMPORTED_LOCATION ${NVSHMEM_DEVICE_LIBRARY})
endif()
