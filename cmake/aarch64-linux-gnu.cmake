# Toolchain file: the library for 64-bit Arm, compiled on another machine with Debian's cross compiler and executed
# there by qemu. cmake/aarch64_sysroot.sh makes the folder PGAS_SYSROOT with the libraries of Arm.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(PGAS_SYSROOT "" CACHE PATH "Folder with the aarch64 packages of libfmt-dev, libsodium-dev and the others")
option(PGAS_START_WITH_QEMU "Programs are scripts that start the programs with qemu" ON)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PGAS_SYSROOT PGAS_START_WITH_QEMU)
set(CMAKE_FIND_ROOT_PATH ${PGAS_SYSROOT} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(ENV{PKG_CONFIG_LIBDIR} ${PGAS_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${PGAS_SYSROOT})

# The kernel of this machine cannot execute a program for Arm, and pgasrun starts programs. So PROGRAM becomes a script
# that starts PROGRAM.aarch64 with qemu. CMake's own checks look into the programs that they link, which stay as they
# are.
get_property(in_check GLOBAL PROPERTY IN_TRY_COMPILE)
if(PGAS_START_WITH_QEMU AND NOT in_check)
  foreach(language C CXX)
    string(CONCAT link "<CMAKE_${language}_COMPILER> <FLAGS> <CMAKE_${language}_LINK_FLAGS> <LINK_FLAGS> <OBJECTS> "
      "-o <TARGET>.aarch64 <LINK_LIBRARIES>")
    set(CMAKE_${language}_LINK_EXECUTABLE ${link} "install -m 755 ${CMAKE_CURRENT_LIST_DIR}/start_with_qemu.sh <TARGET>")
  endforeach()
endif()
