/// @file
/// Threads of the host as producers of a ring, with the protocol of proxy_ring.hpp, for tests of the consumer.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "pgas/detail/proxy_ring.hpp"

namespace pgas::testing {

/// Waits until `condition` is true. Throws after a minute.
template <class F>
void wait_for(const char* what, const F& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error(std::string("waited in vain: ") + what);
    std::this_thread::yield();
  }
}

template <class T>
[[nodiscard]] T load_acquire(const T& word) {
  return std::atomic_ref(const_cast<T&>(word)).load(std::memory_order_acquire);
}

/// *Callers* any thread.
class producer {
 public:
  explicit producer(const detail::ring_view& ring) : ring_(ring) {}

  /// Submits a command.
  void push(const detail::command& what) const {
    const std::uint64_t number = std::atomic_ref(ring_.heads->next).fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t size = std::uint64_t{1} << ring_.log2_commands;
    wait_for("a free slot", [&] { return number < size || load_acquire(ring_.progress->taken) > number - size; });
    detail::command& slot = ring_.commands[number % size];
    // The lap word, which the proxy may be polling, is written last.
    constexpr std::size_t behind_lap = sizeof slot.lap;
    std::memcpy(reinterpret_cast<std::byte*>(&slot) + behind_lap,
                reinterpret_cast<const std::byte*>(&what) + behind_lap, sizeof slot - behind_lap);
    std::atomic_ref(slot.lap).store(number / size + 1, std::memory_order_release);
  }

  /// A reserved answer cell.
  struct ticket {
    std::uint32_t cell;
    std::uint64_t lap;
  };
  [[nodiscard]] ticket take_ticket() const {
    const std::uint64_t number = std::atomic_ref(ring_.heads->next_answer).fetch_add(1, std::memory_order_relaxed);
    const auto cell = static_cast<std::uint32_t>(number & ((std::uint64_t{1} << ring_.log2_answers) - 1));
    const std::uint64_t lap = number >> ring_.log2_answers;
    wait_for("a free answer cell", [&] { return load_acquire(ring_.free_laps()[cell]) == lap; });
    return {cell, lap};
  }
  [[nodiscard]] bool is_there(ticket mine) const { return load_acquire(ring_.answers[mine.cell].lap) == mine.lap + 1; }
  /// Waits for the answer and returns its two values.
  struct values {
    std::uint64_t low;
    std::uint64_t high;
  };
  values wait(ticket mine) const {
    wait_for("an answer", [&] { return is_there(mine); });
    const values found{ring_.answers[mine.cell].value[0], ring_.answers[mine.cell].value[1]};
    std::atomic_ref(ring_.free_laps()[mine.cell]).store(mine.lap + 1, std::memory_order_release);
    return found;
  }
  [[nodiscard]] ticket ask(const detail::command& what) const {
    const ticket mine = take_ticket();
    detail::command asking = what;
    asking.answer = mine.cell;
    push(asking);
    return mine;
  }
  values call(const detail::command& what) const { return wait(ask(what)); }
  void quiet(int pe = -1) const;

  [[nodiscard]] const detail::ring_view& ring() const { return ring_; }

 private:
  detail::ring_view ring_;
};

// ---- commands

[[nodiscard]] inline detail::command make(detail::command_kind kind, int pe) {
  detail::command what{};
  what.kind = kind;
  what.pe = pe;
  what.answer = detail::no_answer;
  return what;
}
[[nodiscard]] inline detail::command put(int pe, std::uint64_t offset, const void* local, std::uint64_t bytes) {
  detail::command what = make(detail::command_kind::put, pe);
  what.offset = offset;
  what.local = reinterpret_cast<std::uintptr_t>(local);
  what.bytes = bytes;
  return what;
}
[[nodiscard]] inline detail::command get(int pe, void* local, std::uint64_t offset, std::uint64_t bytes) {
  detail::command what = put(pe, offset, local, bytes);
  what.kind = detail::command_kind::get;
  return what;
}
[[nodiscard]] inline detail::command put_value(int pe, std::uint64_t offset, std::uint64_t low, std::uint64_t bytes = 8,
                                               std::uint64_t high = 0) {
  detail::command what = make(detail::command_kind::put_value, pe);
  what.offset = offset;
  what.bytes = bytes;
  what.value[0] = low;
  what.value[1] = high;
  return what;
}
[[nodiscard]] inline detail::command get_value(int pe, std::uint64_t offset, std::uint64_t bytes = 8) {
  detail::command what = put_value(pe, offset, 0, bytes);
  what.kind = detail::command_kind::get_value;
  return what;
}
[[nodiscard]] inline detail::command strided(detail::command_kind kind, int pe, std::uint64_t offset,
                                             std::int64_t remote_step, const void* local, std::int64_t local_step,
                                             std::uint64_t bytes, std::uint64_t count) {
  detail::command what = put(pe, offset, local, bytes * count);
  what.kind = kind;
  what.block = static_cast<std::uint32_t>(bytes);
  what.value[0] = static_cast<std::uint64_t>(local_step);
  what.value[1] = static_cast<std::uint64_t>(remote_step);
  return what;
}
/// @param blocks must stay valid until the answer
[[nodiscard]] inline detail::command list(detail::command_kind kind, int pe,
                                          const std::vector<detail::listed_block>& blocks) {
  detail::command what = put(pe, 0, blocks.data(), blocks.size() * sizeof(detail::listed_block));
  what.kind = kind;
  return what;
}
[[nodiscard]] inline detail::command atomic(int pe, std::uint64_t offset, detail::atomic_update update,
                                            detail::datatype as, std::uint64_t value, std::uint64_t condition = 0) {
  detail::command what = make(detail::command_kind::atomic, pe);
  what.offset = offset;
  what.update = update;
  what.as = as;
  what.value[0] = value;
  what.value[1] = condition;
  return what;
}
[[nodiscard]] inline detail::command add(int pe, std::uint64_t offset, std::uint64_t value) {
  return atomic(pe, offset, detail::atomic_update::add, detail::datatype::u64, value);
}
[[nodiscard]] inline detail::command signal(int pe, std::uint64_t signal_offset, std::uint64_t value,
                                            detail::atomic_update update = detail::atomic_update::add) {
  detail::command what = make(detail::command_kind::signal, pe);
  what.update = update;
  what.value[0] = value;
  what.value[1] = signal_offset;
  return what;
}
[[nodiscard]] inline detail::command put_signal(int pe, std::uint64_t offset, const void* local, std::uint64_t bytes,
                                                std::uint64_t signal_offset, std::uint64_t value,
                                                detail::atomic_update update = detail::atomic_update::add) {
  detail::command what = put(pe, offset, local, bytes);
  what.kind = detail::command_kind::put_signal;
  what.update = update;
  what.value[0] = value;
  what.value[1] = signal_offset;
  return what;
}
/// Does the same as put_signal() with at most 8 bytes of data. The command itself contains the data.
[[nodiscard]] inline detail::command put_value_signal(int pe, std::uint64_t offset, std::uint64_t data,
                                                      std::uint64_t bytes, std::uint64_t signal_offset,
                                                      std::uint64_t value,
                                                      detail::atomic_update update = detail::atomic_update::add) {
  detail::command what = put_signal(pe, offset, nullptr, bytes, signal_offset, value, update);
  what.kind = detail::command_kind::put_value_signal;
  what.local = data;
  return what;
}

inline void producer::quiet(int pe) const { static_cast<void>(call(make(detail::command_kind::quiet, pe))); }

}  // namespace pgas::testing
