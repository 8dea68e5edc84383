// The largest grid of a collective launch. The CUDA runtime and the library's functions are fakes.
#include <gtest/gtest.h>
#include <nvshmem.h>

#include <string>
#include <vector>

namespace {

int pes = 1;                  // the number of PEs on the same GPU
int beside = 0;               // the number of blocks reserved for the proxy
int each = 2;                 // the number of the kernel's blocks that fit on a multiprocessor
unsigned long long grid = 0;  // the number of blocks of the last launch
cudaError_t refuses = cudaSuccess;
cudaLaunchConfig_t launched{};                // the last launch with attributes
std::vector<cudaLaunchAttribute> attributes;  // the attributes of that launch

constexpr int processors = 132;
const int kernel = 0;

int launch(dim3 blocks) {
  grid = 0;
  return nvshmemx_collective_launch(&kernel, blocks, dim3(64), nullptr, 0, nullptr);
}

}  // namespace

extern "C" {

int pgas_nvshmem_join() { return NVSHMEMX_SUCCESS; }
int pgas_nvshmem_admitted_blocks(int multiprocessors, int each_holds, int threads, int registers) {
  EXPECT_EQ(threads, 64);
  EXPECT_EQ(registers, 40);
  return (multiprocessors * each_holds - beside) / pes;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = processors;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int, size_t) {
  *blocks = each;
  return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* about, const void*) {
  about->numRegs = 40;
  return cudaSuccess;
}
cudaError_t cudaLaunchCooperativeKernel(const void*, dim3 blocks, dim3, void**, size_t, cudaStream_t) {
  if (refuses != cudaSuccess) return refuses;
  grid = static_cast<unsigned long long>(blocks.x) * blocks.y * blocks.z;
  return grid <= static_cast<unsigned long long>(processors * each) ? cudaSuccess : cudaErrorCooperativeLaunchTooLarge;
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void*, void**) {
  attributes.assign(config->attrs, config->attrs + config->numAttrs);
  launched = *config;
  return cudaLaunchCooperativeKernel(nullptr, config->gridDim, {}, nullptr, 0, nullptr);
}

const char* cudaGetErrorString(cudaError_t) { return "as the test wants"; }

}  // extern "C"

namespace {

class NvshmemLaunch : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    pes = GetParam();
    each = 2;
    beside = 0;
  }
};

TEST_P(NvshmemLaunch, pes_that_share_a_gpu_share_its_blocks) {
  const auto most = static_cast<unsigned>(processors * each / pes);
  int asked = 0;
  EXPECT_EQ(nvshmemx_collective_launch_query_gridsize(&kernel, dim3(64), nullptr, 0, &asked), NVSHMEMX_SUCCESS);
  EXPECT_EQ(static_cast<unsigned>(asked), most);
  for (const dim3 largest : {dim3(0), dim3(4, 0), dim3(most), dim3(most / 2, 1, 2)}) {
    EXPECT_EQ(launch(largest), NVSHMEMX_SUCCESS);
    EXPECT_EQ(grid, most / 2 * 2);
  }
  for (const dim3 more : {dim3(most + 1), dim3(most / 2, 3), dim3(1u << 30, 1u << 30, 8)})
    EXPECT_EQ(launch(more), NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED);
}

TEST_P(NvshmemLaunch, a_kernel_of_which_no_block_fits_is_not_started) {
  each = 0;
  for (const dim3 blocks : {dim3(0), dim3(1)}) EXPECT_EQ(launch(blocks), NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED);
}

/// Returns the log of a launch that must fail.
std::string said_of(dim3 blocks) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(launch(blocks), NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED);
  return testing::internal::GetCapturedStderr();
}

TEST_P(NvshmemLaunch, what_is_refused_is_told_with_numbers) {
  const auto most = static_cast<unsigned>(processors * each / pes);
  const std::string more = said_of(dim3(most + 1));
  EXPECT_NE(more.find("nvshmemx_collective_launch: "), std::string::npos) << more;
  EXPECT_NE(more.find(": " + std::to_string(most + 1) + " blocks of 64 threads can't be resident together"),
            std::string::npos)
      << more;
  EXPECT_NE(more.find("holds " + std::to_string(most) + " blocks of this kernel"), std::string::npos) << more;
  each = 0;
  EXPECT_NE(said_of(dim3(0)).find("1 blocks of 64 threads can't be resident"), std::string::npos);
}

TEST_P(NvshmemLaunch, what_cuda_refuses_is_told_in_its_words) {
  refuses = cudaErrorInvalidConfiguration;
  const std::string said = said_of(dim3(1));
  EXPECT_NE(said.find("launch of 1 blocks of 64 threads: as the test wants"), std::string::npos) << said;
  refuses = cudaSuccess;
}

TEST_P(NvshmemLaunch, leaves_room_for_the_proxy) {
  beside = 1;
  const auto most = static_cast<unsigned>((processors * each - 1) / pes);
  EXPECT_EQ(launch(dim3(most)), NVSHMEMX_SUCCESS);
  EXPECT_EQ(launch(dim3(most + 1)), NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED);
}

nvshmemx_collective_launch_attr_t with_attributes(dim3 blocks, std::vector<cudaLaunchAttribute>& all) {
  nvshmemx_collective_launch_attr_t attr{};
  attr.cuda_config.gridDim = blocks;
  attr.cuda_config.blockDim = dim3(64);
  attr.cuda_config.dynamicSmemBytes = 1024;
  attr.cuda_config.attrs = all.data();
  attr.cuda_config.numAttrs = static_cast<unsigned>(all.size());
  return attr;
}

TEST_P(NvshmemLaunch, attributes_of_the_program_are_kept_and_the_launch_is_cooperative) {
  std::vector<cudaLaunchAttribute> own(1);
  own[0].id = cudaLaunchAttributePriority;
  own[0].val.priority = -2;
  const auto attr = with_attributes(dim3(0), own);
  EXPECT_EQ(nvshmemx_collective_launch_attr(&attr, &kernel, nullptr), NVSHMEMX_SUCCESS);
  EXPECT_EQ(grid, static_cast<unsigned long long>(processors * each / pes));
  EXPECT_EQ(launched.dynamicSmemBytes, 1024u);
  ASSERT_EQ(attributes.size(), 2u);
  EXPECT_EQ(attributes[0].id, cudaLaunchAttributePriority);
  EXPECT_EQ(attributes[0].val.priority, -2);
  EXPECT_EQ(attributes[1].id, cudaLaunchAttributeCooperative);
  EXPECT_EQ(attributes[1].val.cooperative, 1);

  own[0].id = cudaLaunchAttributeCooperative;
  own[0].val.cooperative = 0;
  const auto not_cooperative = with_attributes(dim3(3), own);
  EXPECT_EQ(nvshmemx_collective_launch_attr(&not_cooperative, &kernel, nullptr), NVSHMEMX_SUCCESS);
  EXPECT_EQ(grid, 3u);
  ASSERT_EQ(attributes.size(), 1u);
  EXPECT_EQ(attributes[0].val.cooperative, 0);
}

TEST_P(NvshmemLaunch, bad_launches_with_attributes_are_refused) {
  std::vector<cudaLaunchAttribute> many(64);
  const auto attr = with_attributes(dim3(1), many);
  EXPECT_EQ(nvshmemx_collective_launch_attr(nullptr, &kernel, nullptr), NVSHMEMX_ERROR_INVALID_VALUE);
  EXPECT_EQ(nvshmemx_collective_launch_attr(&attr, &kernel, nullptr), NVSHMEMX_ERROR_INVALID_VALUE);
  std::vector<cudaLaunchAttribute> none;
  const auto plain = with_attributes(dim3(1), none);
  EXPECT_EQ(nvshmemx_collective_launch_attr(&plain, nullptr, nullptr), NVSHMEMX_ERROR_INVALID_VALUE);
  const auto larger = with_attributes(dim3(1000), none);
  testing::internal::CaptureStderr();
  EXPECT_EQ(nvshmemx_collective_launch_attr(&larger, &kernel, nullptr), NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("nvshmemx_collective_launch_attr: "), std::string::npos) << said;
}

INSTANTIATE_TEST_SUITE_P(Pes, NvshmemLaunch, testing::Values(1, 2, 3));

}  // namespace
