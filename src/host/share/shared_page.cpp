#include "host/share/shared_page.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "common/process_identity.hpp"
#include "common/unforked_fd.hpp"
#include "device/sharing.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

std::uint64_t this_process_name() {
  struct known {
    std::uint64_t name = process_name(::getpid());
  };
  return of_this_process<known>().name;
}

shared_page shared_page::make(ticket_kind kind, std::size_t bytes) {
  return {kind, std::make_unique<exported_memory>(make_host_memory(bytes, access::read_write), kind), nullptr};
}

shared_page shared_page::open(ticket_kind kind, const ticket& which, std::size_t bytes, const open_options& options) {
  open_options for_page = options;
  for_page.place = memory_place::host();
  shared_page opened(kind, nullptr, import_table::of_process().open(which, kind, for_page));
  const sharing_description& is = opened.theirs_->description();
  if (is.way != sharing_way::memory_file || is.bytes < bytes || is.read_only != 0)
    throw error(code::handle_invalid,
                fmt::format("the ticket of {} opens something else than {}: use the same version of pgas on both sides",
                            name_of(which.exporter), name_of(kind)));
  return opened;
}

std::span<std::byte> shared_page::pages(std::size_t bytes) const noexcept {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return {static_cast<std::byte*>(data()), (bytes + page - 1) / page * page};
}

exported_memory& shared_page::mine() {
  if (!mine_)
    throw error(code::invalid_argument,
                fmt::format("this object was opened by a ticket of {}: only that process can make and revoke tickets",
                            name_of(kind_)));
  return *mine_;
}

std::string shared_page::make_ticket(const ticket_options& options) {
  if (options.ready != nullptr)
    throw error(code::invalid_argument, fmt::format("ticket_options::ready: a ticket of memory can carry a timeline, "
                                                    "one of {} can't",
                                                    name_of(kind_)));
  return mine().make_ticket(options);
}

}  // namespace pgas::detail
