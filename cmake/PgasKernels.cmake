# The library's kernels. They are compiled without host code, compressed, and put into the library as data, because the
# library uses the CUDA driver and no other part of CUDA at run time.
set(PGAS_KERNEL_ARCHITECTURES "" CACHE STRING
  "GPU architectures of the library's kernels, as in CMAKE_CUDA_ARCHITECTURES; empty: those with nvcc, all with NVRTC")

# pgas_kernel_architectures(VARIABLE): the architectures of the kernels as names of code: sm_90 is machine code, compute_90
# is PTX.
function(pgas_kernel_architectures variable)
  set(wanted ${PGAS_KERNEL_ARCHITECTURES})
  if(NOT wanted AND PGAS_KERNEL_TOOLKIT)  # machine code for all GPUs since Ampere, and PTX for Turing and for later GPUs
    set(wanted 75-virtual 80-real 86-real 89-real 90-real 100-real 120)
  elseif(NOT wanted)
    set(wanted ${CMAKE_CUDA_ARCHITECTURES})
  endif()
  if(wanted STREQUAL "native")
    set(wanted ${CMAKE_CUDA_ARCHITECTURES_NATIVE})
  elseif(wanted STREQUAL "all")
    set(wanted ${CMAKE_CUDA_ARCHITECTURES_ALL})
  elseif(wanted STREQUAL "all-major")
    set(wanted ${CMAKE_CUDA_ARCHITECTURES_ALL_MAJOR})
  endif()
  set(names)
  foreach(each ${wanted})
    if(NOT each MATCHES "^([0-9]+)(-real|-virtual)?$")
      message(FATAL_ERROR "The library's kernels cannot be compiled for the architecture '${each}': in PGAS_KERNEL_ARCHITECTURES or "
        "CMAKE_CUDA_ARCHITECTURES, use numbers such as 90, 90-real (only machine code) or 90-virtual (only PTX)")
    endif()
    if(NOT CMAKE_MATCH_2 STREQUAL "-virtual")
      list(APPEND names sm_${CMAKE_MATCH_1})
    endif()
    if(NOT CMAKE_MATCH_2 STREQUAL "-real")
      list(APPEND names compute_${CMAKE_MATCH_1})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES names)
  set(${variable} ${names} PARENT_SCOPE)
endfunction()

# pgas_kernels(TARGET SOURCES...): adds the code of SOURCES to TARGET. The source property PGAS_NVCC_OPTIONS has more
# options for nvcc.
function(pgas_kernels target)
  set(includes -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src)
  if(PGAS_KERNEL_TOOLKIT)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    file(GLOB nvrtc ${PGAS_KERNEL_TOOLKIT}/lib/libnvrtc.so.1? ${PGAS_KERNEL_TOOLKIT}/lib64/libnvrtc.so.1?)
    list(LENGTH nvrtc found)
    if(NOT found EQUAL 1)
      message(FATAL_ERROR "PGAS_KERNEL_TOOLKIT=${PGAS_KERNEL_TOOLKIT}: this folder must have one libnvrtc.so.* in lib or lib64")
    endif()
    set(compile ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/cmake/compile_with_nvrtc.py ${nvrtc})
    # NVRTC does not list the files that a source includes.
    file(GLOB_RECURSE dependencies CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/pgas/detail/*.hpp
      ${PROJECT_SOURCE_DIR}/include/pgas/device/*.hpp ${PROJECT_SOURCE_DIR}/src/device/*.hpp ${PROJECT_SOURCE_DIR}/src/device/*.cuh)
  else()
    set(compile ${CMAKE_CUDA_COMPILER_LAUNCHER} ${CMAKE_CUDA_COMPILER} -std=c++20 -DNDEBUG -ccbin ${CMAKE_CXX_COMPILER})
  endif()

  pgas_kernel_architectures(architectures)
  set(compiled)
  set(images)
  set(declarations "")
  set(entries "")
  foreach(source ${ARGN})
    cmake_path(GET source STEM name)
    get_source_file_property(more ${source} PGAS_NVCC_OPTIONS)
    if(NOT more)
      set(more)
    endif()
    foreach(architecture ${architectures})
      string(REGEX REPLACE ".*_" "" number ${architecture})
      if(architecture MATCHES "^compute_")
        set(kind ptx)
        set(is_ptx true)
      else()
        set(kind cubin)
        set(is_ptx false)
      endif()
      set(folder ${CMAKE_CURRENT_BINARY_DIR}/kernels)
      set(code ${folder}/${name}_${number}.${kind})
      if(PGAS_KERNEL_TOOLKIT)
        add_custom_command(OUTPUT ${code}
          COMMAND ${compile} ${source} ${code} --gpu-architecture=${architecture} --std=c++20 -default-device -DNDEBUG ${includes}
            -I${PGAS_CUDA_INCLUDE_DIRS} -I${PGAS_CUDA_INCLUDE_DIRS}/cccl
          DEPENDS ${source} ${dependencies} ${PROJECT_SOURCE_DIR}/cmake/compile_with_nvrtc.py
          COMMENT "Compiling the kernels ${name} for ${architecture} with NVRTC" VERBATIM)
      else()
        # One PTX serves both kinds of code.
        set(ptx ${folder}/${name}_${number}.ptx)
        if(NOT ptx IN_LIST compiled)
          list(APPEND compiled ${ptx})
          add_custom_command(OUTPUT ${ptx}
            COMMAND ${compile} -arch=compute_${number} -ptx ${more} ${includes} -MD -MF ${ptx}.d -MT ${ptx} -o ${ptx} ${source}
            DEPENDS ${source} DEPFILE ${ptx}.d
            COMMENT "Compiling the kernels ${name} for compute_${number}" VERBATIM)
        endif()
        if(kind STREQUAL "cubin")
          add_custom_command(OUTPUT ${code} COMMAND ${compile} -arch=sm_${number} -cubin ${more} -o ${code} ${ptx} DEPENDS ${ptx}
            COMMENT "Assembling the kernels ${name} for sm_${number}" VERBATIM)
        endif()
      endif()
      add_custom_command(OUTPUT ${code}.gz COMMAND gzip -9nkf ${code} DEPENDS ${code} VERBATIM)
      list(APPEND images ${code}.gz)
      string(APPEND declarations "PGAS_IMAGE(${name}_${number}_${kind}, \"${code}.gz\")\n")
      string(APPEND entries "      kernel_image{\"${name}\", ${number}, ${is_ptx}, {${name}_${number}_${kind}_begin, ${name}_${number}_${kind}_end}},\n")
    endforeach()
  endforeach()
  set(data ${CMAKE_CURRENT_BINARY_DIR}/kernels/kernel_image_data.cpp)
  configure_file(${PROJECT_SOURCE_DIR}/src/device/cuda/kernels/kernel_image_data.cpp.in ${data} @ONLY)
  set_source_files_properties(${data} TARGET_DIRECTORY ${target} PROPERTIES OBJECT_DEPENDS "${images}")
  target_sources(${target} PRIVATE ${data})
  list(JOIN architectures ", " text)
  message(STATUS "pgas: kernels compiled by CUDA ${PGAS_CUDA_VERSION_TEXT} for ${text}")
endfunction()
