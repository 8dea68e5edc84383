# cmake --install copies all files or none, and names the command that builds missing files. The test uses a project of
# two pages, and this build.
#   cmake -DBUILD=... -DMODULES=cmake -DWORK=... "-DGENERATOR=..." -P install_test.cmake
cmake_minimum_required(VERSION 3.25)

# install(TREE PREFIX): sets status, output, and installed, which are the files that exist afterwards.
function(install tree prefix)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${tree} --prefix ${prefix} ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  file(GLOB_RECURSE installed RELATIVE ${prefix} ${prefix}/*)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  foreach(result status output installed)
    set(${result} "${${result}}" PARENT_SCOPE)
  endforeach()
endfunction()

function(expect_nothing_installed tree)
  string(FIND "${output}" "cmake --build ${tree} --target installable" command)
  if(status EQUAL 0 OR command EQUAL -1 OR installed)
    message(FATAL_ERROR "status ${status}, installed '${installed}', expected nothing and the command that builds it:\n${output}")
  endif()
endfunction()

function(expect_installed)
  if(NOT status EQUAL 0 OR NOT installed STREQUAL "${ARGN}")
    message(FATAL_ERROR "status ${status}, installed '${installed}', expected '${ARGN}':\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
file(CONFIGURE OUTPUT ${WORK}/CMakeLists.txt @ONLY CONTENT [[
cmake_minimum_required(VERSION 3.25)
project(pages NONE)
include(@MODULES@/PgasInstallable.cmake)
file(WRITE ${PROJECT_BINARY_DIR}/ready "")
install(FILES ${PROJECT_BINARY_DIR}/ready DESTINATION share COMPONENT devel)
add_custom_command(OUTPUT built COMMAND ${CMAKE_COMMAND} -E touch built)
add_custom_target(pages DEPENDS built)
pgas_installable(tools TARGETS pages FILES ${PROJECT_BINARY_DIR}/built)
install(FILES ${PROJECT_BINARY_DIR}/built DESTINATION share COMPONENT tools)
pgas_write_installable()
]])
execute_process(COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -S ${WORK} -B ${WORK}/tree OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
install(${WORK}/tree ${WORK}/not_built)
expect_nothing_installed(${WORK}/tree)
install(${WORK}/tree ${WORK}/component --component devel)
expect_installed(share/ready)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/tree --target installable OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
install(${WORK}/tree ${WORK}/built)
expect_installed(share/built share/ready)

install(${BUILD} ${WORK}/this)
if(NOT status EQUAL 0)
  expect_nothing_installed(${BUILD})
endif()
