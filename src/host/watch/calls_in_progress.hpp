/// @file
/// The calls in progress of a PE's host threads and their start times, for reports about programs that hang.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace pgas::detail {

/// Each of the first threads has a separate slot; further threads share slots. All words are atomic, so another thread
/// may read them at any time. If a call ends while another thread reads its slot, the result can mix two calls. The
/// next read is correct.
class calls_in_progress {
 public:
  /// The word that a call waits for.
  struct awaited_word {
    std::uint64_t offset;  ///< the offset in the heap
    std::uint64_t expected;
    std::uint64_t seen;
    std::int32_t compare;  ///< a pgas::cmp
    std::int32_t pe;       ///< the PE that has to write the word; -1 if the wait does not know the PE
  };
  struct call {
    const char* name;
    std::chrono::milliseconds lasted;
    std::optional<awaited_word> word;
  };
  /// The number and the total time of all ended calls with the same name.
  struct total {
    std::string_view name;
    std::uint64_t calls;
    std::chrono::nanoseconds time;
  };

  /// Begins the outermost call of this thread. Returns whether the call was entered into the list. A call is not
  /// entered if another thread that shares the slot is in a call.
  /// @param name must stay valid until the process ends
  [[nodiscard]] bool enter(const char* name) noexcept;
  /// Ends a call for which enter() returned true.
  void leave() noexcept;
  /// Sets the word that the call of this thread waits for, and the last value that the call has read.
  void waits_for(const awaited_word& word) noexcept;

  /// Counts a call that is too short for the list, because it waits for no other PE.
  void count() noexcept {
    std::atomic<std::uint64_t>& short_calls = mine().short_calls;
    short_calls.store(short_calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  /// *Callers* any thread.
  [[nodiscard]] std::vector<call> now() const;
  /// The number of short calls so far. Two simultaneous calls of threads that share a slot can count as one.
  [[nodiscard]] std::uint64_t short_calls() const noexcept;
  /// The time since the last listed call ended, or since the list was made.
  [[nodiscard]] std::chrono::milliseconds idle() const noexcept;
  /// The sums of all ended calls, by name.
  [[nodiscard]] std::vector<total> totals() const;
  /// Checks whether there were short calls since the last check. A short call records no time, because reading a clock
  /// would cost as much as the call.
  void look() noexcept;
  /// Zero while a thread is in a listed call. Otherwise the time since the last listed call ended, or since a check
  /// found short calls, whichever was later.
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

  /// The number and the total time of all ended calls with the same name. A name is a string literal, which can have
  /// several addresses; totals() adds the sums of equal names.
  struct sum {
    std::atomic<const char*> name{nullptr};
    std::atomic<std::uint64_t> calls{0};
    std::atomic<std::uint64_t> ns{0};
  };

  /// The time of a coarse clock in nanoseconds. Reading the clock takes a few nanoseconds. The clock advances every few
  /// milliseconds.
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
  static constexpr std::size_t most_names = 128;  ///< more than the number of names in the library
  std::array<sum, most_names> sums_;
  std::atomic<std::int64_t> last_end_{coarse_ns()};
  std::atomic<std::uint64_t> seen_short_calls_{0};  ///< the count at the last check
  std::atomic<std::int64_t> last_short_{0};         ///< the time of the last check that found short calls
};

}  // namespace pgas::detail
