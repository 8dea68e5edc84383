# What the test of the source distribution changes in the build of its library, as CMAKE_TOOLCHAIN_FILE: whether all that a wheel needs is in it
# is seen as well without optimization, with the common headers precompiled, and with the sources of a room compiled together.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO -O0 CACHE STRING "" FORCE)
set(PGAS_TEST_TIER fast CACHE STRING "")
set(PGAS_ROOMS_TOGETHER ON CACHE BOOL "")
