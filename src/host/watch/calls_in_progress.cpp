#include "host/watch/calls_in_progress.hpp"

#include <algorithm>
#include <ctime>

namespace pgas::detail {

namespace {

std::chrono::milliseconds in_ms(std::int64_t ns) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::nanoseconds(ns));
}

}  // namespace

std::int64_t calls_in_progress::coarse_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::size_t calls_in_progress::next_place() noexcept {
  static std::atomic<std::size_t> threads{0};
  return threads.fetch_add(1, std::memory_order_relaxed) % most_places;
}

std::uint64_t calls_in_progress::short_calls() const noexcept {
  std::uint64_t all = 0;
  for (const place& slot : places_) all += slot.short_calls.load(std::memory_order_relaxed);
  return all;
}

bool calls_in_progress::enter(const char* name) noexcept {
  place& here = mine();
  if (here.name.load(std::memory_order_relaxed) != nullptr) return false;
  here.since.store(coarse_ns(), std::memory_order_relaxed);
  here.name.store(name, std::memory_order_release);
  return true;
}

void calls_in_progress::leave() noexcept {
  place& here = mine();
  const std::int64_t now = coarse_ns();
  add(here.name.load(std::memory_order_relaxed), now - here.since.load(std::memory_order_relaxed));
  here.name.store(nullptr, std::memory_order_relaxed);
  if (here.offset.load(std::memory_order_relaxed) != no_word) here.offset.store(no_word, std::memory_order_relaxed);
  last_end_.store(now, std::memory_order_relaxed);
}

void calls_in_progress::add(const char* name, std::int64_t ns) noexcept {
  if (name == nullptr || ns < 0) return;  // another thread that shares the slot has changed the entry
  for (std::size_t at = reinterpret_cast<std::uintptr_t>(name), tried = 0; tried < most_names; ++at, ++tried) {
    sum& here = sums_[at % most_names];
    const char* taken = here.name.load(std::memory_order_relaxed);
    if (taken == nullptr && here.name.compare_exchange_strong(taken, name, std::memory_order_relaxed)) taken = name;
    if (taken != name) continue;
    here.calls.fetch_add(1, std::memory_order_relaxed);
    here.ns.fetch_add(static_cast<std::uint64_t>(ns), std::memory_order_relaxed);
    return;
  }
}

std::vector<calls_in_progress::total> calls_in_progress::totals() const {
  std::vector<total> found;
  for (const sum& item : sums_) {
    const char* const name = item.name.load(std::memory_order_relaxed);
    if (name == nullptr) continue;
    auto entry = std::ranges::find(found, std::string_view(name), &total::name);
    if (entry == found.end()) entry = found.insert(entry, {name, 0, {}});
    entry->calls += item.calls.load(std::memory_order_relaxed);
    entry->time += std::chrono::nanoseconds(item.ns.load(std::memory_order_relaxed));
  }
  std::ranges::sort(found, {}, &total::name);
  return found;
}

void calls_in_progress::waits_for(const awaited_word& word) noexcept {
  place& here = mine();
  here.expected.store(word.expected, std::memory_order_relaxed);
  here.seen.store(word.seen, std::memory_order_relaxed);
  here.compare.store(word.compare, std::memory_order_relaxed);
  here.pe.store(word.pe, std::memory_order_relaxed);
  here.offset.store(word.offset, std::memory_order_release);
}

std::vector<calls_in_progress::call> calls_in_progress::now() const {
  std::vector<call> calls;
  for (const place& slot : places_) {
    const char* const name = slot.name.load(std::memory_order_acquire);
    if (name == nullptr) continue;
    call found{name, in_ms(coarse_ns() - slot.since.load(std::memory_order_relaxed)), std::nullopt};
    if (const std::uint64_t offset = slot.offset.load(std::memory_order_acquire); offset != no_word)
      found.word =
          awaited_word{offset, slot.expected.load(std::memory_order_relaxed), slot.seen.load(std::memory_order_relaxed),
                       slot.compare.load(std::memory_order_relaxed), slot.pe.load(std::memory_order_relaxed)};
    calls.push_back(found);
  }
  return calls;
}

std::chrono::milliseconds calls_in_progress::idle() const noexcept {
  return in_ms(coarse_ns() - last_end_.load(std::memory_order_relaxed));
}

void calls_in_progress::look() noexcept {
  const std::uint64_t all = short_calls();
  if (seen_short_calls_.exchange(all, std::memory_order_relaxed) != all)
    last_short_.store(coarse_ns(), std::memory_order_relaxed);
}

std::chrono::milliseconds calls_in_progress::idle_with_short_calls() const noexcept {
  for (const place& slot : places_)
    if (slot.name.load(std::memory_order_relaxed) != nullptr) return {};
  const std::int64_t last =
      std::max(last_end_.load(std::memory_order_relaxed), last_short_.load(std::memory_order_relaxed));
  return in_ms(std::max<std::int64_t>(coarse_ns() - last, 0));
}

}  // namespace pgas::detail
