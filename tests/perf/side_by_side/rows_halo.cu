// Halo exchange: Jacobi's iteration on a square of floats, whose rows are divided among the PEs. The last row is above
// the first row, and the columns at the sides do not change. There are two ways to send border rows to the neighbours:
//
//   halo_p       one kernel for each step: each thread that has computed a border cell also puts the cell to the
//                neighbour; a barrier on the stream follows each kernel
//   halo_signal  one kernel for all steps: the two blocks that compute border rows put them with a signal, and wait
//                for the rows of the neighbours; the blocks of a PE synchronize after every step
#include <cooperative_groups.h>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "bench.hpp"
#include "timing.hpp"

namespace side_by_side {

namespace {

/// Two symmetric arrays. Each has the rows of this PE, one row of the upper neighbour and one row of the lower
/// neighbour.
struct field {
  float* from;
  float* to;
  int width;
  int height;  ///< the number of rows of this PE
  int above;   ///< the number of the PE above
  int below;
};

__device__ float relax(const float* cell, int width) {
  return 0.25f * ((cell[-width] + cell[width]) + (cell[-1] + cell[1]));
}

// ---- a kernel for each step ----

constexpr int tile_width = 64;
constexpr int tile_height = 8;

__global__ void __launch_bounds__(tile_width* tile_height) step_with_p(field f) {
  const int x = static_cast<int>(blockIdx.x * tile_width + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * tile_height + threadIdx.y) + 1;
  if (x == 0 || x >= f.width - 1 || y > f.height) return;
  const std::size_t at = static_cast<std::size_t>(y) * f.width + x;
  const float value = relax(f.from + at, f.width);
  f.to[at] = value;
  const std::size_t halo_below = static_cast<std::size_t>(f.height + 1) * f.width + x;
  if (y == 1) nvshmem_float_p(f.to + halo_below, value, f.above);
  if (y == f.height) nvshmem_float_p(f.to + x, value, f.below);
}

// ---- one kernel ----

/// A border row of this PE. Each step waits for the neighbour's border row of the previous step, and sends the new
/// border row to the neighbour.
struct border {
  int row;         ///< the row that is sent
  int halo_there;  ///< the row of the neighbour's array that receives it
  int pe;
  std::uint64_t* arrived;  ///< this PE's signal: the number of steps that the neighbour has sent
  std::uint64_t* arrived_there;
};

__device__ void step_border(const field& f, const border& b, std::uint64_t step) {
  if (threadIdx.x == 0) nvshmem_signal_wait_until(b.arrived, NVSHMEM_CMP_GE, step);
  __syncthreads();
  float* const to = f.to + static_cast<std::size_t>(b.row) * f.width;
  const float* const from = f.from + static_cast<std::size_t>(b.row) * f.width;
  for (int x = static_cast<int>(threadIdx.x) + 1; x < f.width - 1; x += static_cast<int>(blockDim.x))
    to[x] = relax(from + x, f.width);
  __syncthreads();
  nvshmemx_float_put_signal_nbi_block(f.to + static_cast<std::size_t>(b.halo_there) * f.width, to,
                                      static_cast<std::size_t>(f.width), b.arrived_there, step + 1, NVSHMEM_SIGNAL_SET,
                                      b.pe);
}

__global__ void __launch_bounds__(512) steps_with_signals(field f, std::uint64_t* signals, int steps) {
  const border top{1, f.height + 1, f.above, signals, signals + 1};
  const border bottom{f.height, 0, f.below, signals + 1, signals};
  const auto grid = cooperative_groups::this_grid();
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    if (blockIdx.x == 0) {
      step_border(f, top, static_cast<std::uint64_t>(step));
    } else if (blockIdx.x == 1) {
      step_border(f, bottom, static_cast<std::uint64_t>(step));
    } else {
      for (int y = static_cast<int>(blockIdx.x); y < f.height; y += static_cast<int>(gridDim.x) - 2) {
        const std::size_t at = static_cast<std::size_t>(y) * f.width;
#pragma unroll 4
        for (int x = static_cast<int>(threadIdx.x) + 1; x < f.width - 1; x += static_cast<int>(blockDim.x))
          f.to[at + x] = relax(f.from + at + x, f.width);
      }
    }
    float* const old = f.from;
    f.from = f.to;
    f.to = old;
    grid.sync();
  }
  if (threadIdx.x == 0 && blockIdx.x < 2) nvshmem_quiet();
}

// ---- the same iteration on one GPU, for the check ----

__device__ float begins_with(std::uint64_t seed, std::size_t cell) {
  return static_cast<float>(word(seed, 0, cell) & 0xffff) / 65536.0f;
}

/// Initializes an array of `height` rows. These are the rows `first`, `first + 1` and so on of a square of `rows` rows.
/// Row -1 of the square is its last row.
__global__ void initialize(float* to, int width, int height, int first, int rows, std::uint64_t seed) {
  const std::size_t all = static_cast<std::size_t>(width) * height;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < all;
       i += gridDim.x * static_cast<std::size_t>(blockDim.x)) {
    const std::size_t y = (i / width + first + rows) % rows;
    to[i] = begins_with(seed, y * width + i % width);
  }
}

__global__ void step_alone(const float* from, float* to, int width, int height) {
  const int x = static_cast<int>(blockIdx.x * tile_width + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * tile_height + threadIdx.y);
  if (x == 0 || x >= width - 1 || y >= height) return;
  const float* const row = from + static_cast<std::size_t>(y) * width;
  const float* const above = from + static_cast<std::size_t>((y + height - 1) % height) * width;
  const float* const below = from + static_cast<std::size_t>((y + 1) % height) * width;
  to[static_cast<std::size_t>(y) * width + x] = 0.25f * ((above[x] + below[x]) + (row[x - 1] + row[x + 1]));
}

__global__ void differing(const float* item, const float* other, std::size_t cells, unsigned long long* count) {
  unsigned long long mine = 0;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < cells;
       i += gridDim.x * static_cast<std::size_t>(blockDim.x))
    mine += __float_as_uint(item[i]) != __float_as_uint(other[i]) ? 1 : 0;
  if (mine != 0) atomicAdd(count, mine);
}

dim3 tiles(int width, int height) {
  return {static_cast<unsigned>((width + tile_width - 1) / tile_width),
          static_cast<unsigned>((height + tile_height - 1) / tile_height)};
}

class halo {
 public:
  halo(bench& pes, int width) : pes_(pes), width_(width), height_(width / pes.n()) {
    const std::size_t bytes = cells(height_ + 2) * sizeof(float);
    for (float*& each : arrays_) each = static_cast<float*>(nvshmem_malloc(bytes));
    signals_ = static_cast<std::uint64_t*>(nvshmem_malloc(2 * sizeof *signals_));
    if (pes.total(arrays_[0] == nullptr || arrays_[1] == nullptr || signals_ == nullptr ? 1 : 0) != 0)
      must(cudaErrorMemoryAllocation, "arrays for the halo exchange");
  }
  ~halo() {
    pes_.barrier();
    for (float* const each : arrays_) nvshmem_free(each);
    nvshmem_free(signals_);
  }
  halo(const halo&) = delete;
  halo& operator=(const halo&) = delete;

  void prepare() {
    for (float* const each : arrays_)
      initialize<<<264, 512>>>(each, width_, height_ + 2, pes_.me() * height_ - 1, width_, pes_.seed());
    must(cudaMemset(signals_, 0, 2 * sizeof *signals_), "signals");
    must(cudaDeviceSynchronize(), "initializing");
  }

  double with_p(int steps) {
    field f = begin();
    return timed([&] {
      for (int i = 0; i < steps; ++i) {
        step_with_p<<<tiles(width_, height_), dim3(tile_width, tile_height), 0, pes_.stream()>>>(f);
        nvshmemx_barrier_all_on_stream(pes_.stream());
        std::swap(f.from, f.to);
      }
    });
  }

  double with_signals(int steps) {
    field f = begin();
    void* list[] = {&f, &signals_, &steps};
    return timed([&] {
      if (nvshmemx_collective_launch(reinterpret_cast<const void*>(&steps_with_signals), dim3(most_blocks), dim3(512),
                                     list, 0, pes_.stream()) != 0)
        must(cudaErrorLaunchFailure, "halo_signal");
    });
  }

  /// Returns the number of cells of this PE that differ from the result of a single GPU for the whole square.
  std::uint64_t wrong(int steps) {
    float* whole[2] = {};
    unsigned long long* count = nullptr;
    unsigned long long found = 0;
    must(cudaMalloc(&count, sizeof *count), "checking");
    must(cudaMemset(count, 0, sizeof *count), "checking");
    for (float*& each : whole) {
      must(cudaMalloc(&each, cells(width_) * sizeof(float)), "checking");
      initialize<<<264, 512>>>(each, width_, width_, 0, width_, pes_.seed());
    }
    for (int i = 0; i < steps; ++i)
      step_alone<<<tiles(width_, width_), dim3(tile_width, tile_height)>>>(whole[i % 2], whole[(i + 1) % 2], width_,
                                                                           width_);
    differing<<<264, 512>>>(arrays_[steps % 2] + width_, whole[steps % 2] + cells(pes_.me() * height_), cells(height_),
                            count);
    must(cudaMemcpy(&found, count, sizeof found, cudaMemcpyDeviceToHost), "checking");
    for (void* const each : {static_cast<void*>(whole[0]), static_cast<void*>(whole[1]), static_cast<void*>(count)})
      must(cudaFree(each), "checking");
    return found;
  }

 private:
  std::size_t cells(int rows) const { return static_cast<std::size_t>(rows) * width_; }
  field begin() const {
    return {arrays_[0], arrays_[1], width_, height_, (pes_.me() + pes_.n() - 1) % pes_.n(), (pes_.me() + 1) % pes_.n()};
  }
  template <class Steps>
  double timed(Steps steps) {
    nvshmemx_barrier_all_on_stream(pes_.stream());
    return stream_seconds(pes_.stream(), steps);
  }

  bench& pes_;
  int width_;
  int height_;
  float* arrays_[2] = {};
  std::uint64_t* signals_ = nullptr;
};

/// Measures one row. Memory is allocated only if the row is requested.
void measure(bench& pes, report& to, const row& kernel_row, int width, double (halo::*way)(int)) {
  std::unique_ptr<halo> field;
  work how;
  how.prepare = [&] {
    if (field == nullptr) field = std::make_unique<halo>(pes, width);
    field->prepare();
  };
  how.run = [&](int steps) { return (field.get()->*way)(steps); };
  how.wrong = [&](int steps) { return field->wrong(steps); };
  to.measure(kernel_row, how);
}

/// Whether the GPU can hold the blocks of halo_signal of all PEs that share the GPU. Prints a message if it cannot.
bool holds_all_blocks(int n) {
  int devices = 0;
  int processors = 0;
  int each = 0;
  must(cudaGetDeviceCount(&devices), "counting GPUs");
  must(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0), "counting multiprocessors");
  must(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, &steps_with_signals, 512, 0), "counting blocks");
  const int fit = processors * each / ((n + devices - 1) / devices);
  if (fit < most_blocks)
    std::fprintf(stderr, "halo_signal is left out: it has %d blocks, and %d of a PE run at once\n", most_blocks, fit);
  return fit >= most_blocks;
}

void rows(bench& pes, report& to) {
  if (pes.n() < 2) return;
  const bool fits = holds_all_blocks(pes.n());
  for (const int width : {2048, 16384}) {
    const std::size_t bytes = static_cast<std::size_t>(width) * width * sizeof(float);
    measure(pes, to, {"halo_p", bytes, 0, tile_width * tile_height, "us", 50}, width, &halo::with_p);
    if (fits) measure(pes, to, {"halo_signal", bytes, most_blocks, 512, "us", 50}, width, &halo::with_signals);
  }
}

const registration announced(80, &rows);

}  // namespace

}  // namespace side_by_side
