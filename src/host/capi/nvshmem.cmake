# The libraries of NVSHMEM's interface: programs link to nvshmem_host and nvshmem_device, or to nvshmem, by these names.
# Device code is all in the headers; nvshmem_device is there because link lines have it.
add_library(nvshmem_objects OBJECT
  nvshmem_collective.cpp
  nvshmem_default_stream.cpp
  nvshmem_driver.cpp
  nvshmem_init.cpp
  nvshmem_launch.cpp
  nvshmem_memory.cpp
  nvshmem_mpi.cpp
  nvshmem_rendezvous.cpp
  nvshmem_rma.cpp
  nvshmem_shmem.cpp
  nvshmem_state.cpp
  nvshmem_teams.cpp
  nvshmem_wait.cpp
)
target_link_libraries(nvshmem_objects PUBLIC pgas_capi PRIVATE pgas_warnings)
target_include_directories(nvshmem_objects SYSTEM PUBLIC ${CUDAToolkit_INCLUDE_DIRS})

add_library(nvshmem_host SHARED)
target_link_libraries(nvshmem_host PRIVATE nvshmem_objects pgas_capi ${CMAKE_DL_LIBS})
set_target_properties(nvshmem_host PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0 INSTALL_RPATH "\$ORIGIN")
target_include_directories(nvshmem_host SYSTEM INTERFACE "$<BUILD_INTERFACE:${CUDAToolkit_INCLUDE_DIRS}>")
target_include_directories(nvshmem_host INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include/pgas/compat>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/pgas/compat>)

add_library(nvshmem_device STATIC nvshmem_device.cpp)
target_link_libraries(nvshmem_device INTERFACE nvshmem_host)

# One library for all: for CMake both, for the linker another name of the host's.
add_library(nvshmem INTERFACE)
target_link_libraries(nvshmem INTERFACE nvshmem_host nvshmem_device)
add_custom_command(TARGET nvshmem_host POST_BUILD VERBATIM
  COMMAND ${CMAKE_COMMAND} -E create_symlink libnvshmem_host.so $<TARGET_FILE_DIR:nvshmem_host>/libnvshmem.so)

foreach(library nvshmem_host nvshmem_device nvshmem)
  add_library(nvshmem::${library} ALIAS ${library})
endforeach()

# Installed so that find_package(NVSHMEM), pkg-config and build systems that know one directory find it.
set(nvshmem_version 3.5.0)  # of the interface
set(nvshmem_package ${CMAKE_INSTALL_LIBDIR}/cmake/nvshmem)
install(TARGETS nvshmem_host nvshmem_device nvshmem EXPORT nvshmem-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES $<TARGET_FILE_DIR:nvshmem_host>/libnvshmem.so DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT nvshmem-targets NAMESPACE nvshmem:: FILE NVSHMEMTargets.cmake DESTINATION ${nvshmem_package})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/NVSHMEMConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/NVSHMEMConfig.cmake INSTALL_DESTINATION ${nvshmem_package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/NVSHMEMConfigVersion.cmake
  VERSION ${nvshmem_version} COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/NVSHMEMConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/NVSHMEMConfigVersion.cmake
  DESTINATION ${nvshmem_package})

file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" up "${up}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/pgas-nvshmem.pc.in ${CMAKE_CURRENT_BINARY_DIR}/pgas-nvshmem.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pgas-nvshmem.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

file(GLOB nvshmem_headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include/pgas/compat
  ${PROJECT_SOURCE_DIR}/include/pgas/compat/nvshmem*.h ${PROJECT_SOURCE_DIR}/include/pgas/compat/host/*.h
  ${PROJECT_SOURCE_DIR}/include/pgas/compat/device_host/*.cuh ${PROJECT_SOURCE_DIR}/include/pgas/compat/non_abi/*.h)
pgas_prefix(nvshmem PACKAGE nvshmem/NVSHMEM HEADERS ${nvshmem_headers}
  LIBRARIES libnvshmem_host.so libnvshmem_host.so.0 libnvshmem.so libnvshmem_device.a libpgas.so libpgas.so.0)
# Build systems read the version as text.
file(RELATIVE_PATH target /prefix/${CMAKE_INSTALL_LIBDIR}/pgas/nvshmem/include/non_abi
  /prefix/${CMAKE_INSTALL_INCLUDEDIR}/pgas/compat/non_abi/nvshmem_version.h)
set(version_header ${CMAKE_CURRENT_BINARY_DIR}/prefix/nvshmem/include/non_abi/nvshmem_version.h)
file(REMOVE ${version_header})
file(CREATE_LINK ${target} ${version_header} SYMBOLIC)
