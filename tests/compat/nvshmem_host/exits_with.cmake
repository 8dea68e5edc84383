# Runs COMMAND and fails unless it exits with STATUS.
execute_process(COMMAND ${COMMAND} RESULT_VARIABLE found TIMEOUT 30)
if(NOT found STREQUAL STATUS)
  message(FATAL_ERROR "exited with '${found}' instead of ${STATUS}")
endif()
