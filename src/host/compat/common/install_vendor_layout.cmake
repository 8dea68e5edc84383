# pgas_prefix(NAME HEADERS ... LIBRARIES ... [PROGRAMS ...] PACKAGE FOLDER/NAME): installs lib/pgas/NAME. The directory
# looks like an installation of NVSHMEM or of an OpenSHMEM library, for build systems that take one directory. It
# contains no copies: its headers and its CMake package include the installed ones, and the other files are links.
# NAME=FILE gives the link to FILE the name NAME. All paths are relative.
function(pgas_prefix name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PACKAGE" "HEADERS;LIBRARIES;PROGRAMS")
  set(tree ${CMAKE_CURRENT_BINARY_DIR}/prefix/${name})
  set(home ${CMAKE_INSTALL_LIBDIR}/pgas/${name})
  file(REMOVE_RECURSE ${tree})
  macro(link part folder link)
    string(REGEX REPLACE ".*=" "" file ${link})
    string(REGEX REPLACE "=.*" "" link_name ${link})
    file(RELATIVE_PATH target /prefix/${home}/${part} /prefix/${folder}/${file})
    file(MAKE_DIRECTORY ${tree}/${part})
    file(CREATE_LINK ${target} ${tree}/${part}/${link_name} SYMBOLIC)
  endmacro()

  link(include ${CMAKE_INSTALL_INCLUDEDIR} pgas)
  foreach(header IN LISTS arg_HEADERS)
    file(CONFIGURE OUTPUT ${tree}/include/${header} CONTENT "#include \"pgas/compat/${header}\"\n")
  endforeach()
  foreach(library IN LISTS arg_LIBRARIES)
    link(lib ${CMAKE_INSTALL_LIBDIR} ${library})
  endforeach()
  foreach(program IN LISTS arg_PROGRAMS)
    link(bin ${CMAKE_INSTALL_BINDIR} ${program})
  endforeach()
  foreach(file ${arg_PACKAGE}Config.cmake ${arg_PACKAGE}ConfigVersion.cmake)
    cmake_path(GET file PARENT_PATH folder)
    file(RELATIVE_PATH target /${home}/lib/cmake/${folder} /${CMAKE_INSTALL_LIBDIR}/cmake/${file})
    # The prefix may be a link to this directory, so the relative path starts at the real location of the file.
    file(CONFIGURE OUTPUT ${tree}/lib/cmake/${file} @ONLY CONTENT
      "get_filename_component(pgas_home \${CMAKE_CURRENT_LIST_DIR} REALPATH)\ninclude(\${pgas_home}/${target})\n")
  endforeach()
  install(DIRECTORY ${tree}/ DESTINATION ${home} COMPONENT ${name})
endfunction()
