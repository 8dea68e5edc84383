#include "host/share/import_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/fork_guard.hpp"
#include "host/share/imported_memory.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

import_table& import_table::of_process() { return of_this_process<import_table>(); }

std::shared_ptr<imported_memory> import_table::find_or_reserve(const ticket_key& key, const ticket& which,
                                                               const deadline& limit) {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto known = by_ticket_.find(key);
    if (std::shared_ptr<imported_memory> memory = known == by_ticket_.end() ? nullptr : known->second.lock();
        memory && memory->connection_for(which) != nullptr)
      return memory;
    // One of several threads opens it: it is counted once, and mapped once.
    if (opening_.insert(key).second) return nullptr;
    if (opened_.wait_until(lock, limit.at()) == std::cv_status::timeout && opening_.contains(key))
      throw error(code::wait_timeout, fmt::format("another thread has been opening the ticket of {} all the time",
                                                  name_of(which.exporter)));
  }
}

import_table::reservation::~reservation() {
  const std::lock_guard lock(of_.mutex_);
  of_.opening_.erase(key_);
  of_.opened_.notify_all();
}

std::shared_ptr<imported_memory> import_table::find_or_map(
    const ticket_key& key, const block_key& block, const std::function<std::shared_ptr<imported_memory>()>& map) {
  const std::lock_guard lock(mutex_);
  const auto same = by_block_.find(block);
  std::shared_ptr<imported_memory> memory = same == by_block_.end() ? nullptr : same->second.lock();
  if (!memory) memory = map();
  // Without the entries of closed memory the maps do not grow.
  std::erase_if(by_ticket_, [](const auto& entry) { return entry.second.expired(); });
  std::erase_if(by_block_, [](const auto& entry) { return entry.second.expired(); });
  by_ticket_[key] = memory;
  by_block_[block] = memory;
  return memory;
}

bool import_table::overlaps(const void* pointer, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(by_block_, [&](const auto& entry) {
    const std::shared_ptr<imported_memory> one = entry.second.lock();
    if (!one) return false;
    const auto start = reinterpret_cast<std::uintptr_t>(one->data());
    return begin < start + one->description().bytes && start < begin + bytes;
  });
}

}  // namespace pgas::detail
