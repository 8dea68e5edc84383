# The parts that pgas is built from, and the compile options shared by all of its targets.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

# Versions 0.x of a library may each break the ABI of the one before.
set(PGAS_SOVERSION ${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(PGAS_SOVERSION 0.${PROJECT_VERSION_MINOR})
endif()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(PkgConfig)

# CUDA: needed to build the GPU backend, never to run it: the driver is looked up at run time.
set(PGAS_HAVE_CUDA OFF)
if(NOT PGAS_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "GPU architectures")
    endif()
    enable_language(CUDA)
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc has it
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    endif()
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
    set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
    find_package(CUDAToolkit REQUIRED)
    set(PGAS_HAVE_CUDA ON)
    set(PGAS_COMPILED_ONLY --Ofast-compile=max)  # for what PGAS_CUDA_COMPILED_ONLY names
  elseif(PGAS_CUDA STREQUAL "ON")
    message(FATAL_ERROR "PGAS_CUDA=ON, but no nvcc was found: put it on PATH or set CMAKE_CUDA_COMPILER")
  endif()
endif()

# PMIx: headers only; the library is loaded at run time.
set(PGAS_HAVE_PMIX OFF)
if(NOT PGAS_PMIX STREQUAL "OFF")
  if(PkgConfig_FOUND)
    pkg_check_modules(PMIX QUIET pmix)
  endif()
  if(PMIX_FOUND)
    set(PGAS_HAVE_PMIX ON)
  elseif(PGAS_PMIX STREQUAL "ON")
    message(FATAL_ERROR "PGAS_PMIX=ON, but pkg-config does not know pmix: install libpmix-dev")
  endif()
endif()

# UCX: headers only; the library is loaded at run time. 1.13 is the first whose active messages are as used here.
set(PGAS_HAVE_UCX OFF)
if(NOT PGAS_UCX STREQUAL "OFF")
  if(PkgConfig_FOUND)
    pkg_check_modules(UCX QUIET ucx>=1.13)
  endif()
  if(UCX_FOUND)
    set(PGAS_HAVE_UCX ON)
  elseif(PGAS_UCX STREQUAL "ON")
    message(FATAL_ERROR "PGAS_UCX=ON, but pkg-config does not know ucx 1.13 or newer: install libucx-dev")
  endif()
endif()
message(STATUS "pgas: CUDA ${PGAS_HAVE_CUDA}, PMIx ${PGAS_HAVE_PMIX}, UCX ${PGAS_HAVE_UCX}")

# Warnings for the project's own targets.
add_library(pgas_warnings INTERFACE)
set(PGAS_CXX_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast)
target_compile_options(pgas_warnings INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:${PGAS_CXX_WARNINGS}>"
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>")
if(PGAS_WERROR)
  target_compile_options(pgas_warnings INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-Werror>"
    "$<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=-Werror>")
endif()

# pgas_precompiled(TARGET PRIVATE HEADERS... | REUSE_FROM TARGET): what the sources begin with, compiled once. ccache keeps what
# includes that if it is told so.
function(pgas_precompiled target)
  target_precompile_headers(${target} ${ARGN})
  if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache$" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set_target_properties(${target} PROPERTIES
      CXX_COMPILER_LAUNCHER "env;CCACHE_SLOPPINESS=pch_defines,time_macros;${CMAKE_CXX_COMPILER_LAUNCHER}")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endfunction()

# pgas_compiled_together(TARGET [ALONE FILES...]): all but the fast tier compile the sources of a tool in few pieces, those aside that have
# private names of their neighbours. The fast tier finds out which source lacks an include.
function(pgas_compiled_together target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ALONE")
  if(PGAS_TEST_TIER STREQUAL "fast" AND NOT PGAS_SANITIZE AND NOT PGAS_ROOMS_TOGETHER)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 7)
  set_source_files_properties(${arg_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# Sanitizers, one of: address (with undefined), thread.
set(PGAS_SANITIZE "" CACHE STRING "address (with undefined) or thread")
if(PGAS_SANITIZE STREQUAL "address")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined> $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  # With its own instrumentation in between, GCC takes members of std::function for uninitialized.
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
  add_link_options(-fsanitize=address,undefined)
elseif(PGAS_SANITIZE STREQUAL "thread")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=thread> $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  add_link_options(-fsanitize=thread)
elseif(PGAS_SANITIZE)
  message(FATAL_ERROR "PGAS_SANITIZE=${PGAS_SANITIZE}: choose address or thread")
endif()
