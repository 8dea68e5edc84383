// A libucp.so.0 that ends the process at any call, as UCX does if it cannot get a resource.
#include <cstdio>
#include <cstdlib>

extern "C" __attribute__((visibility("default"))) void ucp_get_version(unsigned*, unsigned*, unsigned*) {
  std::fputs("ucx: Fatal: there is something that this library can't go on without\n", stderr);
  std::abort();
}
