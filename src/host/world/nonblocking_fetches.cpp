#include "host/world/nonblocking_fetches.hpp"

#include <cstring>

namespace pgas::detail {

namespace {
constexpr std::size_t most = 512;
constexpr std::size_t place_bytes = 8;
}  // namespace

void nonblocking_fetches::add(void* result, std::size_t bytes, const std::function<void(void*)>& enqueue,
                              const std::function<void()>& complete) {
  const std::lock_guard lock(mutex_);
  if (!room_) {
    entries_.reserve(most);
    room_ = {device_, most * place_bytes};
  }
  if (entries_.size() == most) copy_out(complete);
  enqueue(static_cast<std::byte*>(room_.on_device()) + entries_.size() * place_bytes);
  entries_.push_back({result, bytes});
}

void nonblocking_fetches::deliver(const std::function<void()>& complete) {
  const std::lock_guard lock(mutex_);
  copy_out(complete);
}

void nonblocking_fetches::copy_out(const std::function<void()>& complete) {
  const std::vector<entry> ready(entries_);
  entries_.clear();  // cleared first: if complete() throws, the values never arrive
  complete();
  for (std::size_t i = 0; i < ready.size(); ++i)
    std::memcpy(ready[i].result, static_cast<const std::byte*>(room_.on_host()) + i * place_bytes, ready[i].bytes);
}

}  // namespace pgas::detail
