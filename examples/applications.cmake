# The applications: stencils, solvers, particles, experts, all-reduce; also the same programs with MPI if MPI is found.
# pgas_test_application(NAME VARIANT N ENVIRONMENT ARGUMENTS...): runs an application on N PEs with ARGUMENTS;
# ENVIRONMENT is a list.
function(pgas_test_application name variant n environment)
  pgas_test_example(${name} ${n} host ${ARGN} NAME example.${name}.${variant}.${n}pe)
  set_property(TEST example.${name}.${variant}.${n}pe APPEND PROPERTY ENVIRONMENT ${environment})
endfunction()

# Stencils and solvers
set(PGAS_STENCIL_EXAMPLES 20_stencil3d 21_persistent 22_cg)
list(APPEND PGAS_EXAMPLES ${PGAS_STENCIL_EXAMPLES})
foreach(example IN LISTS PGAS_STENCIL_EXAMPLES)
  add_executable(${example} ${example}.cpp)
  target_link_libraries(${example} PRIVATE pgas::pgas pgas_warnings)
  target_compile_options(${example} PRIVATE -O3)  # vectorizes loops
endforeach()
find_package(MPI QUIET COMPONENTS CXX)
find_program(PGAS_MPIRUN mpirun)
if(MPI_CXX_FOUND)
  foreach(example 20_stencil3d 22_cg)
    add_executable(${example}_mpi mpi/${example}_mpi.cpp)
    target_compile_definitions(${example}_mpi PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)  # no C++ bindings
    target_include_directories(${example}_mpi PRIVATE ${PROJECT_SOURCE_DIR}/include)  # headers only, no library
    target_link_libraries(${example}_mpi PRIVATE pgas_warnings MPI::MPI_CXX)
    target_compile_options(${example}_mpi PRIVATE -O3)
  endforeach()
endif()
if(PGAS_BUILD_TESTS)
  foreach(n 1 2 3 4 6 8)
    foreach(faces pack iput remote packets)
      pgas_test_application(20_stencil3d ${faces} ${n} "" --faces ${faces} --size 13,11,17 --iterations 20 --fields 2)
      pgas_test_application(20_stencil3d ${faces}.27 ${n} "" --faces ${faces} --size 9,14,8 --iterations 20 --points 27 --boundary periodic)
    endforeach()
  endforeach()
  foreach(faces pack iput remote packets)  # mixed: two domains of two PEs each; proxied: each PE is its own domain
    pgas_test_application(20_stencil3d ${faces}.mixed 4 PGAS_P2P=0,2/1,3 --faces ${faces} --size 13,11,17 --pes 2,2,1 --points 27 --iterations 20)
    pgas_test_application(20_stencil3d ${faces}.proxied 4 PGAS_P2P=0 --faces ${faces} --size 13,11,17 --pes 1,2,2 --iterations 20)
    pgas_test_application(20_stencil3d ${faces}.checks 4 PGAS_CHECKS=1 --faces ${faces} --size 13,11,17 --pes 4,1,1 --boundary periodic --iterations 20)
    pgas_test_application(20_stencil3d ${faces}.blocks 4 "" --faces ${faces} --size 13,11,17 --points 27 --fields 2 --blocks 3 --iterations 20)
  endforeach()
  # Messages that are unpacked in several parts.
  pgas_test_application(20_stencil3d pack.parts 4 "" --faces pack --size 90,45,70 --pes 2,2,1 --points 27 --blocks 3 --iterations 6)
  pgas_test_application(20_stencil3d pack.parts 3 PGAS_HOST_BLOCK_THREADS=4 --faces pack --size 61,50,20 --pes 1,1,3 --fields 2 --boundary periodic --iterations 6)
  # These runs have enough threads to show how points are mapped to a GPU's threads.
  pgas_test_application(20_stencil3d threads.27 2 PGAS_HOST_BLOCK_THREADS=64 --size 70,5,13 --points 27 --faces pack --iterations 3)
  pgas_test_application(20_stencil3d threads 2 PGAS_HOST_BLOCK_THREADS=64 --size 70,5,13 --boundary periodic --iterations 3)
  pgas_test_application(20_stencil3d threads.fours 2 PGAS_HOST_BLOCK_THREADS=64 --size 82,9,13 --pes 2,1,1 --fields 2 --iterations 3)
  pgas_test_application(20_stencil3d threads.wide 2 PGAS_HOST_BLOCK_THREADS=64 --size 263,5,9 --pes 2,1,1 --faces packets --iterations 3)
  foreach(n 1 2 4)  # one kernel for the boundary and one for the interior
    pgas_test_application(20_stencil3d two ${n} "" --kernels two --size 13,11,17 --iterations 20 --fields 2)
    pgas_test_application(20_stencil3d two.27 ${n} "" --kernels two --faces pack --size 9,14,8 --iterations 20 --points 27 --boundary periodic)
  endforeach()
  pgas_test_application(20_stencil3d two.wide 2 PGAS_HOST_BLOCK_THREADS=4 --kernels two --size 263,9,9 --pes 2,1,1 --iterations 3)
  pgas_test_application(22_cg threads 2 PGAS_HOST_BLOCK_THREADS=64 --size 40,2,2 --method both --rounds 1)
  pgas_test_application(20_stencil3d small 3 "" --size 1,3,1 --boundary periodic --points 27 --iterations 10)
  foreach(n 1 2 3 4 6 8)
    pgas_test_application(21_persistent remote ${n} "" --size 13,11,17 --iterations 20 --rounds 2 --fields 2)
    pgas_test_application(21_persistent pack.27 ${n} "" --faces pack --points 27 --size 9,14,8 --iterations 20 --rounds 2 --boundary periodic)
  endforeach()
  foreach(faces pack iput remote packets)
    pgas_test_application(21_persistent ${faces}.proxied 4 PGAS_P2P=0,2/1,3 --faces ${faces} --size 13,11,17 --pes 1,2,2 --iterations 20)
    pgas_test_application(21_persistent ${faces}.checks 4 PGAS_CHECKS=1 --faces ${faces} --size 13,11,17 --iterations 20)
    pgas_test_application(21_persistent ${faces}.blocks 4 "" --faces ${faces} --size 13,11,17 --points 27 --blocks 4 --boundary-blocks 2 --iterations 20)
  endforeach()
  # On chip, with several tiles for each PE. With several blocks, a message has several parts, which must not be
  # confused with the parts of the next message.
  foreach(n 1 2 3)
    pgas_test_application(21_persistent tiles ${n} PGAS_HOST_BLOCK_THREADS=2 --blocks 4 --size 13,11,17 --iterations 20 --rounds 2 --fields 2)
    pgas_test_application(21_persistent tiles.27 ${n} "" --blocks 6 --size 9,14,8 --iterations 20 --rounds 2 --points 27 --boundary periodic)
  endforeach()
  foreach(n 1 2 3 4 6 8)
    pgas_test_application(22_cg both ${n} "" --method both --size 13,11,17 --rounds 2)
  endforeach()
  foreach(faces pack iput remote)
    pgas_test_application(22_cg ${faces} 4 "" --method both --faces ${faces} --size 9,8,7 --pes 1,4,1)
    pgas_test_application(22_cg ${faces}.blocks 4 "" --method both --faces ${faces} --size 13,11,17 --pes 2,1,2 --blocks 3 --rounds 1)
    pgas_test_application(22_cg ${faces}.proxied 4 PGAS_P2P=0,2/1,3 --method both --faces ${faces} --size 9,8,7 --pes 2,2,1 --rounds 1)
  endforeach()
  pgas_test_application(22_cg checks 4 PGAS_CHECKS=1 --method both --size 13,11,17 --rounds 1 --history ${CMAKE_CURRENT_BINARY_DIR}/22_cg.csv)
  if(TARGET 20_stencil3d_mpi AND PGAS_MPIRUN)
    foreach(n 1 4)
      add_test(NAME example.20_stencil3d_mpi.${n}pe COMMAND ${PGAS_MPIRUN} --allow-run-as-root --oversubscribe -n ${n}
        $<TARGET_FILE:20_stencil3d_mpi> --size 13,11,17 --iterations 20 --fields 2 --points 27 --boundary periodic)
      add_test(NAME example.22_cg_mpi.${n}pe COMMAND ${PGAS_MPIRUN} --allow-run-as-root --oversubscribe -n ${n}
        $<TARGET_FILE:22_cg_mpi> --size 13,11,17 --method pipelined)
      set_tests_properties(example.20_stencil3d_mpi.${n}pe PROPERTIES PASS_REGULAR_EXPRESSION "check: all")
      set_tests_properties(example.22_cg_mpi.${n}pe PROPERTIES PASS_REGULAR_EXPRESSION "check: the known")
      set_tests_properties(example.20_stencil3d_mpi.${n}pe example.22_cg_mpi.${n}pe PROPERTIES TIMEOUT 120 LABELS multi_pe)
    endforeach()
  endif()
endif()

# Particles, experts, all-reduce
set(PGAS_IRREGULAR_EXAMPLES 23_particles 24_moe 25_allreduce)
list(APPEND PGAS_EXAMPLES ${PGAS_IRREGULAR_EXAMPLES})
foreach(example IN LISTS PGAS_IRREGULAR_EXAMPLES)
  add_executable(${example} ${example}.cpp)
  target_link_libraries(${example} PRIVATE pgas::pgas pgas_warnings)
endforeach()
foreach(example 24_moe 25_allreduce)  # vectorizes loops over the numbers of a piece
  target_compile_options(${example} PRIVATE -O3)
endforeach()
if(PGAS_BUILD_TESTS)
  # Runs the example on 1 to 8 PEs. With the additional options `less` it also runs with checks, with several blocks,
  # with no direct peers, and with two domains of two PEs each.
  function(pgas_test_in_all_ways name less)
    foreach(n 1 2 3 4 6 8)
      pgas_test_application(${name} pes ${n} "" ${ARGN})
    endforeach()
    pgas_test_application(${name} checks 4 PGAS_CHECKS=1 ${ARGN} ${less})
    pgas_test_application(${name} blocks 3 PGAS_HOST_BLOCK_THREADS=2 ${ARGN} ${less} --blocks 2)
    if(PGAS_HAVE_UCX)
      pgas_test_application(${name} proxied 4 PGAS_P2P=0 ${ARGN} ${less})
      pgas_test_application(${name} mixed 4 PGAS_P2P=0,2/1,3 ${ARGN} ${less})
    endif()
  endfunction()

  pgas_test_in_all_ways(23_particles "--particles;300;--steps;6" --particles 5000 --cells 16,13 --steps 40)
  foreach(n 1 4)  # inboxes are full all the time
    pgas_test_application(23_particles full ${n} "" --particles 1000 --cells 5,9 --steps 30 --inbox 10)
  endforeach()
  pgas_test_in_all_ways(24_moe "--experts;6;--tokens;3;--rounds;3" --hidden 256 --experts 13 --topk 4 --tokens 11 --rounds 7)
  pgas_test_application(24_moe everywhere 5 "" --hidden 128 --experts 5 --topk 5 --tokens 1 --rounds 3)  # each token to all PEs

  pgas_test_in_all_ways(25_allreduce "--to;2;--format;fp16;--calls;3" --hidden 512 --from 1 --to 32 --factor 4 --calls 9)
endif()

# Small runs of each application by other launchers.
set(small_20_stencil3d --size 13,11,17 --iterations 20)
set(small_21_persistent --size 13,11,17 --iterations 20 --rounds 1)
set(small_22_cg --size 9,8,7 --method both --rounds 1)
set(small_23_particles --particles 300 --cells 16,13 --steps 6)
set(small_24_moe --hidden 256 --experts 6 --topk 4 --tokens 3 --rounds 3)
set(small_25_allreduce --hidden 512 --from 1 --to 2 --format fp16 --calls 3)
if(PGAS_BUILD_TESTS)
  foreach(example IN LISTS PGAS_STENCIL_EXAMPLES PGAS_IRREGULAR_EXAMPLES)
    add_test(NAME example.${example}.srun
      COMMAND ${PROJECT_SOURCE_DIR}/tests/multi_pe/launchers/slurm.sh $<TARGET_FILE:${example}> ${small_${example}})
    set_tests_properties(example.${example}.srun PROPERTIES SKIP_RETURN_CODE 77 RESOURCE_LOCK slurm)
    set(launched example.${example}.srun)
    if(PGAS_MPIRUN)
      add_test(NAME example.${example}.mpirun
        COMMAND ${PGAS_MPIRUN} --allow-run-as-root --oversubscribe -n 3 $<TARGET_FILE:${example}> ${small_${example}})
      list(APPEND launched example.${example}.mpirun)
    endif()
    set_tests_properties(${launched} PROPERTIES TIMEOUT 120 LABELS multi_pe ENVIRONMENT PGAS_HEAP=host)
  endforeach()
endif()

# apps.py runs all applications and compares their times.
if(PGAS_BUILD_TESTS)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(apps_test ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/perf/apps_test.py ${CMAKE_CURRENT_SOURCE_DIR}/apps.py ${PROJECT_BINARY_DIR})
  add_test(NAME examples.apps_py COMMAND ${apps_test} OfTheApplications)
  add_test(NAME examples.apps_py.made_up COMMAND ${apps_test} OfMadeUpPrograms)
  set_tests_properties(examples.apps_py examples.apps_py.made_up PROPERTIES TIMEOUT 600 LABELS multi_pe)
endif()
