# The libraries of NVSHMEM's interface: programs link to nvshmem_host and nvshmem_device, or to nvshmem, by these names.
# Device code is all in the headers; the library of that name is there because link lines have it.
add_library(nvshmem_host SHARED
  nvshmem_collective.cpp
  nvshmem_driver.cpp
  nvshmem_init.cpp
  nvshmem_memory.cpp
  nvshmem_mpi.cpp
  nvshmem_rma.cpp
  nvshmem_shmem.cpp
  nvshmem_state.cpp
  nvshmem_teams.cpp
  nvshmem_wait.cpp
)
target_link_libraries(nvshmem_host PRIVATE pgas_capi pgas_warnings ${CMAKE_DL_LIBS} PUBLIC pgas::pgas)
target_include_directories(nvshmem_host SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
set_target_properties(nvshmem_host PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0)

# An archive without anything in it.
add_library(nvshmem_device STATIC nvshmem_device.cpp)
add_library(nvshmem SHARED nvshmem_device.cpp)
target_link_libraries(nvshmem PUBLIC nvshmem_host)
target_link_options(nvshmem PRIVATE LINKER:--no-as-needed)
set_target_properties(nvshmem PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0)

foreach(library nvshmem_host nvshmem_device nvshmem)
  add_library(nvshmem::${library} ALIAS ${library})
  target_include_directories(${library} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include/pgas/compat>
    $<BUILD_INTERFACE:${CUDAToolkit_INCLUDE_DIRS}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/pgas/compat>)
  set_target_properties(${library} PROPERTIES INSTALL_RPATH "\$ORIGIN")
endforeach()
