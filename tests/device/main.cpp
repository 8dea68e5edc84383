// The entry point of the test programs. A program for GPUs prints which GPUs there are, or that there is none. Options
// besides those of GoogleTest: `--gpus=N` uses N of several GPUs, `--rounds=N` sets the rounds of the stress test and
// the maximum of other tests; see harness.hpp for `--domain=N`, `--scattered` and `--faulty`.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "harness.hpp"

namespace {

/// The number after `name`, if `argument` starts with `name`.
std::uint64_t number_after(std::string_view name, std::string_view argument) {
  return argument.substr(0, name.size()) == name ? std::strtoull(argument.data() + name.size(), nullptr, 10) : 0;
}

#if defined(__CUDACC__)

// The exit status that ctest treats as "skipped". A test that ran never returns this status.
constexpr int skipped = 77;

int run_on_gpus(std::uint64_t limit) {
  if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  int& gpus = pgas_test::gpus();
  if (gpus == 0) {
    std::puts("skipped: no GPU");
    return skipped;
  }
  if (limit >= static_cast<std::uint64_t>(gpus)) {
    std::printf("skipped: there are only %d GPUs, which the same tests without --gpus use\n", gpus);
    return skipped;
  }
  if (limit != 0) gpus = static_cast<int>(limit);
  for (int gpu = 0; gpu < gpus; ++gpu) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, gpu) == cudaSuccess) std::printf("GPU %d: %s\n", gpu, properties.name);
  }
  return RUN_ALL_TESTS();
}

#endif

}  // namespace

int main(int argc, char** argv) {
  // Loads all kernels at the start. Otherwise CUDA would load a kernel while a running kernel waits for the kernel that
  // is being loaded.
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);  // prevents the streams of several PEs from waiting for one another
  testing::InitGoogleTest(&argc, argv);
  [[maybe_unused]] std::uint64_t gpus = 0;
  for (int i = 1; i < argc; ++i) {
    if (const std::uint64_t n = number_after("--gpus=", argv[i])) gpus = n;
    if (const std::uint64_t n = number_after("--rounds=", argv[i])) pgas_test::asked_rounds() = n;
    if (const std::uint64_t n = number_after("--domain=", argv[i])) pgas_test::asked_domain() = static_cast<int>(n);
    if (std::string_view(argv[i]) == "--scattered") pgas_test::asked_scattered() = true;
    if (std::string_view(argv[i]) == "--faulty") pgas_test::asked_fault_seed() = 1;
    if (const std::uint64_t n = number_after("--faulty=", argv[i]))
      pgas_test::asked_fault_seed() = static_cast<std::uint32_t>(n);
  }
#if defined(__CUDACC__)
  return run_on_gpus(gpus);
#else
  return RUN_ALL_TESTS();
#endif
}
