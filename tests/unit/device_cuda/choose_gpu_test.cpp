// The choice of a world's GPU from what the driver reports about the current context. The driver is a fake, so no GPU
// is needed.
#include "device/cuda/choose_gpu.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstddef>

#include "device/device.hpp"

namespace pgas::unit_test {
namespace {

using namespace detail;

TEST(CheckWork, TakesNoErrorOfACaptureForFailedWork) {
  for (const CUresult none : {CUDA_SUCCESS, CUDA_ERROR_NOT_READY, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                              CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD})
    EXPECT_FALSE(cuda::is_failed_work(none)) << none;
  for (const CUresult failed : {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_ECC_UNCORRECTABLE,
                                CUDA_ERROR_ASSERT, CUDA_ERROR_UNKNOWN})
    EXPECT_TRUE(cuda::is_failed_work(failed)) << failed;
}

/// Contexts are numbers. The primary context of GPU g is 100 + g.
struct {
  std::uintptr_t current = 0;
  int retained = 0;
} state;

CUcontext context_of(std::uintptr_t number) { return reinterpret_cast<CUcontext>(number); }

cuda::driver_api fake_driver() {
  // The constructor looks up functions in a real driver, so this object is made from zero bytes instead.
  auto api = std::bit_cast<cuda::driver_api>(std::array<std::byte, sizeof(cuda::driver_api)>{});
  api.ctx_current = [](CUcontext* context) {
    *context = context_of(state.current);
    return CUDA_SUCCESS;
  };
  api.ctx_device = [](CUdevice* device) {
    *device = static_cast<CUdevice>(state.current % 100);
    return CUDA_SUCCESS;
  };
  api.primary_retain = [](CUcontext* context, CUdevice device) {
    ++state.retained;
    *context = context_of(100 + static_cast<std::uintptr_t>(device));
    return CUDA_SUCCESS;
  };
  api.primary_release = [](CUdevice) {
    --state.retained;
    return CUDA_SUCCESS;
  };
  return api;
}

TEST(choose_gpu, takes_the_one_that_is_asked_for_then_the_current_one) {
  const cuda::driver_api api = fake_driver();
  state.current = 0;
  EXPECT_EQ(cuda::choose_gpu(api, -1, 5), 5);
  EXPECT_EQ(cuda::choose_gpu(api, 2, 5), 2);
  state.current = 103;
  EXPECT_EQ(cuda::choose_gpu(api, -1, 5), 3);
  EXPECT_EQ(cuda::choose_gpu(api, 3, 5), 3);
  EXPECT_EQ(cuda::choose_gpu(api, 2, 5), 2);
  EXPECT_EQ(state.retained, 0);
}

TEST(choose_gpu, refuses_a_context_of_the_application_by_name) {
  const cuda::driver_api api = fake_driver();
  state.current = 203;  // a context of GPU 3 from cuCtxCreate()
  for (const int asked : {-1, 3}) {
    try {
      static_cast<void>(cuda::choose_gpu(api, asked, 5));
      ADD_FAILURE() << "accepted";
    } catch (const detail::misused_gpu& refused) {
      EXPECT_NE(std::string(refused.what()).find("GPU 3 is not its primary one"), std::string::npos) << refused.what();
    }
  }
  EXPECT_EQ(cuda::choose_gpu(api, 2, 5), 2);  // the context of another GPU has no influence
  EXPECT_EQ(state.retained, 0);
}

}  // namespace
}  // namespace pgas::unit_test
