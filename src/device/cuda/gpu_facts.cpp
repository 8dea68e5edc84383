#include "device/gpu_facts.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "common/nvml.hpp"
#include "device/cuda/gpu_properties.hpp"
#include "device/cuda/kernels/kernel_images.hpp"
#include "device/visible_gpus.hpp"

namespace pgas::detail {

using cuda::check;
using cuda::driver;
using cuda::has;

namespace {

/// Whether the driver gives a process the channel that fabric handles need.
bool fabric_channel_there() {
  std::error_code none;
  const std::filesystem::directory_iterator channels("/dev/nvidia-caps-imex-channels", none);
  return !none && channels != std::filesystem::directory_iterator();
}

/// The properties of GPUs that NVML reports and CUDA does not.
class management {
 public:
  void describe(gpu_facts& gpu) const {
    const nvml::gpu here = library_.find(gpu.uuid);
    if (here == nullptr) return;
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
  using handle = nvml::gpu;
  static constexpr int multiprocessors = 1;  // NVML_CLOCK_SM
  static constexpr unsigned long long software_power = 0x4;
  static constexpr unsigned long long software_heat = 0x20;
  static constexpr unsigned long long hardware_heat = 0x40;
  static constexpr unsigned long long hardware_power = 0x80;

  const nvml library_;
  int (*const persistence_)(handle, int*) = library_.function<int(handle, int*)>("nvmlDeviceGetPersistenceMode");
  int (*const clock_)(handle, int,
                      unsigned*) = library_.function<int(handle, int, unsigned*)>("nvmlDeviceGetClockInfo");
  int (*const highest_)(handle, int,
                        unsigned*) = library_.function<int(handle, int, unsigned*)>("nvmlDeviceGetMaxClockInfo");
  int (*const reasons_)(handle, unsigned long long*) =
      library_.function<int(handle, unsigned long long*)>("nvmlDeviceGetCurrentClocksThrottleReasons");
};

void describe_peers(int ordinal, int n, gpu_facts& gpu) {
  for (int other = 0; other < n; ++other) {
    if (other == ordinal) continue;
    const auto supports = [&](CUdevice_P2PAttribute attribute) {
      int value = 0;
      return driver().peer_attribute(&value, attribute, ordinal, other) == CUDA_SUCCESS && value != 0;
    };
    gpu_pair pair{other};
    pair.access = supports(CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED);
    pair.native_atomics = supports(CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED);
    gpu.peers.push_back(pair);
  }
}

gpu_facts describe(int ordinal, int n) {
  gpu_facts gpu;
  gpu.name = cuda::name_of(ordinal);
  gpu.uuid = text_of(uuid_of_gpu(ordinal));
  gpu.pci = cuda::pci_address_of(ordinal);
  check(driver().device_memory(&gpu.memory_bytes, ordinal), "cuDeviceTotalMem", code::device_unavailable);
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
  all.driver = cuda::driver_version();
  all.kernels = cuda::kernel_compiler_version();
  all.fabric_channel = fabric_channel_there();
  const management clocks;
  for (int ordinal = 0; ordinal < n; ++ordinal) {
    gpu_facts gpu = describe(ordinal, n);
    clocks.describe(gpu);
    all.mps = all.mps || has(ordinal, CU_DEVICE_ATTRIBUTE_MPS_ENABLED);
    all.gpus.push_back(std::move(gpu));
  }
  return all;
}

}  // namespace pgas::detail
