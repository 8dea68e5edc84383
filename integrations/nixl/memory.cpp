#include "memory.hpp"

#include <utility>

#include "pgas/error.hpp"

namespace pgas::nixl {

// NIXL's users register tensors, and several tensors may be in one piece of memory. So the ticket may give importers
// access to the whole piece.
registered_memory::registered_memory(const nixlBasicDesc& range)
    : nixlBackendMD(true),
      range_(range),
      memory_(shared_memory::share(reinterpret_cast<void*>(range.addr), range.len, {.block = whole_block::allow})),
      ticket_(memory_.ticket()) {}

remote_memory::remote_memory(const nixlBasicDesc& range, std::string ticket)
    : nixlBackendMD(false), range_(range), ticket_(std::move(ticket)) {}

std::shared_ptr<const opened_memory> remote_memory::opened_for(memory_place place) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const opened_memory>& opened = opened_[place.ordinal];
  if (opened) return opened;
  auto memory = std::make_shared<const opened_memory>(opened_memory::open(ticket_, {.place = place}));
  if (memory->size() < range_.len)
    throw error(code::handle_invalid, "the ticket opens " + std::to_string(memory->size()) +
                                          " bytes, and the agent has registered " + std::to_string(range_.len) +
                                          " bytes");
  return opened = std::move(memory);
}

std::byte* remote_memory::translate(const opened_memory& opened, const nixlBasicDesc& part) const {
  if (part.addr < range_.addr || part.addr - range_.addr > range_.len ||
      part.len > range_.len - (part.addr - range_.addr))
    throw error(code::invalid_argument, std::to_string(part.len) + " bytes at " + std::to_string(part.addr) +
                                            " are not inside the registered memory of the other agent");
  return static_cast<std::byte*>(opened.data()) + (part.addr - range_.addr);
}

}  // namespace pgas::nixl
