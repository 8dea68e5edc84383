# Tests whose threads or PEs wait for one another in loops use cores that no other test uses. On a core shared with a
# process that never waits, each switch between their threads would take a time slice of the scheduler, and the tests
# would take 10 to 80 times as long. These tests are as fast or nearly as fast on one core as on two, and leave the
# other cores to other tests.
# Tests of simultaneous events have all cores.
#
# ctest starts the tests with the highest COST first. These are the tests on one core. Each of them counts as two
# processes, and `./run` allows two processes more than cores. On two cores, no other test therefore starts before they
# have ended. Tests on all cores come last, when no other test runs.
set(PGAS_ALL_CORES PROCESSORS 8)
set(PGAS_ONE_CORE PROCESSORS 2 COST 1000)
set(PGAS_ON_ONE_CORE ${PROJECT_SOURCE_DIR}/tests/support/on_one_core.sh)

# pgas_test_on_one_core(NAME COMMAND WORDS...): like add_test(), on one core.
function(pgas_test_on_one_core name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" COMMAND)
  list(POP_FRONT arg_COMMAND program)
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  add_test(NAME ${name} COMMAND ${PGAS_ON_ONE_CORE} ${program} ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES ${PGAS_ONE_CORE})
endfunction()
