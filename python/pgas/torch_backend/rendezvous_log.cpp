#include "rendezvous_log.hpp"

#include <c10/util/Exception.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace pgas::torch_backend {
namespace {

std::string text_of(const rendezvous_log::entry& entry) {
  return "allocation " + std::to_string(entry.allocation) + " of " + std::to_string(entry.bytes) + " bytes at offset " +
         std::to_string(entry.offset);
}

}  // namespace

std::string rendezvous_log::text_of_wait(std::size_t rank, std::uint64_t number,
                                         std::chrono::milliseconds lasted) const {
  return "pgas.torch: call " + std::to_string(number) + " of group '" + group_ + "' on rank " + std::to_string(rank_) +
         " has waited " + std::to_string(lasted.count() / 1000) + " s for rank " + std::to_string(rank) +
         ", which has made " + std::to_string(pages_[rank]->calls.load(std::memory_order_relaxed)) + " of them";
}

rendezvous_log::entry rendezvous_log::read(const rendezvous_page& page, std::uint64_t number) {
  const rendezvous_record& found = page.records[number % rendezvous_page::length];
  return {found.allocation.load(std::memory_order_relaxed), found.offset.load(std::memory_order_relaxed),
          found.bytes.load(std::memory_order_relaxed)};
}

void rendezvous_log::await_room(std::uint64_t number, const world& of) const {
  const auto end = std::chrono::steady_clock::now() + limit_;
  for (std::size_t rank = 0; rank < pages_.size(); ++rank) {
    while (pages_[rank] != nullptr &&
           pages_[rank]->calls.load(std::memory_order_acquire) + rendezvous_page::length <= number) {
      of.check();
      if (std::chrono::steady_clock::now() >= end)
        throw error(code::wait_timeout,
                    "pgas.torch: call " + std::to_string(number) + " of group '" + group_ + "': rank " +
                        std::to_string(rank) + " has made " + std::to_string(pages_[rank]->calls.load()) +
                        " of them, and none for " + std::to_string(limit_.count() / 1000) +
                        " s: all ranks must make the same calls",
                    pes_[rank]);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

void rendezvous_log::compare(std::size_t rank, std::uint64_t up_to) {
  const rendezvous_page* const theirs = pages_[rank];
  const std::uint64_t last = std::min(theirs->calls.load(std::memory_order_acquire), up_to);
  while (compared_[rank] < last && difference_.empty()) {
    const std::uint64_t number = ++compared_[rank];
    const entry here = read(*pages_[static_cast<std::size_t>(rank_)], number);
    const entry there = read(*theirs, number);
    if (here == there) continue;
    different_pe_ = pes_[rank];
    difference_ =
        "pgas.torch: in call " + std::to_string(number) + " of group '" + group_ + "' rank " + std::to_string(rank) +
        " has " + text_of(there) + ", rank " + std::to_string(rank_) + " has " + text_of(here) +
        ": all ranks must pass the same tensors in the same order to rendezvous() and to collectives, also while they "
        "capture graphs. In a memory pool they must also free and reuse blocks in the same order: make the same "
        "allocations on all ranks while the pool is used";
  }
}

void rendezvous_log::enter(const entry& mine, const world& of) {
  rendezvous_page& page = *pages_[static_cast<std::size_t>(rank_)];
  const std::uint64_t number = page.calls.load(std::memory_order_relaxed) + 1;
  await_room(number, of);
  rendezvous_record& record = page.records[number % rendezvous_page::length];
  record.allocation.store(mine.allocation, std::memory_order_relaxed);
  record.offset.store(mine.offset, std::memory_order_relaxed);
  record.bytes.store(mine.bytes, std::memory_order_relaxed);
  page.calls.store(number, std::memory_order_release);
  for (std::size_t rank = 0; rank < pages_.size(); ++rank)
    if (pages_[rank] != nullptr && static_cast<int>(rank) != rank_) compare(rank, number);
  throw_difference();
}

void rendezvous_log::await_others(const world& of) {
  constexpr int spins = 1000;
  const std::uint64_t number = pages_[static_cast<std::size_t>(rank_)]->calls.load(std::memory_order_relaxed);
  using std::chrono::milliseconds;
  const auto begin = std::chrono::steady_clock::now();
  const milliseconds warning = of.settings().wait_warning;
  bool warned = warning.count() <= 0;
  int polls = 0;
  for (std::size_t rank = 0; rank < pages_.size(); ++rank) {
    if (pages_[rank] == nullptr) continue;
    while (pages_[rank]->calls.load(std::memory_order_acquire) < number) {
      if (++polls < spins) {
        std::this_thread::yield();
        continue;
      }
      of.check();
      const auto lasted = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin);
      refuse_failed(number);
      if (lasted >= limit_ && fail_wait(number))
        throw error(code::wait_timeout,
                    text_of_wait(rank, number, lasted) +
                        ": all ranks must call the same rendezvous, whether they capture a graph or not. The timeout "
                        "of the process group, or PGAS_WAIT_TIMEOUT, is the limit",
                    pes_[rank]);
      if (!warned && lasted >= warning) {
        warned = true;
        TORCH_WARN(text_of_wait(rank, number, lasted),
                   ": all ranks must call the same rendezvous. The wait ends after ", limit_.count() / 1000, " s");
      }
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    if (static_cast<int>(rank) != rank_) compare(rank, number);
    throw_difference();
  }
  for (std::size_t rank = 0; rank < pages_.size(); ++rank)
    if (pages_[rank] != nullptr) rely_on(rank, number);
}

bool rendezvous_log::fail_wait(std::uint64_t number) {
  std::atomic<std::uint64_t>& mine = pages_[static_cast<std::size_t>(rank_)]->relied_on;
  std::uint64_t known = mine.load();
  return known < number && mine.compare_exchange_strong(known, rendezvous_page::failed);
}

void rendezvous_log::rely_on(std::size_t rank, std::uint64_t number) {
  std::atomic<std::uint64_t>& theirs = pages_[rank]->relied_on;
  std::uint64_t known = theirs.load();
  while (known < number && !theirs.compare_exchange_weak(known, number)) {
  }
  refuse_failed(number);
}

void rendezvous_log::refuse_failed(std::uint64_t number) const {
  for (std::size_t rank = 0; rank < pages_.size(); ++rank)
    if (pages_[rank] != nullptr && pages_[rank]->relied_on.load() == rendezvous_page::failed)
      throw error(code::wait_timeout,
                  "pgas.torch: call " + std::to_string(number) + " of group '" + group_ + "': the wait of rank " +
                      std::to_string(rank) +
                      " for other ranks has failed in a rendezvous. The group can't be used any more: make a new "
                      "group, in which all ranks call the same rendezvous in time",
                  pes_[rank]);
}

void rendezvous_log::throw_difference() const {
  if (!difference_.empty()) throw error(code::asymmetric_call, difference_, different_pe_);
}

}  // namespace pgas::torch_backend
