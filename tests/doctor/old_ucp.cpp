// A libucp.so.0 that is too old for pgas, as distributions of 2020 had. Nothing but its version is asked for: it may
// lack any of the functions that are looked up later.
extern "C" __attribute__((visibility("default"))) void ucp_get_version(unsigned* major, unsigned* minor,
                                                                       unsigned* release) {
  *major = 1;
  *minor = 8;
  *release = 0;
}
