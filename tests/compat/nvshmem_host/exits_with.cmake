# Runs PROGRAM with MODE and STATUS as 3 PEs, and fails unless all of it exits with STATUS.
execute_process(COMMAND ${RUN} -n 3 ${PROGRAM} ${MODE} ${STATUS} RESULT_VARIABLE found TIMEOUT 30)
if(NOT found STREQUAL STATUS)
  message(FATAL_ERROR "exited with '${found}' instead of ${STATUS}")
endif()
