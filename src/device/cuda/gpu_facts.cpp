#include "device/gpu_facts.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "device/cuda/driver.hpp"
#include "device/visible_gpus.hpp"

namespace pgas::detail {

using cuda::check;
using cuda::driver;

namespace {

bool has(int ordinal, CUdevice_attribute attribute) {
  int value = 0;
  return driver().attribute(&value, attribute, ordinal) == CUDA_SUCCESS && value != 0;
}

/// Whether the driver gives a process the channel that fabric handles need.
bool fabric_channel_there() {
  std::error_code none;
  const std::filesystem::directory_iterator channels("/dev/nvidia-caps-imex-channels", none);
  return !none && channels != std::filesystem::directory_iterator();
}

/// The few functions of NVML that tell what CUDA does not. Its header is not part of every toolkit.
class nvml {
 public:
  nvml() : handle_(::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) return;
    const auto start = look_up<int()>("nvmlInit_v2");
    find_ = look_up<int(const char*, device*)>("nvmlDeviceGetHandleByUUID");
    persistence_ = look_up<int(device, int*)>("nvmlDeviceGetPersistenceMode");
    clock_ = look_up<int(device, int, unsigned*)>("nvmlDeviceGetClockInfo");
    highest_ = look_up<int(device, int, unsigned*)>("nvmlDeviceGetMaxClockInfo");
    reasons_ = look_up<int(device, unsigned long long*)>("nvmlDeviceGetCurrentClocksThrottleReasons");
    started_ = start != nullptr && find_ != nullptr && start() == 0;
  }
  ~nvml() {
    if (started_)
      if (const auto stop = look_up<int()>("nvmlShutdown")) stop();
    // Not closed: its destructors have been seen to outlive it.
  }
  nvml(const nvml&) = delete;
  nvml& operator=(const nvml&) = delete;

  void describe(gpu_facts& gpu) const {
    device here = nullptr;
    if (!started_ || find_(gpu.uuid.c_str(), &here) != 0) return;
    int persistent = 0;
    if (persistence_ != nullptr && persistence_(here, &persistent) == 0) gpu.persistent = persistent != 0;
    unsigned mhz = 0;
    if (clock_ != nullptr && clock_(here, multiprocessors, &mhz) == 0) gpu.clock = mhz;
    if (highest_ != nullptr && highest_(here, multiprocessors, &mhz) == 0) gpu.highest = mhz;
    unsigned long long why = 0;
    if (reasons_ == nullptr || reasons_(here, &why) != 0) return;
    if ((why & (software_power | hardware_power)) != 0) gpu.slowed = "power";
    if ((why & (software_heat | hardware_heat)) != 0) gpu.slowed = "heat";
  }

 private:
  using device = struct nvmlDevice_st*;
  static constexpr int multiprocessors = 1;  // NVML_CLOCK_SM
  static constexpr unsigned long long software_power = 0x4;
  static constexpr unsigned long long software_heat = 0x20;
  static constexpr unsigned long long hardware_heat = 0x40;
  static constexpr unsigned long long hardware_power = 0x80;

  template <class Function>
  Function* look_up(const char* name) const {
    return reinterpret_cast<Function*>(::dlsym(handle_, name));
  }

  void* handle_;
  bool started_ = false;
  int (*find_)(const char*, device*) = nullptr;
  int (*persistence_)(device, int*) = nullptr;
  int (*clock_)(device, int, unsigned*) = nullptr;
  int (*highest_)(device, int, unsigned*) = nullptr;
  int (*reasons_)(device, unsigned long long*) = nullptr;
};

void describe_peers(int ordinal, int n, gpu_facts& gpu) {
  for (int other = 0; other < n; ++other) {
    if (other == ordinal) continue;
    gpu_pair pair{other};
    int value = 0;
    pair.access =
        cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, ordinal, other) == cudaSuccess && value != 0;
    value = 0;
    pair.native_atomics =
        cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrNativeAtomicSupported, ordinal, other) == cudaSuccess &&
        value != 0;
    static_cast<void>(cudaGetLastError());
    gpu.peers.push_back(pair);
  }
}

gpu_facts describe(int ordinal, int n) {
  gpu_facts gpu;
  cudaDeviceProp described{};
  check(cudaGetDeviceProperties(&described, ordinal), "cudaGetDeviceProperties", code::device_unavailable);
  gpu.name = described.name;
  gpu.uuid = text_of(uuid_of_gpu(ordinal));
  gpu.pci = fmt::format("{:04x}:{:02x}:{:02x}.0", described.pciDomainID, described.pciBusID, described.pciDeviceID);
  gpu.memory_bytes = described.totalGlobalMem;
  int mode = 0;
  if (driver().attribute(&mode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, ordinal) == CUDA_SUCCESS) {
    gpu.prohibited = mode == CU_COMPUTEMODE_PROHIBITED;
    gpu.exclusive = mode == CU_COMPUTEMODE_EXCLUSIVE_PROCESS;
  }
  gpu.posix_handles = has(ordinal, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
  gpu.fabric_handles = has(ordinal, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED);
  gpu.rdma = has(ordinal, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED);
  describe_peers(ordinal, n, gpu);
  return gpu;
}

}  // namespace

gpu_survey survey_gpus() {
  gpu_survey all;
  const int n = visible_gpus();
  check(cudaDriverGetVersion(&all.driver), "cudaDriverGetVersion", code::device_unavailable);
  check(cudaRuntimeGetVersion(&all.runtime), "cudaRuntimeGetVersion", code::device_unavailable);
  all.fabric_channel = fabric_channel_there();
  const nvml management;
  for (int ordinal = 0; ordinal < n; ++ordinal) {
    gpu_facts gpu = describe(ordinal, n);
    management.describe(gpu);
    all.mps = all.mps || has(ordinal, CU_DEVICE_ATTRIBUTE_MPS_ENABLED);
    all.gpus.push_back(std::move(gpu));
  }
  return all;
}

}  // namespace pgas::detail
