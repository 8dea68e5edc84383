/// @file
/// The harness on GPUs. One process has all PEs: PE p is on GPU p mod the number of GPUs, and has a stream. All slots
/// are mapped for all GPUs in one reserved range. The driver is looked up at run time, so that the program starts on
/// machines without a driver. PEs of different domains are proxied.
#pragma once

#include <cudaTypedefs.h>
#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "proxies.hpp"

namespace pgas_test {

inline std::vector<grid_shape> grids() { return {{1, 1}, {1, 32}, {1, 100}, {1, 1024}, {4, 256}}; }
inline int rounds(int on_gpu) { return no_more_than_asked(on_gpu); }

/// The default sizes of the stress test: the channels of each PE, the background blocks of each PE, the threads of a
/// block, and the rounds in total.
struct stress_shape {
  unsigned channels = 16;
  unsigned background = 8;
  unsigned threads = 128;
  std::uint64_t total = 10'000'000;
};

/// The number of GPUs that the tests use; 0 if there is none. main() may lower the number.
inline int& gpus() {
  static int count = [] {
    int n = 0;
    return cudaGetDeviceCount(&n) == cudaSuccess ? n : 0;
  }();
  return count;
}

inline void must(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}
inline void must(CUresult error, const char* what) {
  if (error != CUDA_SUCCESS) throw std::runtime_error(std::string(what) + ": driver error " + std::to_string(error));
}

/// The functions of the driver that have no equivalent in the runtime.
struct driver {
  PFN_cuMemAddressReserve_v10020 reserve = find<PFN_cuMemAddressReserve_v10020>("cuMemAddressReserve");
  PFN_cuMemAddressFree_v10020 release_range = find<PFN_cuMemAddressFree_v10020>("cuMemAddressFree");
  PFN_cuMemCreate_v10020 create = find<PFN_cuMemCreate_v10020>("cuMemCreate");
  PFN_cuMemRelease_v10020 release = find<PFN_cuMemRelease_v10020>("cuMemRelease");
  PFN_cuMemMap_v10020 map = find<PFN_cuMemMap_v10020>("cuMemMap");
  PFN_cuMemUnmap_v10020 unmap = find<PFN_cuMemUnmap_v10020>("cuMemUnmap");
  PFN_cuMemSetAccess_v10020 set_access = find<PFN_cuMemSetAccess_v10020>("cuMemSetAccess");
  PFN_cuMemGetAllocationGranularity_v10020 granularity =
      find<PFN_cuMemGetAllocationGranularity_v10020>("cuMemGetAllocationGranularity");

  template <class F>
  static F find(const char* name) {
    void* address = nullptr;
    cudaDriverEntryPointQueryResult found{};
    must(cudaGetDriverEntryPointByVersion(name, &address, 12000, cudaEnableDefault, &found), name);
    if (found != cudaDriverEntryPointSuccess) throw std::runtime_error(std::string("the driver has no ") + name);
    return reinterpret_cast<F>(address);
  }
};

/// The entry point of every body. A body must be able to run in blocks of 1024 threads, as kernels of programs do. With
/// PGAS_TEST_DIRECT, bodies run with a direct_context where that is allowed.
template <class Body>
__global__ void __launch_bounds__(1024) body_kernel(context ctx, detail::grid_state* grid, Body body) {
#if defined(PGAS_TEST_DIRECT)
  if (ctx.flags_ == 0) return body(launched_block(grid), static_cast<context>(direct_context(ctx)));
#endif
  body(launched_block(grid), ctx);
}

class pe_set {
 public:
  explicit pe_set(int n_pes, pe_options options = {}) : n_(n_pes), checks_(options.checks) {
    used_gpus_ = gpus() < n_pes ? gpus() : n_pes;
    for (int gpu = 0; gpu < used_gpus_; ++gpu) {
      must(cudaSetDevice(gpu), "cudaSetDevice");
      must(cudaFree(nullptr), "start of the GPU's context");
    }
    CUmemAllocationProp property{};
    property.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    property.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    std::size_t granularity = 0;
    must(driver_.granularity(&granularity, &property, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED), "granularity");
    heap_bytes_ = (options.heap_bytes + granularity - 1) / granularity * granularity;
    while (std::size_t{1} << log2_stride_ < heap_bytes_) ++log2_stride_;
    if (asked_scattered())
      scatter(std::size_t{1} << log2_stride_);
    else
      line_up();

    std::vector<CUmemAccessDesc> access(static_cast<std::size_t>(used_gpus_));
    for (int gpu = 0; gpu < used_gpus_; ++gpu) {
      access[static_cast<std::size_t>(gpu)].location = {CU_MEM_LOCATION_TYPE_DEVICE, gpu};
      access[static_cast<std::size_t>(gpu)].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    }
    for (int pe = 0; pe < n_; ++pe) {
      property.location.id = gpu_of(pe);
      CUmemGenericAllocationHandle memory{};
      must(driver_.create(&memory, heap_bytes_, &property, 0), "create");
      must(driver_.map(address(pe), heap_bytes_, 0, memory, 0), "map");
      must(driver_.release(memory), "release");  // the mapping keeps the memory allocated
      must(driver_.set_access(address(pe), heap_bytes_, access.data(), access.size()),
           "set access (no peer access between these GPUs? try --gpus=1)");
      must(cudaSetDevice(gpu_of(pe)), "cudaSetDevice");
      must(cudaMemset(slot(pe), 0, heap_bytes_), "memset");
      must(cudaDeviceSynchronize(), "memset");
      cudaStream_t stream = nullptr;
      must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
      streams_.push_back(stream);
      void* grid = nullptr;
      must(cudaMalloc(&grid, sizeof(detail::grid_state)), "grid");
      grids_.push_back(static_cast<detail::grid_state*>(grid));
    }
    void* controls = nullptr;
    must(cudaHostAlloc(&controls, static_cast<std::size_t>(n_) * sizeof(detail::control_block),
                       cudaHostAllocPortable | cudaHostAllocMapped),
         "control blocks");
    std::memset(controls, 0, static_cast<std::size_t>(n_) * sizeof(detail::control_block));
    controls_ = static_cast<detail::control_block*>(controls);
    for (int pe = 0; pe < n_; ++pe) {
      controls_[pe].heap_bytes = options.heap_bytes;
      controls_[pe].wait_timeout_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(options.timeout).count());
    }
    used_ = (detail::internal_area::bytes(n_) + 511) / 512 * 512;
    if (options.domain != 0 || asked_domain() != 0) domain_ = options.domain != 0 ? options.domain : asked_domain();
    if (domain_ < n_ || asked_scattered()) {
      write_plans_of_world(*this);
      proxied_layout layout{n_, domain_, {}, {}, log2_stride_, options.heap_bytes, asked_fault_seed()};
      for (int pe = 0; pe < n_; ++pe) layout.slots.push_back(slot(pe));
      for (int pe = 0; pe < n_; ++pe) layout.gpus.push_back(gpu_of(pe));
      proxies_.emplace(
          layout, [this](int pe) { return &control(pe); },
          [this](int lost) { abort(static_cast<std::uint32_t>(lost) + 1); });
    }
    void* copies = nullptr;
    must(cudaHostAlloc(&copies, static_cast<std::size_t>(n_) * sizeof(context),
                       cudaHostAllocPortable | cudaHostAllocMapped),
         "copies of contexts");
    copies_ = static_cast<context*>(copies);
    for (int pe = 0; pe < n_; ++pe) copies_[pe] = context_of(pe);
  }
  ~pe_set() {
    proxies_.reset();
    for (int pe = 0; pe < n_; ++pe) {
      cudaSetDevice(gpu_of(pe));
      cudaStreamDestroy(streams_[static_cast<std::size_t>(pe)]);
      cudaFree(grids_[static_cast<std::size_t>(pe)]);
      driver_.unmap(address(pe), heap_bytes_);
    }
    for (const auto& [at, bytes] : reserved_) driver_.release_range(at, bytes);
    cudaFreeHost(controls_);
    cudaFreeHost(copies_);
  }
  pe_set(const pe_set&) = delete;
  pe_set& operator=(const pe_set&) = delete;

  [[nodiscard]] int n_pes() const { return n_; }
  /// The number of PEs in a domain.
  [[nodiscard]] int domain() const { return domain_; }
  [[nodiscard]] bool scattered() const { return asked_scattered(); }
  /// The distance between the slots of two PEs, in the unit of contexts.
  [[nodiscard]] std::int32_t distance(int from, int to) const {
    return static_cast<std::int32_t>((slot(to) - slot(from)) >> log2_stride_);
  }

  template <class T>
  sym<T> allocate(std::size_t count, std::size_t alignment = 512) {
    used_ = (used_ + alignment - 1) / alignment * alignment;
    const sym<T> place{used_};
    used_ += count * sizeof(T);
    if (used_ > controls_[0].heap_bytes) throw std::bad_alloc();
    return place;
  }

  template <class T>
  void write(int pe, sym<T> to, const T* from, std::size_t count) {
    must(cudaMemcpy(slot(pe) + to.offset, from, count * sizeof(T), cudaMemcpyHostToDevice), "write");
    must(cudaDeviceSynchronize(), "write");
  }
  template <class T>
  void read(int pe, sym<T> from, T* to, std::size_t count) {
    must(cudaMemcpy(static_cast<void*>(to), slot(pe) + from.offset, count * sizeof(T), cudaMemcpyDeviceToHost), "read");
  }
  template <class T>
  void fill(int pe, sym<T> to, int byte, std::size_t count) {
    must(cudaSetDevice(gpu_of(pe)), "cudaSetDevice");
    must(cudaMemset(slot(pe) + to.offset, byte, count * sizeof(T)), "fill");
    must(cudaDeviceSynchronize(), "fill");
  }

  [[nodiscard]] context context_of(int pe) const {
    context ctx;
    ctx.abi_ = detail::context_layout;
    ctx.world_pe_ = pe;
    ctx.n_world_ = n_;
    ctx.log2_stride_ = log2_stride_;
    ctx.flags_ = checks_ ? detail::slow_path::checks : 0;
    ctx.my_slot_ = address(pe);
    ctx.control_ = controls_ + pe;
    if (proxies_) ctx.routes_ = proxies_->routes_of(pe);
    detail::set_team(ctx, ctx.world());
    ctx.copy_ = copies_ + pe;
    return ctx;
  }
  [[nodiscard]] detail::control_block& control(int pe) { return controls_[pe]; }

  /// Sets the abort word of every PE, in the same way as the host library does when a PE is lost. *Callers* any thread.
  void abort(std::uint32_t word) {
    for (int pe = 0; pe < n_; ++pe) __atomic_store_n(&controls_[pe].abort, word, __ATOMIC_RELAXED);
  }

  /// Cuts PE `pe` off from all PEs that reach it by proxy. *Callers* any thread.
  void cut(int pe) { proxies_->cut(pe); }

  /// The bytes that all PEs together have sent between domains.
  [[nodiscard]] proxies::carried traffic() { return proxies_->traffic(); }

  /// Does the same as run_out() of the CPU's harness. The bodies of all PEs must fit on the GPUs at the same time,
  /// because they wait for one another.
  template <class Body>
  std::vector<bool> run_out(grid_shape g, Body body, const std::function<void()>& meanwhile = {}) {
    // Loading a kernel may wait for the GPU, so it must not happen while another kernel spins.
    for (int gpu = 0; gpu < used_gpus_; ++gpu) {
      must(cudaSetDevice(gpu), "cudaSetDevice");
      cudaFuncAttributes attributes{};
      must(cudaFuncGetAttributes(&attributes, body_kernel<Body>), "load the kernel");
    }
    for (int pe = 0; pe < n_; ++pe) {
      detail::grid_state fresh{};
      fresh.here = context_of(pe);
      must(cudaMemcpy(grids_[static_cast<std::size_t>(pe)], &fresh, sizeof fresh, cudaMemcpyHostToDevice), "grid");
    }
    for (int pe = 0; pe < n_; ++pe) {
      must(cudaSetDevice(gpu_of(pe)), "cudaSetDevice");
      const auto i = static_cast<std::size_t>(pe);
      body_kernel<<<g.blocks, g.threads, 0, streams_[i]>>>(context_of(pe), grids_[i], body);
      must(cudaGetLastError(), "launch");
    }
    if (meanwhile) meanwhile();

    // The first PE whose wait fails also ends the waits of the others.
    std::vector<bool> gave_up(static_cast<std::size_t>(n_), false);
    std::vector<bool> done(static_cast<std::size_t>(n_), false);
    for (int left = n_; left > 0; std::this_thread::yield()) {
      for (int pe = 0; pe < n_; ++pe) {
        const auto i = static_cast<std::size_t>(pe);
        if (done[i]) continue;
        cudaSetDevice(gpu_of(pe));
        const cudaError_t state = cudaStreamQuery(streams_[i]);
        if (state == cudaErrorNotReady) continue;
        must(state, "kernel");
        done[i] = true;
        --left;
        gave_up[i] = controls_[pe].record.complete != 0;
        if (gave_up[i]) abort(static_cast<std::uint32_t>(pe) + 1);
      }
    }
    // Completes all commands, because the end of a kernel completes the kernel's stores.
    if (proxies_) proxies_->settle([&] { return __atomic_load_n(&controls_[0].abort, __ATOMIC_RELAXED) != 0; });
    return gave_up;
  }

  template <class Body>
  void run(grid_shape g, Body body) {
    const std::vector<bool> gave_up = run_out(g, body);
    for (int pe = 0; pe < n_; ++pe) {
      const detail::failure_record& r = control(pe).record;
      ASSERT_FALSE(gave_up[static_cast<std::size_t>(pe)])
          << "PE " << pe << " gave up: why " << static_cast<int>(r.why) << ", operation " << static_cast<int>(r.what)
          << ", PE " << r.pe << ", offset " << r.heap_offset << ", expected " << r.expected << ", saw " << r.seen
          << ", block " << r.block << ", thread " << r.thread;
    }
  }

 private:
  [[nodiscard]] int gpu_of(int pe) const { return pe % used_gpus_; }
  [[nodiscard]] CUdeviceptr address(int pe) const { return slots_[static_cast<std::size_t>(pe)]; }
  CUdeviceptr reserve(std::size_t bytes) {
    CUdeviceptr at = 0;
    must(driver_.reserve(&at, bytes, std::size_t{1} << log2_scatter_unit, 0, 0), "reserve");
    reserved_.emplace_back(at, bytes);
    return at;
  }
  void line_up() {
    const CUdeviceptr base = reserve(static_cast<std::size_t>(n_) << log2_stride_);
    for (int pe = 0; pe < n_; ++pe) slots_.push_back(base + (static_cast<CUdeviceptr>(pe) << log2_stride_));
  }
  /// The distances are not regular, and the slots are not in the order of the PEs.
  void scatter(std::size_t slot_bytes) {
    log2_stride_ = log2_scatter_unit;
    slots_.resize(static_cast<std::size_t>(n_));
    for (int i = 0; i < n_; ++i) {
      const int pe = i % 2 == 0 ? i / 2 : n_ - 1 - i / 2;
      slots_[static_cast<std::size_t>(pe)] =
          reserve(slot_bytes + (static_cast<std::size_t>(i * i + 1) << log2_scatter_unit));
    }
  }
  [[nodiscard]] std::byte* slot(int pe) const { return reinterpret_cast<std::byte*>(address(pe)); }

  driver driver_;
  int n_;
  int domain_ = n_;
  bool checks_;
  int used_gpus_ = 1;
  std::uint16_t log2_stride_ = 21;
  std::size_t heap_bytes_ = 0;
  std::size_t used_ = 0;
  std::vector<std::pair<CUdeviceptr, std::size_t>> reserved_;
  std::vector<CUdeviceptr> slots_;
  std::vector<cudaStream_t> streams_;
  std::vector<detail::grid_state*> grids_;
  detail::control_block* controls_ = nullptr;
  context* copies_ = nullptr;
  std::optional<proxies> proxies_;
};

}  // namespace pgas_test
