#include "host/share/imported_memory.hpp"

#include <algorithm>
#include <utility>

namespace pgas::detail {

imported_memory::imported_memory(const ticket& by, const sharing_description& described,
                                 std::unique_ptr<mapped_import> mapped)
    : description_(described),
      exporter_{by.exporter.host, by.exporter.pid, by.exporter.uid, by.exporter.start},
      mapped_(std::move(mapped)) {}

exporter_connection* imported_memory::connection_for(const ticket& which) {
  const std::lock_guard lock(mutex_);
  const auto is_it = [&](const auto& item) {
    return item->opened().id == which.id && same_bits(item->opened().key, which.key);
  };
  const auto found = std::ranges::find_if(connections_, is_it);
  return found == connections_.end() ? nullptr : found->get();
}

void imported_memory::add(std::unique_ptr<exporter_connection> connection) {
  const std::lock_guard lock(mutex_);
  // Connections of revoked tickets stay in the list, because alive() uses the last connection.
  connections_.push_back(std::move(connection));
}

bool imported_memory::alive() {
  const std::lock_guard lock(mutex_);
  return connections_.empty() || connections_.back()->alive();
}

void imported_memory::check() {
  const std::lock_guard lock(mutex_);
  if (!connections_.empty()) connections_.back()->check();
}

}  // namespace pgas::detail
