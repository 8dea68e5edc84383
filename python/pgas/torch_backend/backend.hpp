/// @file
/// The state of the backend: the world, the blocks of this process, and the torch groups that have made a rendezvous.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "block.hpp"
#include "group.hpp"
#include "group_view.hpp"

namespace pgas::torch_backend {

/// *Callers* any thread, except for set().
class backend {
 public:
  /// The backend of this process. *Errors* not_joined before enable().
  [[nodiscard]] static backend& get();
  /// Creates the backend for a world, or replaces it for another world. @param rendezvous a function that adds the
  /// torch group with a name; collective over the group
  static void set(world& joined, std::function<void(const std::string&)> rendezvous);

  /// Allocates a buffer in a new block. Local. *Errors* invalid_argument for a device that is not the device of the
  /// world.
  [[nodiscard]] void* allocate(std::size_t bytes, int device, std::size_t pad_bytes,
                               const std::optional<std::string>& group);
  [[nodiscard]] block_table& blocks() { return blocks_; }
  /// The time for which a rendezvous waits for other ranks: PGAS_WAIT_TIMEOUT, or else the timeout of torch's group.
  [[nodiscard]] std::chrono::milliseconds wait_limit(std::chrono::milliseconds timeout_of_group) const {
    const std::chrono::milliseconds set = world_.settings().wait_timeout;
    return set.count() > 0 ? set : timeout_of_group;
  }
  /// The block that contains an address. *Errors* invalid_argument if no block contains the address.
  [[nodiscard]] block_table::place place_of(const void* address);

  /// Collective over the group: returns the group's view of the block that contains an address, and the offset of the
  /// address in the block.
  [[nodiscard]] std::pair<std::shared_ptr<group_view>, std::size_t> rendezvous(const void* address,
                                                                               const std::optional<std::string>& group);
  /// For a collective of the group: the symmetric address of an address in a block with which the group has made a
  /// rendezvous. Local. @param compare whether the address is compared with the addresses of the other ranks, as in a
  /// rendezvous
  [[nodiscard]] std::byte* alias(const void* address, const std::string& group, bool compare);

  /// Whether the present group of torch with this name was added.
  [[nodiscard]] bool knows(const std::string& name) { return find(name) != nullptr; }
  void add(std::shared_ptr<group> made, const std::string& name);
  /// Removes the groups that torch has destroyed, and their views without a handle. Returns the slots that are still in
  /// use. Waits for the work of the GPU if necessary. While a stream is captured, the function does not wait, and keeps
  /// views that enqueued work may use.
  /// *Callers* without the GIL.
  [[nodiscard]] std::vector<std::size_t> retire_groups();

 private:
  backend(world& joined, std::function<void(const std::string&)> rendezvous)
      : world_(joined), rendezvous_(std::move(rendezvous)), blocks_(joined.device(), joined.n_pes()) {}
  /// The group with this name, if the group was added and torch has not destroyed it.
  [[nodiscard]] std::shared_ptr<group> find(const std::string& name);
  [[nodiscard]] std::shared_ptr<group> group_of(const std::string& name);
  [[nodiscard]] std::shared_ptr<group_view> view_of(const block& of, const group& by);

  world& world_;
  std::function<void(const std::string&)> rendezvous_;
  block_table blocks_;
  std::mutex lock_;
  std::map<std::string, std::shared_ptr<group>> groups_;
  std::vector<std::shared_ptr<group>> retired_;  ///< groups that torch has destroyed, with views in use
};

}  // namespace pgas::torch_backend
