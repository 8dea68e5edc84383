/// @file
/// The device headers with NVRTC, a run-time compiler without a standard library, in both languages.
#include <gtest/gtest.h>
#include <nvrtc.h>

#include <string>
#include <vector>

namespace {

struct compiled {
  nvrtcResult status;
  std::string log;
  std::string ptx;
};

compiled compile(const std::string& language, const std::string& source, const std::vector<std::string>& more = {}) {
  std::vector<std::string> options = {"--std=" + language, "--gpu-architecture=compute_" ARCHITECTURE,
                                      "-default-device", "--include-path=" PGAS_SOURCE_DIR "/include",
                                      "--include-path=" PGAS_SOURCE_DIR "/tests/device"};
  options.insert(options.end(), more.begin(), more.end());
  std::string directories = CUDA_INCLUDE_DIRS ":";
  for (std::size_t end; (end = directories.find(':')) != std::string::npos; directories.erase(0, end + 1)) {
    if (end == 0) continue;
    options.push_back("--include-path=" + directories.substr(0, end));
    options.push_back("--include-path=" + directories.substr(0, end) + "/cccl");
  }
  std::vector<const char*> arguments;
  for (const std::string& option : options) arguments.push_back(option.c_str());

  nvrtcProgram program = nullptr;
  EXPECT_EQ(nvrtcCreateProgram(&program, source.c_str(), "test.cu", 0, nullptr, nullptr), NVRTC_SUCCESS);
  compiled result{nvrtcCompileProgram(program, static_cast<int>(arguments.size()), arguments.data()), {}, {}};
  std::size_t bytes = 0;
  EXPECT_EQ(nvrtcGetProgramLogSize(program, &bytes), NVRTC_SUCCESS);
  result.log.resize(bytes);
  EXPECT_EQ(nvrtcGetProgramLog(program, result.log.data()), NVRTC_SUCCESS);
  if (result.status == NVRTC_SUCCESS) {
    EXPECT_EQ(nvrtcGetPTXSize(program, &bytes), NVRTC_SUCCESS);
    result.ptx.resize(bytes);
    EXPECT_EQ(nvrtcGetPTX(program, result.ptx.data()), NVRTC_SUCCESS);
  }
  EXPECT_EQ(nvrtcDestroyProgram(&program), NVRTC_SUCCESS);
  return result;
}

class nvrtc : public testing::TestWithParam<const char*> {};

TEST_P(nvrtc, compiles_a_kernel_that_communicates) {
  const compiled result = compile(GetParam(), R"(
    #include <pgas/device.hpp>
    extern "C" __global__ void shift(pgas::context ctx, float* halo, const float* row, int n, pgas::signal_t* sig) {
      const int right = (ctx.my_pe() + 1) % ctx.n_pes();
      pgas::put_signal(ctx, pgas::block(), halo, row, n, sig, 1, pgas::signal_op::add, right);
      pgas::wait_until(ctx, pgas::block(), sig, pgas::cmp::ge, pgas::signal_t{1});
    })");
  ASSERT_EQ(result.status, NVRTC_SUCCESS) << result.log;
  EXPECT_NE(result.ptx.find(".entry shift"), std::string::npos);
  EXPECT_EQ(result.ptx.find(".extern .global"), std::string::npos) << "device code may not rely on globals";
}

TEST_P(nvrtc, compiles_every_operation) {
  // The code is not run. The compiler reads all of it and optimizes little.
  const compiled result =
      compile(GetParam(), "#include \"" PGAS_SOURCE_DIR "/tests/structure/operations.cpp\"\n", {"--Ofast-compile=max"});
  ASSERT_EQ(result.status, NVRTC_SUCCESS) << result.log;
  EXPECT_EQ(result.log.find("warning"), std::string::npos) << result.log;
  EXPECT_NE(result.ptx.find(".entry by_block"), std::string::npos);
}

TEST_P(nvrtc, a_kernel_that_does_not_compile_is_noticed) {
  const compiled result =
      compile(GetParam(), "#include <pgas/device.hpp>\n__global__ void f() { pgas::no_such_thing(); }");
  EXPECT_EQ(result.status, NVRTC_ERROR_COMPILATION);
  EXPECT_NE(result.log.find("no_such_thing"), std::string::npos) << result.log;
}

INSTANTIATE_TEST_SUITE_P(languages, nvrtc, testing::Values("c++17", "c++20"),
                         [](const auto& language) { return "cxx" + std::string(language.param).substr(3); });

}  // namespace
