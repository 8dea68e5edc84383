# How all targets of the project are compiled: language, warnings, precompiled headers, sources compiled together,
# sanitizers.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

# Sanitizers, one of: address (with undefined), thread.
set(PGAS_SANITIZE "" CACHE STRING "address (with undefined) or thread")

# GCC collects garbage only above 512 MiB. Garbage collection takes a seventh of the time for sources that are compiled
# together.
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=524288>)

# Warnings for the project's own targets.
add_library(pgas_warnings INTERFACE)
set(PGAS_CXX_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast)
target_compile_options(pgas_warnings INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:${PGAS_CXX_WARNINGS}>"
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>")
if(PGAS_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # Sources that are compiled together see one another's private names. Clang reports a local name that is equal to such
  # a name as an error.
  target_compile_options(pgas_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-shadow>)
endif()
if(NOT PGAS_TEST_TIER STREQUAL "full")  # with -O1, GCC reports initialized variables as uninitialized
  target_compile_options(pgas_warnings INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
endif()
if(PGAS_WERROR)
  target_compile_options(pgas_warnings INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-Werror>"
    "$<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=-Werror>")
endif()

# pgas_precompiled(TARGET PRIVATE HEADERS... | REUSE_FROM TARGET): precompiles HEADERS, which the sources include first.
# ccache stores objects of such sources only with -fpch-preprocess.
function(pgas_precompiled target)
  target_precompile_headers(${target} ${ARGN})
  if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache$" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set_target_properties(${target} PROPERTIES
      CXX_COMPILER_LAUNCHER "env;CCACHE_SLOPPINESS=pch_defines,time_macros;${CMAKE_CXX_COMPILER_LAUNCHER}")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endfunction()

# pgas_one_source(VARIABLE NAME SOURCES...): a source of the build tree that includes SOURCES. Unlike this function,
# UNITY_BUILD uses absolute paths, so a compiler cache would not find the object for the same tree in another directory.
function(pgas_one_source variable name)
  set(includes)
  foreach(source ${ARGN})
    cmake_path(ABSOLUTE_PATH source)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
    string(APPEND includes "#include \"${source}\"\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp CONTENT "${includes}" @ONLY)
  set(${variable} ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp PARENT_SCOPE)
endfunction()

# pgas_folder(TARGET FOLDER SOURCES... [OPTIONS...]): adds the sources of a folder to the library, with compiler options.
# The full tier compiles each source alone, which detects missing includes. Sanitized builds, the fast tier and builds
# with PGAS_UNITY_BUILD compile a folder as one source, which takes a third of the time.
option(PGAS_UNITY_BUILD "Compile the sources of a folder of the library together in the full tier too, and those of a tool in the fast one" OFF)
function(pgas_folder target folder)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "OPTIONS")
  set(sources ${arg_UNPARSED_ARGUMENTS})
  if(PGAS_SANITIZE OR PGAS_TEST_TIER STREQUAL "fast" OR PGAS_UNITY_BUILD)
    string(REPLACE / _ name unity_${folder})
    pgas_one_source(sources ${name} ${sources})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
      # In such a source, GCC 13 reports initialized members of std::optional as uninitialized.
      list(APPEND arg_OPTIONS -Wno-maybe-uninitialized)
    endif()
  endif()
  set_source_files_properties(${sources} TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS "${arg_OPTIONS}")
  target_sources(${target} PRIVATE ${sources})
endfunction()

# pgas_compiled_together(TARGET [ALONE FILES...]): compiles the sources of a tool in pieces of seven. The fast tier
# compiles each source alone, which detects missing includes. A build for a wheel compiles one piece: most of the time
# goes into the templates of other libraries (CLI11, nlohmann-json, fmt), and each piece compiles these templates again.
# Sources that share private names are compiled alone.
function(pgas_compiled_together target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ALONE")
  set(most 7)
  if(PGAS_UNITY_BUILD)
    set(most 100)
  endif()
  if(PGAS_TEST_TIER STREQUAL "fast" AND NOT PGAS_SANITIZE AND NOT PGAS_UNITY_BUILD)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(REMOVE_ITEM sources ${arg_ALONE})
  set(pieces ${arg_ALONE})
  list(LENGTH sources left)
  while(left GREATER 0)
    list(SUBLIST sources 0 ${most} together)
    list(REMOVE_ITEM sources ${together})
    list(LENGTH sources left)
    pgas_one_source(piece ${target}_${left}_left ${together})
    list(APPEND pieces ${piece})
  endwhile()
  set_target_properties(${target} PROPERTIES SOURCES "${pieces}")
endfunction()

if(PGAS_SANITIZE STREQUAL "address")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined> $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  # In code with the sanitizer's checks, GCC reports members of std::function as uninitialized.
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
  add_link_options(-fsanitize=address,undefined)
elseif(PGAS_SANITIZE STREQUAL "thread")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=thread> $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  add_link_options(-fsanitize=thread)
elseif(PGAS_SANITIZE)
  message(FATAL_ERROR "PGAS_SANITIZE=${PGAS_SANITIZE}: choose address or thread")
endif()
if(PGAS_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
  string(TOUPPER ${PGAS_SANITIZE} sanitizer)
  add_compile_definitions(__SANITIZE_${sanitizer}__=1)  # GCC defines this macro; Clang defines it since version 21
  # Clang's check uses a pipe to find out whether an object can be read. This fails in tests that use up all
  # descriptors.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=vptr>)
endif()
