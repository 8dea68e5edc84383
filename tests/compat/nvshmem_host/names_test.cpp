// Headers, macros and types of NVSHMEM that programs use besides functions.
#include <bootstrap_device_host/nvshmem_uniqueid.h>
#include <device/nvshmemx_collective_launch_apis.h>
#include <device_host/nvshmem_types.h>
#include <host/nvshmem_api.h>
#include <host/nvshmem_coll_api.h>
#include <host/nvshmemx_api.h>
#include <host/nvshmemx_coll_api.h>
#include <non_abi/nvshmem_build_options.h>
#include <non_abi/nvshmem_version.h>
#include <non_abi/nvshmemx_error.h>
#include <nvshmem_host.h>
#include <nvshmemx_error.h>

#include <device/nvshmem_coll_defines.cuh>
#include <device/nvshmemx_coll_defines.cuh>
#include <device_host/nvshmem_common.cuh>

#include "support.hpp"

namespace {

TEST(NvshmemNames, errors_are_printed_with_their_place) {
  testing::internal::CaptureStderr();
  const int line = __LINE__ + 1;
  if (line > 0) NVSHMEMI_ERROR_PRINT("status %d of %s\n", NVSHMEMX_ERROR_INTERNAL, "something");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            std::string{__FILE__} + ":" + std::to_string(line) + ": status 7 of something\n");
}

TEST(NvshmemNames, statuses_have_names) {
  EXPECT_STREQ(nvshmemx_status_string(NVSHMEMX_SUCCESS), "NVSHMEMX_SUCCESS");
  EXPECT_STREQ(nvshmemx_status_string(NVSHMEMX_ERROR_INTERNAL), "NVSHMEMX_ERROR_INTERNAL");
  for (const int unknown : {-1, 8, INT_MAX}) EXPECT_STREQ(nvshmemx_status_string(unknown), "NVSHMEMX_ERROR_<unknown>");
  int number = 0;
  for (const char* const name : nvshmemx_status_strings) EXPECT_STREQ(name, nvshmemx_status_string(number++));
}

/// The initial values of the structs are the initial values in NVSHMEM's headers. So a program that sets only some
/// fields gets the same result as with NVSHMEM.
TEST(NvshmemNames, versions_of_attributes_are_set_alone) {
  nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;
  EXPECT_EQ(attr.version, NVSHMEM_INIT_ATTR_V2_IDENTIFIER);
  EXPECT_EQ(attr.args.cuda_device_id, -1);
  attr.args.cuda_device_id = 5;
  nvshmemx_init_init_attr_ver_only(attr);
  EXPECT_EQ(attr.version, NVSHMEM_INIT_ATTR_V1_IDENTIFIER);
  EXPECT_EQ(attr.args.version, (1 << 16) + 128);
  EXPECT_EQ(attr.args.cuda_device_id, 5);
}

TEST(NvshmemNames, the_version_is_said_in_one_place) {
  int major = 0, minor = 0, patch = 0;
  nvshmemx_vendor_get_version_info(&major, &minor, &patch);
  EXPECT_EQ(major * 10000 + minor * 100 + patch, NVSHMEM_VENDOR_VERSION);
  EXPECT_EQ(major, NVSHMEM_VENDOR_MAJOR_VERSION);
}

/// The signal functions of old versions set the neighbour's word.
TEST(NvshmemNames, signals_by_type) {
  nvshmem_init();
  const int right = (nvshmem_my_pe() + 1) % nvshmem_n_pes();
  auto* const words = static_cast<long*>(nvshmem_calloc(2, sizeof(long)));
  auto* const half = reinterpret_cast<short*>(words + 1);
  nvshmemx_long_signal(words, 5'000'000'000, right);
  nvshmemx_short_signal(half, -3, right);
  nvshmem_long_wait_until(words, NVSHMEM_CMP_EQ, 5'000'000'000);
  nvshmem_short_wait_until(half, NVSHMEM_CMP_EQ, -3);
  nvshmem_free(words);
  nvshmem_finalize();
}

}  // namespace
