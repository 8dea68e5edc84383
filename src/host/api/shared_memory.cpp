/// pgas::shared_memory and pgas::opened_memory: the checks of the arguments, and the choice of a backend.
#include "pgas/shared_memory.hpp"

#include <fmt/format.h>

#include <utility>

#include "common/struct_members.hpp"
#include "host/share/carried_timeline.hpp"
#include "host/share/exported_memory.hpp"
#include "host/share/import_table.hpp"
#include "host/share/timeline_state.hpp"
#include "pgas/error.hpp"
#include "pgas/timeline.hpp"

namespace pgas {

shared_memory::shared_memory() noexcept = default;
shared_memory::shared_memory(shared_memory&& other) noexcept = default;
shared_memory& shared_memory::operator=(shared_memory&& other) noexcept = default;
shared_memory::~shared_memory() = default;

shared_memory shared_memory::make_new(memory_place place, std::size_t bytes,
                                      const detail::given<shared_memory_options>& options) {
  if (bytes == 0) throw error(code::invalid_argument, "shared_memory::make: 0 bytes can't be shared");
  shared_memory result;
  result.memory_ =
      std::make_unique<detail::exported_memory>(detail::make_memory(place, bytes, detail::taken(options).importers));
  return result;
}

shared_memory shared_memory::share_existing(void* pointer, std::size_t bytes,
                                            const detail::given<shared_memory_options>& passed) {
  const shared_memory_options options = detail::taken(passed);
  if (pointer == nullptr || bytes == 0 || reinterpret_cast<std::uintptr_t>(pointer) + bytes < bytes)
    throw error(code::invalid_argument,
                fmt::format("shared_memory::share: {} bytes at {} can't be shared", bytes, fmt::ptr(pointer)));
  if (detail::import_table::of_process().overlaps(pointer, bytes))
    throw error(
        code::invalid_argument,
        fmt::format(
            "shared_memory::share: the memory at {} was opened from another process: that process must make the ticket",
            fmt::ptr(pointer)));
  shared_memory result;
  result.memory_ = std::make_unique<detail::exported_memory>(detail::share_memory(
      detail::is_gpu_memory(pointer) ? detail::adopt_gpu_memory(pointer, bytes, options.importers, options.block)
                                     : detail::adopt_host_memory(pointer, bytes, options.importers)));
  return result;
}

namespace {

detail::exported_memory& needed(const std::unique_ptr<detail::exported_memory>& memory) {
  if (!memory)
    throw error(code::invalid_argument, "an empty shared_memory has no tickets: create one with make() or share()");
  return *memory;
}

}  // namespace

void* shared_memory::data() const noexcept { return memory_ ? memory_->memory().data() : nullptr; }
std::size_t shared_memory::size() const noexcept { return memory_ ? memory_->memory().description().bytes : 0; }
std::string shared_memory::make_ticket(const detail::given<ticket_options>& passed) {
  detail::exported_memory& mine = needed(memory_);
  const ticket_options options = detail::taken(passed);
  return mine.make_ticket(options, options.ready != nullptr ? options.ready->state().export_id() : 0);
}
void shared_memory::revoke() { needed(memory_).revoke(); }
void shared_memory::list_openers(const detail::wanted_list<opener>& found) const {
  detail::fill(found, needed(memory_).opened_by());
}

opened_memory::opened_memory() noexcept = default;
opened_memory::opened_memory(opened_memory&& other) noexcept = default;

opened_memory& opened_memory::operator=(opened_memory&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(ready_, other.ready_);
  std::swap(description_, other.description_);
  return *this;
}

opened_memory::~opened_memory() = default;

opened_memory opened_memory::open_ticket(std::string_view ticket, const detail::given<open_options>& passed) {
  using namespace detail;
  const open_options options = taken(passed);
  const deadline limit(options.timeout);
  const detail::ticket which = decode(ticket, ticket_kind::memory);
  opened_memory opened;
  opened.memory_ = import_table::of_process().open(which, ticket_kind::memory, options);
  opened.description_ = which.description;
  if (!carries_timeline(which)) return opened;
  opened.ready_ = std::make_shared<carried_timeline>(which, opened.memory_->place(), limit);
  if (options.wait_until_ready) opened.ready_->wait_host(limit);
  return opened;
}

void* opened_memory::data() const noexcept { return memory_ ? memory_->data() : nullptr; }
std::size_t opened_memory::size() const noexcept { return memory_ ? memory_->description().bytes : 0; }

access opened_memory::access() const noexcept {
  return memory_ && memory_->description().read_only == 0 ? pgas::access::read_write : pgas::access::read_only;
}

memory_place opened_memory::place() const noexcept { return memory_ ? memory_->place() : memory_place::host(); }

const memory_exporter& opened_memory::exporter() const noexcept {
  static const memory_exporter nobody;
  return memory_ ? memory_->exporter() : nobody;
}

bool opened_memory::alive() const noexcept { return memory_ && memory_->alive(); }

void opened_memory::check() const {
  if (memory_) memory_->check();
  if (ready_) ready_->check();
}

namespace {

detail::carried_timeline& needed(const std::shared_ptr<detail::carried_timeline>& ready) {
  if (!ready)
    throw error(code::invalid_argument,
                "the memory is empty, or its ticket carries no timeline that says when the memory is ready; the "
                "exporter can add a timeline (ticket_options::ready)");
  return *ready;
}

}  // namespace

void opened_memory::wait(void* stream) const { needed(ready_).wait(stream); }
void opened_memory::wait_host(std::chrono::milliseconds timeout) const { needed(ready_).wait_host(timeout); }

}  // namespace pgas
