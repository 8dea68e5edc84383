# Fails if the committed page differs from the output of the tool. After a change of a table: TOOL FLAG --markdown >
# PAGE.
execute_process(COMMAND ${TOOL} ${FLAG} --markdown OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
file(READ ${PAGE} committed)
if(NOT printed STREQUAL committed)
  message(FATAL_ERROR "${PAGE} is not what the table says; run: pgas-info ${FLAG} --markdown > ${PAGE}")
endif()
