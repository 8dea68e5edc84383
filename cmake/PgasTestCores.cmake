# Tests whose threads or PEs wait for one another in loops have their cores for themselves: beside a process that never waits, each turn of
# one takes one of the scheduler's slices, and they take 10 to 80 times as long. On one core they are as fast as on two, or nearly, and leave
# the others to other tests. Those that try what happens at the same time have all cores.
#
# ctest begins with the most COST: with those on one core. As each counts as two processes and `./run` allows two more than there are cores, no
# other test begins before they are done, on two cores. Those on all cores come last, when nothing else runs.
set(PGAS_ALL_CORES PROCESSORS 8)
set(PGAS_ONE_CORE PROCESSORS 2 COST 1000)
set(PGAS_ON_ONE_CORE ${PROJECT_SOURCE_DIR}/tests/support/on_one_core.sh)

# pgas_test_on_one_core(NAME COMMAND WORDS...): what add_test() does, on one core.
function(pgas_test_on_one_core name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" COMMAND)
  list(POP_FRONT arg_COMMAND program)
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  add_test(NAME ${name} COMMAND ${PGAS_ON_ONE_CORE} ${program} ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES ${PGAS_ONE_CORE})
endfunction()
