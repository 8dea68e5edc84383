# Copies the library and the programs of a build tree into the wheel, by the install rules of that tree. A wheel can't
# contain links, so each file has one name. The wheel also contains libfmt, which few machines have, and libsodium, unless
# the library contains it.
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
list(GET links 0 link)  # the shortest name is the SONAME
get_filename_component(name ${link} NAME)
file(REAL_PATH ${link} library)
file(COPY_FILE ${library} ${PGAS_STAGE}/${name}.copy)
file(MAKE_DIRECTORY ${package}/lib ${package}/bin)
file(RENAME ${PGAS_STAGE}/${name}.copy ${package}/lib/${name})
# The linker finds this script for -lpgas, so the wheel needs no second copy of the library.
file(WRITE ${package}/lib/libpgas.so "INPUT(${name})\n")

file(GLOB programs ${PGAS_STAGE}/bin/*)
foreach(program pgasrun pgas-info pgas-perf pgas-doctor pgas-why pgas-trace)
  file(COPY ${PGAS_STAGE}/bin/${program} DESTINATION ${package}/bin)
endforeach()
file(COPY_FILE ${PGAS_STAGE}/bin/pgas-plot ${package}/_plot.py)  # a Python program, which the package's interpreter runs

file(GET_RUNTIME_DEPENDENCIES LIBRARIES ${package}/lib/${name} EXECUTABLES ${package}/bin/pgasrun
  PRE_INCLUDE_REGEXES "^lib(fmt|sodium)\\." PRE_EXCLUDE_REGEXES ".*"
  RESOLVED_DEPENDENCIES_VAR found)
foreach(dependency ${found})
  get_filename_component(name ${dependency} NAME)
  file(REAL_PATH ${dependency} library)
  file(COPY_FILE ${library} ${package}/lib/${name})
endforeach()
