// A libucp.so.0 that ends the process that asks it for anything, as UCX does where it can't get what it needs.
#include <cstdio>
#include <cstdlib>

extern "C" __attribute__((visibility("default"))) void ucp_get_version(unsigned*, unsigned*, unsigned*) {
  std::fputs("ucx: Fatal: there is something that this library can't go on without\n", stderr);
  std::abort();
}
