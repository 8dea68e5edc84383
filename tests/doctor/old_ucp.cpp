// A libucp.so.0 that is too old for pgas, like the libraries of distributions of 2020. pgas queries only the version,
// because an old library can lack the functions that pgas looks up later.
extern "C" __attribute__((visibility("default"))) void ucp_get_version(unsigned* major, unsigned* minor,
                                                                       unsigned* release) {
  *major = 1;
  *minor = 8;
  *release = 0;
}
