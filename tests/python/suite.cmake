# Runs pytest or mypy in the environment that environments.py has made: -DCLEAN=DIR -DROOT=SOURCES -DWHAT="WORDS..."
# [-DCXX=COMPILER]. PATH contains only the environment and the system. If there is no such environment, environments.py
# has printed the reason, and the test is skipped.
if(NOT EXISTS ${CLEAN}/bin/pgasrun)
  message("skipped: python.setup has made no environment")
  return()
endif()
separate_arguments(words UNIX_COMMAND "${WHAT}")
set(ENV{PATH} ${CLEAN}/bin:/usr/bin:/bin)
set(ENV{PYTHONDONTWRITEBYTECODE} 1)
set(ENV{TEST_CXX} "${CXX}")
unset(ENV{PYTHONPATH})
execute_process(COMMAND ${CLEAN}/bin/python -m ${words} WORKING_DIRECTORY ${ROOT}/tests/python RESULT_VARIABLE failed)
if(NOT failed EQUAL 0)
  message(FATAL_ERROR "${WHAT}: ${failed}")
endif()
