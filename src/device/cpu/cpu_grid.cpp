#include "device/cpu_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "device/cpu/cpu_device.hpp"
#include "pgas/detail/isa/ptx_memory.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

constexpr unsigned most_threads_per_block = 1024;  // the maximum number of threads in a block, as on a GPU

/// Makes the threads of a grid wait until all of them exist. If only some threads ran, they could wait for the missing
/// threads forever.
class start_latch {
 public:
  void open(bool go) {
    const std::lock_guard lock(mutex_);
    state_ = go ? state::go : state::cancelled;
    changed_.notify_all();
  }
  /// Waits until open() is called. Returns whether the grid runs.
  [[nodiscard]] bool pass() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return state_ != state::closed; });
    return state_ == state::go;
  }

 private:
  enum class state { closed, go, cancelled };
  std::mutex mutex_;
  std::condition_variable changed_;
  state state_ = state::closed;
};

/// Keeps the most informative exception of the threads: the first exception other than thread_ended, or thread_ended if
/// no other was thrown.
class first_exception {
 public:
  /// *Callers* a catch clause.
  void keep(bool end) {
    const std::lock_guard lock(mutex_);
    if (thrown_ && (end || !is_end_)) return;
    thrown_ = std::current_exception();
    is_end_ = end;
  }
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr thrown_;
  bool is_end_ = false;
};

void check_shape(const grid_shape& shape) {
  const auto [blocks, threads, resident] = shape;
  if (blocks == 0 || threads == 0 || threads > most_threads_per_block)
    throw error(code::launch_failed,
                fmt::format("a grid of {} blocks of {} threads: blocks must be at least 1, threads 1 to {}", blocks,
                            threads, most_threads_per_block));
  if (resident && blocks > most_threads_at_once / threads)
    throw error(
        code::launch_failed,
        fmt::format(
            "a grid of {} blocks of {} threads cannot run all blocks together: the CPU takes {} blocks of that size "
            "({} threads). Launch fewer, or say resident = false if no block waits for another",
            blocks, threads, most_threads_at_once / threads, most_threads_at_once));
}

/// Runs a part of a grid: `count` blocks, of which `first` is the first. All blocks of the part run at the same time.
/// `whole` is the shared state of the grid if the part is the whole grid.
void run_blocks(unsigned first, unsigned count, const grid_shape& shape, cpu_block_state* whole,
                const grid_member& member) {
  const unsigned threads = shape.threads;
  std::deque<cpu_block_state> block_states;
  for (unsigned block = 0; block < count; ++block) block_states.emplace_back(threads);
  start_latch gate;
  first_exception failure;
  const auto run = [&](unsigned block, unsigned thread) {
    try {
      run_member(cpu_block(block_states[block], thread, threads, first + block, shape.blocks, whole), member);
    } catch (const thread_ended&) {
      failure.keep(true);
    } catch (...) {
      failure.keep(false);
    }
  };

  // The calling thread is the last thread of the grid, so a grid of one thread starts no thread.
  const std::size_t total = std::size_t{count} * threads;
  std::vector<std::thread> others;
  bool complete = true;
  try {
    others.reserve(total - 1);
    for (std::size_t i = 0; i + 1 < total; ++i)
      others.emplace_back([&, i] {
        if (gate.pass()) run(static_cast<unsigned>(i / threads), static_cast<unsigned>(i % threads));
      });
  } catch (const std::exception&) {
    complete = false;
  }
  gate.open(complete);
  if (complete) run(count - 1, threads - 1);
  for (std::thread& other : others) other.join();
  if (!complete)
    throw error(code::launch_failed,
                fmt::format("a grid of {} blocks of {} threads: the system starts only {} threads; use fewer blocks, "
                            "or raise the limit (ulimit -u)",
                            shape.blocks, threads, others.size()));
  failure.rethrow();
}

}  // namespace

void run_grid_here(grid_shape shape, const grid_member& member) {
  check_shape(shape);
  if (shape.resident) {
    cpu_block_state whole(shape.blocks * shape.threads);
    run_blocks(0, shape.blocks, shape, &whole, member);
    return;
  }
  // Runs only a few blocks at a time, because more blocks would compete for the processors. This is safe, because these
  // blocks do not wait for one another.
  const unsigned at_once =
      std::max(1U, std::min(most_threads_at_once, 4 * std::thread::hardware_concurrency()) / shape.threads);
  for (unsigned first = 0; first < shape.blocks;) {
    const unsigned count = std::min(at_once, shape.blocks - first);
    run_blocks(first, count, shape, nullptr, member);
    first += count;
  }
}

void run_grid_on_cpu(device& on, stream_handle stream, grid_shape shape, grid_member member) {
  auto* cpu = dynamic_cast<cpu_device*>(&on);
  if (cpu == nullptr)
    throw error(code::launch_failed, "this kernel runs on the CPU, but the heap of its world is on another device");
  check_shape(shape);
  // The kernel does not run on the calling thread, because the kernel can wait for an operation that the calling thread
  // executes later.
  cpu->queue(stream).run([shape, body = std::move(member)] { run_grid_here(shape, body); }, host_stream::place::worker);
}

}  // namespace pgas::detail
