#include "host/team/call_list.hpp"

#include <ctime>

namespace pgas::detail {

std::int64_t call_list::coarse_ms() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

std::size_t call_list::next_place() noexcept {
  static std::atomic<std::size_t> threads{0};
  return threads.fetch_add(1, std::memory_order_relaxed) % most_places;
}

std::uint64_t call_list::short_calls() const noexcept {
  std::uint64_t all = 0;
  for (const place& one : places_) all += one.short_calls.load(std::memory_order_relaxed);
  return all;
}

bool call_list::enter(const char* name) noexcept {
  place& here = mine();
  if (here.name.load(std::memory_order_relaxed) != nullptr) return false;
  here.since.store(coarse_ms(), std::memory_order_relaxed);
  here.name.store(name, std::memory_order_release);
  return true;
}

void call_list::leave() noexcept {
  place& here = mine();
  here.name.store(nullptr, std::memory_order_relaxed);
  if (here.offset.load(std::memory_order_relaxed) != no_word) here.offset.store(no_word, std::memory_order_relaxed);
  last_end_.store(coarse_ms(), std::memory_order_relaxed);
}

void call_list::waits_for(const awaited_word& word) noexcept {
  place& here = mine();
  here.expected.store(word.expected, std::memory_order_relaxed);
  here.seen.store(word.seen, std::memory_order_relaxed);
  here.compare.store(word.compare, std::memory_order_relaxed);
  here.pe.store(word.pe, std::memory_order_relaxed);
  here.offset.store(word.offset, std::memory_order_release);
}

std::vector<call_list::call> call_list::now() const {
  std::vector<call> calls;
  for (const place& one : places_) {
    const char* const name = one.name.load(std::memory_order_acquire);
    if (name == nullptr) continue;
    call found{name, std::chrono::milliseconds(coarse_ms() - one.since.load(std::memory_order_relaxed)), std::nullopt};
    if (const std::uint64_t offset = one.offset.load(std::memory_order_acquire); offset != no_word)
      found.word =
          awaited_word{offset, one.expected.load(std::memory_order_relaxed), one.seen.load(std::memory_order_relaxed),
                       one.compare.load(std::memory_order_relaxed), one.pe.load(std::memory_order_relaxed)};
    calls.push_back(found);
  }
  return calls;
}

std::chrono::milliseconds call_list::idle() const noexcept {
  return std::chrono::milliseconds(coarse_ms() - last_end_.load(std::memory_order_relaxed));
}

}  // namespace pgas::detail
