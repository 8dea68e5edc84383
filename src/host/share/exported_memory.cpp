#include "host/share/exported_memory.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "host/share/deferred_release.hpp"
#include "host/share/share_message.hpp"

namespace pgas::detail {

namespace {

/// The contents of a ticket: the description, and, if they fit, the handles for other hosts.
blob contents_of(const exportable_memory& memory, bool carries_timeline, bool read_only) {
  blob payload;
  sharing_description described = memory.description();
  if (read_only) described.read_only = 1;
  described.carries_timeline = carries_timeline ? 1 : 0;
  append(payload, described);
  const std::vector<shared_piece> pieces = memory.fabric_pieces();
  if (pieces.size() <= (ticket::max_payload - payload.size()) / sizeof(fabric_piece))
    for (const shared_piece& piece : pieces) append(payload, fabric_piece{piece.bytes, piece.handle.bytes});
  return payload;
}

struct memory_of_this_process final : deferred_object {
  explicit memory_of_this_process(std::unique_ptr<exportable_memory> its) : memory(std::move(its)) {}
  const std::unique_ptr<exportable_memory> memory;
};

/// The longest wait for dropped memory when new memory needs the space. A program hardly notices a wait of this length.
constexpr std::chrono::milliseconds longest_wait_for_room{1000};

}  // namespace

std::shared_ptr<const exportable_memory> share_memory(std::unique_ptr<exportable_memory> memory) {
  deferred_release& by = deferred_release::of_users_of(memory->description());
  const auto owner =
      share_deferred<memory_of_this_process>(by, std::make_unique<memory_of_this_process>(std::move(memory)));
  return {owner, owner->memory.get()};
}

std::shared_ptr<const exportable_memory> make_memory(memory_place place, std::size_t bytes, access importers) {
  const auto make = [&] {
    return place == memory_place::host() ? make_host_memory(bytes, importers)
                                         : make_gpu_memory(place.ordinal, bytes, importers);
  };
  std::unique_ptr<exportable_memory> result;
  try {
    result = make();
  } catch (const error& failed) {
    if (failed.code() != code::out_of_memory) throw;
    deferred_release& dropped =
        place == memory_place::host() ? deferred_release::of_host_streams() : deferred_release::of_gpu_streams();
    if (dropped.kept() == 0) throw;
    static_cast<void>(dropped.await_all(longest_wait_for_room));
    result = make();
  }
  return share_memory(std::move(result));
}

export_registration& exported_memory::registered() {
  if (!registered_) registered_ = std::make_unique<export_registration>(memory_, kind_);
  return *registered_;
}

std::string exported_memory::make_ticket(const ticket_options& options, std::uint64_t carried) {
  const bool read_only = options.importers == access::read_only;
  if (read_only && kind_ != ticket_kind::memory)
    throw error(code::invalid_argument,
                fmt::format("a ticket of {} can't be read-only: processes that open it write to it", name_of(kind_)));
  if (read_only) memory_->allow_read_only();
  return registered().make_ticket(options, contents_of(*memory_, carried != 0, read_only), carried);
}

std::uint64_t exported_memory::export_id() { return registered().id(); }

void exported_memory::revoke() {
  if (registered_) registered_->revoke();
}

std::vector<opener> exported_memory::opened_by() const {
  return registered_ ? registered_->opened_by() : std::vector<opener>();
}

}  // namespace pgas::detail
