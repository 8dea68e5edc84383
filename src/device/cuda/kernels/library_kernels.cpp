#include "device/cuda/kernels/library_kernels.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "device/both_backends/execute_collective.hpp"
#include "device/both_backends/execute_operation.hpp"
#include "device/cuda/gpu_properties.hpp"
#include "device/cuda/kernels/kernel_images.hpp"

namespace pgas::detail::cuda {

namespace {

struct kernel_name {
  const char* name;    ///< in the code
  const char* source;  ///< the kernel source file that defines the kernel
};

/// The kernels in the order of library_kernel.
constexpr std::array<kernel_name, n_library_kernels> names{{{"pgas_operation", "operation_kernels"},
                                                            {"pgas_strided", "operation_kernels"},
                                                            {"pgas_list", "operation_kernels"},
                                                            {"pgas_updates", "operation_kernels"},
                                                            {"pgas_use_stack", "operation_kernels"},
                                                            {"pgas_read_clock", "operation_kernels"},
                                                            {"pgas_collective_untyped", "collective_kernels_untyped"},
                                                            {"pgas_collective_integers", "collective_kernels_integers"},
                                                            {"pgas_collective_reals", "collective_kernels_reals"},
                                                            {"pgas_collective_pairs", "collective_kernels_pairs"}}};

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

/// The images that this process has loaded into the driver. The driver loads an image into each GPU on first use.
/// Images are never unloaded, because several worlds can use the kernels of one image.
class loaded_images {
 public:
  [[nodiscard]] CUlibrary get(const kernel_image& image) {
    const std::lock_guard lock(mutex_);
    CUlibrary& library = libraries_[&image];
    if (library == nullptr) library = load(image);
    return library;
  }
  static loaded_images& of_process() {
    static auto& item = *new loaded_images;
    return item;
  }

 private:
  [[nodiscard]] static CUlibrary load(const kernel_image& image) {
    const std::vector<char> code = image.code();  // the driver copies it
    CUlibrary library = nullptr;
    const CUresult result = driver().library_load(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (result != CUDA_SUCCESS && driver_version() / 1000 < kernel_compiler_version() / 1000)
      throw error(
          code::device_unavailable,
          fmt::format("the library's kernels were compiled by CUDA {}, and this machine's driver is for CUDA {}: "
                      "install a driver for CUDA {}.0 or newer, or a pgas whose kernels were compiled by CUDA "
                      "{}",
                      version_text(kernel_compiler_version()), version_text(driver_version()),
                      kernel_compiler_version() / 1000, driver_version() / 1000));
    check(result, fmt::format("loading {} (cuLibraryLoadData)", image.source), code::device_unavailable);
    return library;
  }

  std::mutex mutex_;
  std::map<const kernel_image*, CUlibrary> libraries_;
};

[[nodiscard]] int attribute_of_kernel(CUfunction function, CUfunction_attribute attribute) {
  int value = 0;
  check(driver().function_attribute(&value, attribute, function), "cuFuncGetAttribute of a kernel of the library");
  return value;
}

}  // namespace

std::optional<library_kernel> kernel_of(const collective_request& request) {
  if (moves(request)) return library_kernel::move;
  std::optional<library_kernel> found;
  dispatch_type_group(request, [&]<class Types>(Types) {
    if constexpr (std::is_same_v<Types, integers>) found = library_kernel::reduce_integers;
    if constexpr (std::is_same_v<Types, reals>) found = library_kernel::reduce_reals;
    if constexpr (std::is_same_v<Types, pairs>) found = library_kernel::reduce_pairs;
    return true;
  });
  return found;
}

library_kernels::library_kernels(int ordinal) {
  const unsigned capability = compute_capability_of(ordinal);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const kernel_image* const image = image_for(kernel_images(), names[i].source, capability);
    if (image == nullptr)
      throw error(code::device_unavailable,
                  fmt::format("{} has compute capability {}.{}, and the library has kernels for {}: build pgas with "
                              "-DPGAS_KERNEL_ARCHITECTURES={}",
                              name_of(ordinal), capability / 10, capability % 10, architectures_of(kernel_images()),
                              capability));
    const auto what = [&](const char* call) { return fmt::format("loading the kernel {} ({})", names[i].name, call); };
    CUkernel kernel = nullptr;
    check(driver().library_kernel(&kernel, loaded_images::of_process().get(*image), names[i].name),
          what("cuLibraryGetKernel"));
    check(driver().kernel_function(&functions_[i], kernel), what("cuKernelGetFunction"));
    check(driver().function_load(functions_[i]), what("cuFuncLoad"));
    const int stack = attribute_of_kernel(functions_[i], CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    stack_bytes_ = std::max(stack_bytes_, static_cast<std::size_t>(stack));
    constexpr unsigned waits_for_predecessor = 90;
    are_set_up_early_ = image->architecture >= waits_for_predecessor;
  }
}

unsigned library_kernels::registers_of(library_kernel kernel) const {
  return static_cast<unsigned>(
      attribute_of_kernel(functions_[static_cast<std::size_t>(kernel)], CU_FUNC_ATTRIBUTE_NUM_REGS));
}

void library_kernels::launch_by_addresses(library_kernel kernel, shape grid, CUstream stream, const char* what,
                                          std::span<void* const> arguments) const {
  CUlaunchAttribute early{};
  early.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  early.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig how{};
  how.gridDimX = grid.blocks;
  how.gridDimY = how.gridDimZ = 1;
  how.blockDimX = grid.threads;
  how.blockDimY = how.blockDimZ = 1;
  how.hStream = stream;
  how.attrs = &early;
  how.numAttrs = are_set_up_early_ ? 1 : 0;
  // The driver reads the addresses and does not change them.
  auto** const addresses = const_cast<void**>(arguments.data());
  check(driver().launch(&how, functions_[static_cast<std::size_t>(kernel)], addresses, nullptr), what,
        code::launch_failed);
}

void library_kernels::operation(const operation_request& request, CUstream stream) const {
  constexpr const char* what = "launching an operation";
  if (request.what == operation_request::kind::strided) {
    constexpr std::uint64_t threads = max_operation_threads;
    constexpr std::uint64_t most_blocks = 64;  // enough blocks to use the bandwidth of a link or of the memory
    const std::uint64_t pieces = request.count * request.bytes / unit_of_copy(request);
    const std::uint64_t blocks = std::min((pieces + threads * 8 - 1) / (threads * 8), most_blocks);
    return launch(library_kernel::strided, {static_cast<unsigned>(blocks), max_operation_threads}, stream, what,
                  request);
  }
  const bool many = request.what == operation_request::kind::wait && request.count > warp_size;
  launch(library_kernel::operation, {1, many ? max_operation_threads : warp_size}, stream, what, request);
}

void library_kernels::list(const list_request& request, CUstream stream) const {
  // A warp has 2 KiB in flight, so several warps copy a larger page. If the list is an array of blocks, their sizes are
  // not known here.
  constexpr std::size_t warps_of_block = max_list_threads / warp_size;
  constexpr std::size_t most = 256;  // enough blocks to use the bandwidth of a link or of the memory
  const std::size_t count = std::min(request.list.size(), most * warps_of_block);
  const std::size_t warps = request.list.has_pages() ? count * std::min((request.list.page_bytes() + 2047) / 2048, most)
                                                     : std::max(count, most / 2 * warps_of_block);
  const std::size_t limit = request.most_blocks != 0 ? std::min<std::size_t>(request.most_blocks, most) : most;
  std::size_t blocks = std::clamp((warps + warps_of_block - 1) / warps_of_block, std::size_t{1}, limit);
  // The kernel waits for the proxy. The proxy launches kernels, which must fit on the GPU beside this kernel.
  if (request.proxied) blocks = 1;
  launch(library_kernel::list, {static_cast<unsigned>(blocks), max_list_threads}, stream, "launching a list of copies",
         request);
}

void library_kernels::updates(std::span<batched_atomic> list, CUstream stream) const {
  launch(library_kernel::updates, {1, warp_size}, stream, "launching atomic operations", list.data(),
         static_cast<unsigned>(list.size()));
}

void library_kernels::collective(const context& context, const team_view& team, const collective_request& request,
                                 grid_state* blocks, CUstream stream) const {
  const std::optional<library_kernel> kernel = kernel_of(request);
  if (!kernel) throw error(code::invalid_argument, "this reduction does not support this type");
  launch(*kernel, {blocks_for(request, team), threads_for(request)}, stream, "launching a collective", context, team,
         request, blocks);
}

void library_kernels::use_stack(CUstream stream) const {
  launch(library_kernel::use_stack, {}, stream, "making room for the stacks of kernels", 0u);
}

void library_kernels::read_clock(clock_rounds* shared, std::uint32_t rounds, CUstream stream) const {
  launch(library_kernel::read_clock, {}, stream, "launching a reader of the clock", shared, rounds);
}

}  // namespace pgas::detail::cuda
