# Install rules, the exported package and pgas.pc. All paths are relative to the package, so that an installed tree may
# be moved. Components: `runtime` contains the shared libraries, `development` the files for compiling and linking,
# `tools` the programs.
include(CMakePackageConfigHelpers)

install(TARGETS pgas EXPORT pgas-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
pgas_installable(runtime TARGETS pgas)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/pgas DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h" PATTERN "*.cuh" PATTERN "*.inc")
foreach(program pgas-info pgas-perf pgas-why pgas-doctor pgas-trace)
  if(TARGET ${program})
    pgas_installable(tools TARGETS ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
    set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  endif()
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pgas)
install(EXPORT pgas-targets NAMESPACE pgas:: DESTINATION ${package_dir} COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/pgas-config.cmake.in ${PROJECT_BINARY_DIR}/pgas-config.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/pgas-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/pgas-config.cmake ${PROJECT_BINARY_DIR}/pgas-config-version.cmake
  DESTINATION ${package_dir} COMPONENT development)

# The relative path from the directory of pgas.pc to the installation prefix.
file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" up "${up}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/pgas.pc.in ${PROJECT_BINARY_DIR}/pgas.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/pgas.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
