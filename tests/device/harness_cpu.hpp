/// @file
/// The harness on the CPU. All slots are in one allocation, and every thread of every block of every PE is a real
/// thread, so that the thread sanitizer sees each race between PEs. PEs of different domains are proxied.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "proxies.hpp"

namespace pgas_test {

/// The sizes of blocks with which the tests run.
inline std::vector<grid_shape> grids() { return {{1, 1}, {1, 2}, {1, 4}, {3, 2}}; }
/// The rounds of a stress test, computed from the number of rounds on a GPU.
inline int rounds(int on_gpu) { return no_more_than_asked(on_gpu / 10); }

/// The default sizes of the stress test: the channels of each PE, the background blocks of each PE, the threads of a
/// block, and the rounds in total.
struct stress_shape {
  unsigned channels = 1;
  unsigned background = 1;
  unsigned threads = 2;
#if defined(PGAS_TSAN)
  std::uint64_t total = 3'000;
#else
  std::uint64_t total = 10'000;
#endif
};

class pe_set {
 public:
  explicit pe_set(int n_pes, pe_options options = {}) : n_(n_pes), controls_(static_cast<std::size_t>(n_pes)) {
    while (std::size_t{1} << log2_stride_ < options.heap_bytes) ++log2_stride_;
    if (asked_scattered())
      scatter(std::size_t{1} << log2_stride_);
    else
      line_up();
    used_ = (detail::internal_area::bytes(n_pes) + 511) / 512 * 512;
    checks_ = options.checks;
    for (auto& control : controls_) {
      control.heap_bytes = options.heap_bytes;
      control.wait_timeout_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(options.timeout).count());
    }
    if (options.domain != 0 || asked_domain() != 0) domain_ = options.domain != 0 ? options.domain : asked_domain();
    if (domain_ < n_pes || asked_scattered()) {
      write_plans_of_world(*this);
      proxies_.emplace(
          proxied_layout{n_pes, domain_, {}, slots_, log2_stride_, options.heap_bytes, asked_fault_seed()},
          [this](int pe) { return &control(pe); }, [this](int lost) { abort(static_cast<std::uint32_t>(lost) + 1); });
    }
    copies_.resize(static_cast<std::size_t>(n_pes));
    for (int pe = 0; pe < n_pes; ++pe) copies_[static_cast<std::size_t>(pe)] = context_of(pe);
  }
  ~pe_set() {
    proxies_.reset();
    for (const auto& [at, bytes] : mapped_) munmap(at, bytes);
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
    std::memcpy(slot(pe) + to.offset, from, count * sizeof(T));
  }
  template <class T>
  void read(int pe, sym<T> from, T* to, std::size_t count) {
    std::memcpy(static_cast<void*>(to), slot(pe) + from.offset, count * sizeof(T));
  }
  template <class T>
  void fill(int pe, sym<T> to, int byte, std::size_t count) {
    std::memset(slot(pe) + to.offset, byte, count * sizeof(T));
  }

  [[nodiscard]] context context_of(int pe) const {
    context ctx;
    ctx.abi_ = detail::context_layout;
    ctx.world_pe_ = pe;
    ctx.n_world_ = n_;
    ctx.log2_stride_ = log2_stride_;
    ctx.flags_ = checks_ ? detail::slow_path::checks : 0;
    ctx.my_slot_ = reinterpret_cast<std::uintptr_t>(slot(pe));
    ctx.control_ = const_cast<detail::control_block*>(&controls_[static_cast<std::size_t>(pe)]);
    if (proxies_) ctx.routes_ = proxies_->routes_of(pe);
    detail::set_team(ctx, ctx.world());
    ctx.copy_ = &copies_[static_cast<std::size_t>(pe)];
    return ctx;
  }
  [[nodiscard]] detail::control_block& control(int pe) { return controls_[static_cast<std::size_t>(pe)]; }

  /// Sets the abort word of every PE, in the same way as the host library does when a PE is lost. *Callers* any thread.
  void abort(std::uint32_t word) {
    for (auto& control : controls_) __atomic_store_n(&control.abort, word, __ATOMIC_RELAXED);
  }

  /// Cuts PE `pe` off from all PEs that reach it by proxy. *Callers* any thread.
  void cut(int pe) { proxies_->cut(pe); }

  /// The bytes that all PEs together have sent between domains.
  [[nodiscard]] proxies::carried traffic() { return proxies_->traffic(); }

  /// Runs the body on all PEs until it ends, and `meanwhile` on the calling thread. Returns which PEs left a record.
  /// The first PE with a record also ends the waits of the others.
  template <class Body>
  std::vector<bool> run_out(grid_shape g, Body body, const std::function<void()>& meanwhile = {}) {
    std::deque<detail::cpu_block_state> block_states;
    for (unsigned i = 0; i < static_cast<unsigned>(n_) * g.blocks; ++i) block_states.emplace_back(g.threads);
    std::deque<detail::cpu_block_state> whole_grids;
    for (int pe = 0; pe < n_; ++pe) whole_grids.emplace_back(g.blocks * g.threads);
    std::atomic<unsigned> ready{0};
    const unsigned total = static_cast<unsigned>(n_) * g.blocks * g.threads;
    std::vector<std::thread> threads;
    for (int pe = 0; pe < n_; ++pe) {
      for (unsigned block = 0; block < g.blocks; ++block) {
        for (unsigned rank = 0; rank < g.threads; ++rank) {
          threads.emplace_back([&, pe, block, rank] {
            ready.fetch_add(1);
            while (ready.load() < total) std::this_thread::yield();
            const cpu_block mine(block_states[static_cast<unsigned>(pe) * g.blocks + block], rank, g.threads, block,
                                 g.blocks, &whole_grids[static_cast<std::size_t>(pe)]);
            try {
              detail::run_member(mine, [&](const cpu_block& member) {
                const context ctx = context_of(pe);
#if defined(PGAS_TEST_DIRECT)
                if (ctx.flags_ == 0) return static_cast<void>(body(member, static_cast<context>(direct_context(ctx))));
#endif
                body(member, ctx);
              });
            } catch (const detail::thread_ended&) {
              abort(static_cast<std::uint32_t>(pe) + 1);
            }
          });
        }
      }
    }
    if (meanwhile) meanwhile();
    for (auto& t : threads) t.join();
    std::vector<bool> gave_up;
    for (int pe = 0; pe < n_; ++pe) gave_up.push_back(control(pe).record.complete != 0);
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
          << ", PE " << r.pe << ", offset " << r.heap_offset << ", expected " << r.expected << ", saw " << r.seen;
    }
  }

 private:
  [[nodiscard]] std::byte* slot(int pe) const { return slots_[static_cast<std::size_t>(pe)]; }
  std::byte* map(std::size_t bytes, void* hint = nullptr) {
    void* const at = mmap(hint, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    mapped_.emplace_back(at, bytes);
    return static_cast<std::byte*>(at);
  }
  void line_up() {
    std::byte* const base = map(static_cast<std::size_t>(n_) << log2_stride_);
    for (int pe = 0; pe < n_; ++pe) slots_.push_back(base + (static_cast<std::size_t>(pe) << log2_stride_));
  }
  /// Places the slots far apart, if the system accepts address hints; some sanitizers do not accept hints. The
  /// distances are never regular.
  void scatter(std::size_t slot_bytes) {
    log2_stride_ = log2_scatter_unit;
    constexpr std::uintptr_t unit = std::uintptr_t{1} << log2_scatter_unit;
    constexpr std::uintptr_t first = 0x1100'0000'0000;
    for (int pe = 0; pe < n_; ++pe) {
      const std::uintptr_t hint = first + static_cast<std::uintptr_t>(pe * 389 % 701) * (unit << 7);
      std::byte* const at =
          map(slot_bytes + static_cast<std::size_t>(pe * pe + 1) * unit, reinterpret_cast<void*>(hint));
      slots_.push_back(reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(at) + unit - 1) & ~(unit - 1)));
    }
  }

  int n_;
  int domain_ = n_;
  std::uint16_t log2_stride_ = 16;
  bool checks_ = false;
  std::size_t used_ = 0;
  std::vector<std::pair<void*, std::size_t>> mapped_;
  std::vector<std::byte*> slots_;
  std::deque<detail::control_block> controls_;
  std::vector<context> copies_;
  std::optional<proxies> proxies_;
};

}  // namespace pgas_test
