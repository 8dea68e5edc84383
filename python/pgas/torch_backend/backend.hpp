/// @file
/// The state of the backend: the world, the blocks of this process and the groups of torch that have met.
#pragma once

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

/// *Callers* any thread, but for set().
class backend {
 public:
  /// The one of this process. *Errors* not_joined before enable().
  [[nodiscard]] static backend& get();
  /// Makes it for a world, or anew for another one. @param meet adds the group of a name, which is collective over it
  static void set(world& joined, std::function<void(const std::string&)> meet);

  /// A buffer of a new block. Local. *Errors* invalid_argument for another device than the world's.
  [[nodiscard]] void* allocate(std::size_t bytes, int device, std::size_t pad_bytes,
                               const std::optional<std::string>& group);
  [[nodiscard]] block_table& blocks() { return blocks_; }
  /// The block of an address. *Errors* invalid_argument where there is none.
  [[nodiscard]] block_table::place place_of(const void* address);

  /// Collective over the group: its view of the block in which an address lies, and the offset there.
  [[nodiscard]] std::pair<std::shared_ptr<group_view>, std::size_t> rendezvous(const void* address,
                                                                               const std::optional<std::string>& group);
  /// The symmetric address of one that a group has met over. Local.
  [[nodiscard]] std::byte* alias(const void* address, const std::string& group);

  /// Whether torch's group of this name now was added.
  [[nodiscard]] bool knows(const std::string& name) { return find(name) != nullptr; }
  void add(std::shared_ptr<group> made, const std::string& name);
  /// Forgets the groups that torch has destroyed, and their views of which no handle is left. Returns the slots that
  /// are taken. Waits for the work of the GPU where it has to; while a stream is captured it forgets less. *Callers*
  /// without the GIL.
  [[nodiscard]] std::vector<std::size_t> retire_groups();

 private:
  backend(world& joined, std::function<void(const std::string&)> meet)
      : world_(joined), meet_(std::move(meet)), blocks_(joined.device()) {}
  /// The group of a name, where it is added, and torch's still.
  [[nodiscard]] std::shared_ptr<group> find(const std::string& name);
  [[nodiscard]] std::shared_ptr<group> group_of(const std::string& name);
  [[nodiscard]] std::shared_ptr<group_view> view_of(const block& of, const group& by);

  world& world_;
  std::function<void(const std::string&)> meet_;
  block_table blocks_;
  std::mutex lock_;
  std::map<std::string, std::shared_ptr<group>> groups_;
  std::vector<std::shared_ptr<group>> retired_;  ///< that have views still
};

}  // namespace pgas::torch_backend
