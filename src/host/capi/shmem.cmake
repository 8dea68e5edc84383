# libpgas_shmem: OpenSHMEM for C and C++. Programs in C link it alone; libpgas is found beside it.
add_library(pgas_shmem SHARED
  active_sets.cpp
  shmem_active_set.cpp
  shmem_atomic.cpp
  shmem_collective.cpp
  shmem_deprecated.cpp
  shmem_library.cpp
  shmem_memory.cpp
  shmem_order.cpp
  shmem_rma.cpp
  shmem_setup.cpp
  shmem_signal.cpp
  shmem_team.cpp
  shmem_wait.cpp
  static_data.cpp
)
add_library(pgas::shmem ALIAS pgas_shmem)
target_link_libraries(pgas_shmem PRIVATE pgas_capi pgas_warnings)
target_include_directories(pgas_shmem INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include/pgas/compat>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/pgas/compat>)
set_target_properties(pgas_shmem PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0 EXPORT_NAME shmem INSTALL_RPATH "\$ORIGIN")
