# Changes the build of the library in the test of the source distribution, as CMAKE_TOOLCHAIN_FILE. The test checks only
# that all files of a wheel exist, so it compiles without optimization, with precompiled headers, and with the sources
# of a folder compiled together.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO -O0 CACHE STRING "" FORCE)
set(PGAS_TEST_TIER fast CACHE STRING "")
set(PGAS_UNITY_BUILD ON CACHE BOOL "")
