# Install rules, the exported package and pgas.pc. All paths are relative to the package, so that an installed tree may
# be moved. Components:
#   runtime  libpgas.so, which programs need when they run
#   devel    headers, CMake package and pgas.pc, for compiling programs; needs runtime
#   tools    pgasrun and the other programs, their manual pages and completions; needs runtime
#   nvshmem  NVSHMEM's interface: its libraries, headers and CMake package; needs runtime, devel and tools (nvshmrun)
#   shmem    OpenSHMEM's interface, with compiler wrappers; needs runtime, devel and tools (oshrun)
#   python   the Python package, if PGAS_PYTHON_WHEEL names its wheel; needs no other component
include(CMakePackageConfigHelpers)

install(TARGETS pgas EXPORT pgas-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT devel
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
pgas_installable(runtime TARGETS pgas)
set(headers FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h" PATTERN "*.cuh" PATTERN "*.inc")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/pgas DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT devel
  ${headers} PATTERN compat EXCLUDE)
foreach(program pgas-info pgas-perf pgas-why pgas-doctor pgas-trace)
  if(TARGET ${program})
    pgas_installable(tools TARGETS ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
    set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  endif()
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pgas)
install(EXPORT pgas-targets NAMESPACE pgas:: DESTINATION ${package_dir} COMPONENT devel)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/pgas-config.cmake.in ${PROJECT_BINARY_DIR}/pgas-config.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/pgas-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/pgas-config.cmake ${PROJECT_BINARY_DIR}/pgas-config-version.cmake
  DESTINATION ${package_dir} COMPONENT devel)

# The relative path from the directory of pgas.pc to the installation prefix.
file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" up "${up}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/pgas.pc.in ${PROJECT_BINARY_DIR}/pgas.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/pgas.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT devel)

# pgas-config, for build systems that know neither CMake's packages nor pkg-config.
file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_BINDIR} /prefix)
configure_file(${CMAKE_CURRENT_LIST_DIR}/pgas-config.in ${PROJECT_BINARY_DIR}/pgas-config @ONLY)
install(PROGRAMS ${PROJECT_BINARY_DIR}/pgas-config DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT devel)
# The Python package, as `./run wheel` makes it. A wheel is an archive of the files below site-packages.
set(PGAS_PYTHON_WHEEL "" CACHE FILEPATH "A wheel of pgas, which the component python installs")
set(PGAS_PYTHON_DIR lib/python3/dist-packages CACHE STRING "The directory for Python packages, relative to the prefix")
if(PGAS_PYTHON_WHEEL)
  install(CODE "set(packages \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${PGAS_PYTHON_DIR}\")
file(ARCHIVE_EXTRACT INPUT \"${PGAS_PYTHON_WHEEL}\" DESTINATION \"\${packages}\")" COMPONENT python)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
