// How the library finds the CUDA driver. LD_LIBRARY_PATH must name the folder of the fake driver
// (tests/support/fake_cuda). A process looks the driver up once, so each test needs a separate process.
#include "device/cuda/driver.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "device/cuda/primary_context.hpp"
#include "device/visible_gpus.hpp"

namespace pgas::unit_test {
namespace {

using namespace detail;

/// The error when the library looks up the driver; empty if there is no error.
std::string refusal() {
  try {
    static_cast<void>(cuda::driver());
    return "";
  } catch (const error& refused) {
    EXPECT_EQ(refused.code(), code::device_unavailable);
    return refused.what();
  }
}

void set(const char* name, const char* value) { ASSERT_EQ(::setenv(name, value, 1), 0); }

TEST(driver, has_every_function) {
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(cuda::driver_version(), 13000);
  EXPECT_NE(cuda::driver().ctx_record, nullptr);
  EXPECT_EQ(visible_gpus(), 1);
}

TEST(driver, of_12_4_is_enough) {
  set("FAKE_CUDA_VERSION", "12040");
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(cuda::driver().ctx_record, nullptr);
}

TEST(driver, that_is_too_old_is_named) {
  set("FAKE_CUDA_VERSION", "12020");
  EXPECT_NE(refusal().find("is for CUDA 12.2: install a driver for CUDA 12.4 or newer"), std::string::npos)
      << refusal();
}

TEST(driver, without_a_function_is_named) {
  set("FAKE_CUDA_LACKS", "cuMemCreate");
  EXPECT_NE(refusal().find("no cuMemCreate: install a driver for CUDA 12.0 or newer"), std::string::npos) << refusal();
}

TEST(driver, that_does_not_start_is_named) {
  set("FAKE_CUDA_INIT", "100");
  EXPECT_NE(refusal().find("looking for GPUs (cuInit): CUDA_ERROR_100"), std::string::npos) << refusal();
}

// Programs without the CUDA runtime open and close the memory of tickets. The driver must not create a context each
// time.
TEST(driver, creates_a_primary_context_once) {
  const auto is_active = [] {
    unsigned flags = 0;
    int active = 0;
    EXPECT_EQ(cuda::driver().primary_state(0, &flags, &active), CUDA_SUCCESS);
    return active != 0;
  };
  EXPECT_FALSE(is_active());
  { const cuda::primary_context first(0); }
  EXPECT_TRUE(is_active());
  { const cuda::primary_context second(0); }
  EXPECT_TRUE(is_active());
}

}  // namespace
}  // namespace pgas::unit_test
