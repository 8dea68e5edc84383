# libpgas_shmem: OpenSHMEM for C and C++, with pgas-cc, pgas-c++ and oshrun, also by the names that others have for them. Programs in C link it alone; libpgas is found beside it.
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

install(TARGETS pgas_shmem EXPORT pgas-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

# The compiler wrappers: one for the build tree, one for an installed tree, which may be moved.
function(pgas_shmem_wrapper name language variable compiler)
  set(include ${PROJECT_SOURCE_DIR}/include/pgas/compat)
  set(folders "\"${PROJECT_BINARY_DIR}/src/host/capi\" \"${PROJECT_BINARY_DIR}/src\"")
  configure_file(${CMAKE_CURRENT_LIST_DIR}/pgas-cc.in ${PROJECT_BINARY_DIR}/bin/${name} @ONLY
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_BINDIR} /prefix)
  set(include "$here/${up}${CMAKE_INSTALL_INCLUDEDIR}/pgas/compat")
  set(folders "\"$here/${up}${CMAKE_INSTALL_LIBDIR}\"")
  configure_file(${CMAKE_CURRENT_LIST_DIR}/pgas-cc.in ${CMAKE_CURRENT_BINARY_DIR}/installed/${name} @ONLY)
  install(PROGRAMS ${CMAKE_CURRENT_BINARY_DIR}/installed/${name} DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()
pgas_shmem_wrapper(pgas-cc C PGAS_CC cc)
pgas_shmem_wrapper(pgas-c++ C++ PGAS_CXX c++)
foreach(name oshcc=pgas-cc oshc++=pgas-c++ oshrun=pgasrun)
  string(REPLACE "=" ";" name ${name})
  list(POP_FRONT name link)
  file(CREATE_LINK ${name} ${PROJECT_BINARY_DIR}/bin/${link} SYMBOLIC)
  install(FILES ${PROJECT_BINARY_DIR}/bin/${link} DESTINATION ${CMAKE_INSTALL_BINDIR})
endforeach()

# Installed so that find_package(OpenSHMEM), pkg-config and build systems that know one directory find it.
set(openshmem_version 1.5)  # of the interface
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/OpenSHMEMConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/OpenSHMEMConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/openshmem
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/OpenSHMEMConfigVersion.cmake
  VERSION ${openshmem_version} COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/OpenSHMEMConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/OpenSHMEMConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/openshmem)
file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" up "${up}")
foreach(name pgas-shmem openshmem)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
pgas_prefix(shmem PACKAGE openshmem/OpenSHMEM PROGRAMS oshcc oshc++ oshrun
  HEADERS shmem.h shmemx.h pshmem.h mpp/shmem.h mpp/shmemx.h
  LIBRARIES libpgas_shmem.so libpgas_shmem.so.0 libpgas.so libpgas.so.0)
foreach(name shmem sma oshmem)  # what others call the library
  file(CREATE_LINK libpgas_shmem.so ${CMAKE_CURRENT_BINARY_DIR}/prefix/shmem/lib/lib${name}.so SYMBOLIC)
endforeach()
