/// @file
/// Which calls the host threads of a PE are in, and since when: for whoever asks why a program does not go on.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace pgas::detail {

/// A place for each of the first threads; further ones share. All words are atomic, so that another thread may read
/// them at any time: what it reads of a call that ends meanwhile may be of two calls, and is right at the next reading.
class call_list {
 public:
  /// The word that a call waits for.
  struct awaited_word {
    std::uint64_t offset;  ///< in the heap
    std::uint64_t expected;
    std::uint64_t seen;
    std::int32_t compare;  ///< pgas::cmp
    std::int32_t pe;       ///< of the one that has to write, -1 where the wait does not know
  };
  struct call {
    const char* name;
    std::chrono::milliseconds lasted;
    std::optional<awaited_word> word;
  };
  /// All calls of a name that stood here and have ended.
  struct total {
    std::string_view name;
    std::uint64_t calls;
    std::chrono::nanoseconds time;
  };

  /// The outermost call of this thread, unless the thread that it shares its place with is in one. @param name has to
  /// live as long as the process. Whether it stands there.
  [[nodiscard]] bool enter(const char* name) noexcept;
  /// The end of a call for which enter() gave true.
  void leave() noexcept;
  /// What the call of this thread waits for, or has seen since.
  void waits_for(const awaited_word& word) noexcept;

  /// A call of this thread that is too short to be listed: an operation that waits for no other PE.
  void count() noexcept {
    std::atomic<std::uint64_t>& short_calls = mine().short_calls;
    short_calls.store(short_calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  /// *Callers* any thread.
  [[nodiscard]] std::vector<call> now() const;
  /// The number of short calls so far. Two that threads of one place make at the same time may count as one.
  [[nodiscard]] std::uint64_t short_calls() const noexcept;
  /// How long ago the last listed call ended, or the list began.
  [[nodiscard]] std::chrono::milliseconds idle() const noexcept;
  /// By name.
  [[nodiscard]] std::vector<total> totals() const;
  /// Notices the short calls since the last look. They take no time of their own: reading a clock would cost as much.
  void look() noexcept;
  /// Zero while a thread is in a listed call; else how long ago the last one ended, or, if that was later, a look
  /// noticed short calls.
  [[nodiscard]] std::chrono::milliseconds idle_with_short_calls() const noexcept;

 private:
  struct alignas(64) place {
    std::atomic<const char*> name{nullptr};
    std::atomic<std::int64_t> since{0};
    std::atomic<std::uint64_t> offset{no_word};
    std::atomic<std::uint64_t> expected{0};
    std::atomic<std::uint64_t> seen{0};
    std::atomic<std::int32_t> compare{0};
    std::atomic<std::int32_t> pe{-1};
    std::atomic<std::uint64_t> short_calls{0};
  };
  static constexpr std::uint64_t no_word = ~std::uint64_t{0};

  /// The calls of a name so far. Names are literals, which may be at several addresses: totals() adds those up.
  struct sum {
    std::atomic<const char*> name{nullptr};
    std::atomic<std::uint64_t> calls{0};
    std::atomic<std::uint64_t> ns{0};
  };

  /// Nanoseconds of a clock that is read in a few nanoseconds and advances every few milliseconds.
  [[nodiscard]] static std::int64_t coarse_ns() noexcept;
  void add(const char* name, std::int64_t ns) noexcept;
  [[nodiscard]] place& mine() noexcept { return places_[my_place()]; }
  [[nodiscard]] static std::size_t my_place() noexcept {
    thread_local const std::size_t place = next_place();
    return place;
  }
  [[nodiscard]] static std::size_t next_place() noexcept;

  static constexpr std::size_t most_places = 32;
  std::array<place, most_places> places_;
  static constexpr std::size_t most_names = 128;  ///< more than the library has
  std::array<sum, most_names> sums_;
  std::atomic<std::int64_t> last_end_{coarse_ns()};
  std::atomic<std::uint64_t> seen_short_calls_{0};  ///< at the last look
  std::atomic<std::int64_t> last_short_{0};         ///< the last look that noticed some
};

}  // namespace pgas::detail
