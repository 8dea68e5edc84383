# Puts library and programs of a build tree into the wheel, as its own install rules do, under one name each: a wheel has no
# links. libfmt, which they need and few machines have, comes along (and libsodium, where it is not
# part of them).
file(REMOVE_RECURSE ${PGAS_STAGE})
foreach(place . src/tools/pgasrun src/tools/pgas-plot)
  foreach(component runtime tools)
    execute_process(COMMAND ${CMAKE_COMMAND} -DCMAKE_INSTALL_PREFIX=${PGAS_STAGE} -DCMAKE_INSTALL_COMPONENT=${component}
      -DCMAKE_INSTALL_LOCAL_ONLY=ON -DCMAKE_INSTALL_DO_STRIP=ON -P ${PGAS_TREE}/${place}/cmake_install.cmake
      OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endforeach()

set(package ${CMAKE_INSTALL_PREFIX}/pgas)
file(GLOB links ${PGAS_STAGE}/lib*/libpgas.so.*)
list(GET links 0 link)  # the shortest of the names, which is the SONAME
get_filename_component(name ${link} NAME)
file(REAL_PATH ${link} library)
file(COPY_FILE ${library} ${PGAS_STAGE}/${name}.copy)
file(MAKE_DIRECTORY ${package}/lib ${package}/bin)
file(RENAME ${PGAS_STAGE}/${name}.copy ${package}/lib/${name})
# What -lpgas finds: a script for the linker, not a second library.
file(WRITE ${package}/lib/libpgas.so "INPUT(${name})\n")

file(GLOB programs ${PGAS_STAGE}/bin/*)
foreach(program pgasrun pgas-info pgas-perf pgas-doctor pgas-why pgas-trace)
  file(COPY ${PGAS_STAGE}/bin/${program} DESTINATION ${package}/bin)
endforeach()
file(COPY_FILE ${PGAS_STAGE}/bin/pgas-plot ${package}/_plot.py)  # Python: the package's interpreter runs it

file(GET_RUNTIME_DEPENDENCIES LIBRARIES ${package}/lib/${name} EXECUTABLES ${package}/bin/pgasrun
  PRE_INCLUDE_REGEXES "^lib(fmt|sodium)\\." PRE_EXCLUDE_REGEXES ".*"
  RESOLVED_DEPENDENCIES_VAR found)
foreach(dependency ${found})
  get_filename_component(name ${dependency} NAME)
  file(REAL_PATH ${dependency} library)
  file(COPY_FILE ${library} ${package}/lib/${name})
endforeach()
