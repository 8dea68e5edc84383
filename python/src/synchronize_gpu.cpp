// Waits for all work of a GPU, on all streams. This is the only place where the package calls the driver.
#include <dlfcn.h>

#include <string>

#include "joined_world.hpp"

namespace pgas::python {
namespace {

/// The driver's functions, by their exported names. The driver is already loaded, because there is a GPU heap.
class driver {
 public:
  driver() {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw error(code::device_unavailable, std::string("libcuda.so.1: ") + dlerror());
    find(library, "cuDeviceGet", device_get);
    find(library, "cuDevicePrimaryCtxRetain", retain);
    find(library, "cuDevicePrimaryCtxRelease_v2", release);
    find(library, "cuCtxPushCurrent_v2", push);
    find(library, "cuCtxPopCurrent_v2", pop);
    find(library, "cuCtxSynchronize", synchronize);
  }

  int (*device_get)(int* device, int ordinal) = nullptr;
  int (*retain)(void** context, int device) = nullptr;
  int (*release)(int device) = nullptr;
  int (*push)(void* context) = nullptr;
  int (*pop)(void** context) = nullptr;
  int (*synchronize)() = nullptr;

 private:
  template <class Function>
  static void find(void* library, const char* name, Function*& place) {
    place = reinterpret_cast<Function*>(dlsym(library, name));
    if (place == nullptr) throw error(code::device_unavailable, std::string("libcuda.so.1 has no ") + name);
  }
};

void check(int result, const char* call) {
  if (result != 0)
    throw error(code::device_failed, std::string(call) + " failed with CUDA error " + std::to_string(result) +
                                         ", while waiting for the work of the GPU before freeing memory");
}

}  // namespace

void synchronize_gpu(int ordinal) {
  static const driver cuda;
  int device = 0;
  void* context = nullptr;
  check(cuda.device_get(&device, ordinal), "cuDeviceGet");
  check(cuda.retain(&context, device), "cuDevicePrimaryCtxRetain");
  int result = cuda.push(context);
  if (result == 0) {
    result = cuda.synchronize();
    void* popped = nullptr;
    cuda.pop(&popped);
  }
  cuda.release(device);
  check(result, "cuCtxSynchronize");
}

}  // namespace pgas::python
