// A libucp.so.0 that is too old for pgas, like the libraries of distributions of 2020. Only its version is queried,
// because it may lack the functions that are looked up later.
extern "C" __attribute__((visibility("default"))) void ucp_get_version(unsigned* major, unsigned* minor,
                                                                       unsigned* release) {
  *major = 1;
  *minor = 8;
  *release = 0;
}
