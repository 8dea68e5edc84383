#include "host/team/window_state.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "common/keyed_hash.hpp"
#include "common/unforked_fd.hpp"
#include "device/visible_gpus.hpp"
#include "host/exchange/collective_step.hpp"
#include "host/team/team_state.hpp"
#include "host/world/world_state.hpp"

namespace pgas::detail {

namespace {

/// The time limit for the members to open one another's memory.
constexpr std::chrono::seconds open_timeout{60};

/// Collective: throws the failure of the first member that has failed.
void agree_on(const control_group& group, const std::optional<error>& failure) {
  if (const agreement all = agree(group, {}, failure); all.failure) throw error(*all.failure);
}

/// The memory that this process exports to the members of windows.
class window_exports {
 public:
  /// The export of the memory. Windows of the same memory have one export, so that importers map the memory once.
  std::shared_ptr<window_export> find_or_make(std::unique_ptr<exportable_memory> memory) {
    const std::lock_guard lock(mutex_);
    std::erase_if(exports_, [](const auto& entry) { return entry.second.expired(); });
    const std::optional<bits128> identity = memory->identity();
    if (identity)
      if (const auto known = exports_.find(*identity); known != exports_.end())
        if (std::shared_ptr<window_export> found = known->second.lock()) return found;
    auto result = std::make_shared<window_export>(share_memory(std::move(memory)));
    // The members receive the ticket over the authenticated connections of the world.
    result->ticket = result->memory.make_ticket({});
    if (identity) exports_[*identity] = result;
    return result;
  }

 private:
  std::mutex mutex_;
  std::map<bits128, std::weak_ptr<window_export>> exports_;
};

/// The place of a PE's device. Both types represent the host by ordinal -1.
memory_place place_of(world_state& world) { return {world.device().properties().ordinal}; }

}  // namespace

window_state::window_state(team_state& team)
    : world_(team.shared_world()),
      parts_(static_cast<std::size_t>(team.group().n_pes())),
      table_(team.world().device(), parts_.size() * sizeof(window_part)) {}

std::shared_ptr<window_state> window_state::make(team_state& team, void* pointer, std::size_t bytes) {
  const control_group& group = team.group();
  std::unique_ptr<window_state> result;
  std::string ticket;
  agree_on(group, attempt(group, fmt::format("make a window of {} bytes at {}", bytes, fmt::ptr(pointer)), [&] {
             if ((pointer == nullptr) != (bytes == 0))
               throw error(code::invalid_argument, "a member without memory passes null and 0 bytes");
             result.reset(new window_state(team));
             if (pointer != nullptr) ticket = result->share(pointer, bytes);
           }));

  blob mine(sizeof bytes + ticket.size());
  std::memcpy(mine.data(), &bytes, sizeof bytes);
  std::memcpy(mine.data() + sizeof bytes, ticket.data(), ticket.size());
  const std::vector<contribution> all = group.all_gather(mine);
  agree_on(group, attempt(group, "open the memory of the other members of a window", [&] {
             for (int member = 0; member < group.n_pes(); ++member) {
               const blob& theirs = all[static_cast<std::size_t>(member)].bytes;
               window_part& part = result->parts_[static_cast<std::size_t>(member)];
               if (theirs.size() < sizeof bytes)
                 throw error(code::bootstrap_protocol, "a member takes part in another exchange");
               std::memcpy(&part.bytes, theirs.data(), sizeof bytes);
               const auto* const text = reinterpret_cast<const char*>(theirs.data()) + sizeof bytes;
               if (member == group.my_pe())
                 part.at = static_cast<std::byte*>(pointer);
               else if (part.bytes != 0 && team.world().domains().direct(group.world_pe(member)))
                 result->open(team, member, std::string(text, theirs.size() - sizeof bytes));
             }
             result->write_table();
           }));
  deferred_release& by = place_of(team.world()) == memory_place::host() ? deferred_release::of_host_streams()
                                                                        : deferred_release::of_gpu_streams();
  return share_deferred<window_state>(by, std::move(result));
}

std::string window_state::share(void* pointer, std::size_t bytes) {
  if (import_table::of_process().overlaps(pointer, bytes))
    throw error(code::invalid_argument,
                "the memory was opened from another process, and only that process can share it");
  std::unique_ptr<exportable_memory> memory;
  if (place_of(*world_) == memory_place::host()) {
    memory = adopt_host_memory(pointer, bytes, access::read_write);
  } else {
    memory = adopt_gpu_memory(pointer, bytes, access::read_write, whole_block::allow);
    if (memory->description().gpu != uuid_of_gpu(place_of(*world_).ordinal))
      throw error(code::invalid_argument,
                  "the memory is on another GPU than the heap of this PE: allocate it on the GPU of world::device()");
  }
  mine_ = of_this_process<window_exports>().find_or_make(std::move(memory));
  return mine_->ticket;
}

void window_state::open(team_state& team, int member, const std::string& text) {
  open_options options;
  options.place = place_of(team.world());
  options.timeout = open_timeout;
  std::shared_ptr<imported_memory> theirs =
      import_table::of_process().open(decode(text, ticket_kind::memory), ticket_kind::memory, options);
  parts_[static_cast<std::size_t>(member)].at = static_cast<std::byte*>(theirs->data());
  theirs_.push_back(std::move(theirs));
}

void window_state::write_table() {
  world_->device().copy(table_.get(), parts_.data(), parts_.size() * sizeof(window_part), nullptr);
  world_->synchronize(nullptr);
}

const window_part& window_state::part(int pe) const {
  if (pe < 0 || pe >= n_pes())
    throw error(code::pe_out_of_range, fmt::format("the window has no PE {}, its PEs are 0 to {}", pe, n_pes() - 1));
  return parts_[static_cast<std::size_t>(pe)];
}

window_view window_state::view() const noexcept {
  return {static_cast<const window_part*>(table_.get()), static_cast<std::int32_t>(parts_.size())};
}

}  // namespace pgas::detail
