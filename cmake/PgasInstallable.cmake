# The files that an installation needs. `cmake --install` builds nothing. It first checks these files, before it copies
# any, and names the command that builds missing files, the target `installable`.
install(CODE "include(${CMAKE_CURRENT_LIST_DIR}/check_built.cmake)
check_built(${PROJECT_BINARY_DIR}/installable-$<CONFIG>.cmake ${CMAKE_BINARY_DIR})" ALL_COMPONENTS)

# pgas_installable(COMPONENT [TARGETS targets...] [FILES files...]): the files that install() takes for this component
# from the build tree.
function(pgas_installable component)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "TARGETS;FILES")
  set_property(GLOBAL APPEND PROPERTY PGAS_INSTALLABLE_TARGETS ${arg_TARGETS})
  foreach(target ${arg_TARGETS})
    get_target_property(type ${target} TYPE)
    if(NOT type MATCHES "UTILITY|INTERFACE")
      list(APPEND arg_FILES $<TARGET_FILE:${target}>)
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY PGAS_INSTALLABLE_${component} ${arg_FILES})
endfunction()

# pgas_write_installable(): called after all files have been named.
function(pgas_write_installable)
  set(text "set(compiled_only ${PGAS_CUDA_COMPILED_ONLY})\n")
  string(APPEND text "set(flags \"${CMAKE_CXX_FLAGS_RELWITHDEBINFO}\")\n")
  foreach(component runtime devel tools nvshmem shmem)
    get_property(files GLOBAL PROPERTY PGAS_INSTALLABLE_${component})
    string(APPEND text "set(${component} \"${files}\")\n")
  endforeach()
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/installable-$<CONFIG>.cmake CONTENT "${text}")
  get_property(targets GLOBAL PROPERTY PGAS_INSTALLABLE_TARGETS)
  if(PROJECT_IS_TOP_LEVEL)  # a project that contains pgas may have a target of this name
    add_custom_target(installable)
    add_dependencies(installable ${targets})
  endif()
endfunction()
