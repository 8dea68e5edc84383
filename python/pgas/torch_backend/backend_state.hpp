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

#include "block.hpp"
#include "group.hpp"
#include "group_view.hpp"

namespace pgas::torch_backend {

/// *Callers* any thread, but for set().
class backend {
 public:
  /// The one of this process. *Errors* not_joined before enable().
  [[nodiscard]] static backend& get();
  /// Makes it for a world, or anew for another one. @param find adds the group of a name, which is collective over it
  static void set(world& joined, std::function<void(const std::string&)> find);

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

  void add(std::shared_ptr<group> made, const std::string& name);

 private:
  backend(world& joined, std::function<void(const std::string&)> find)
      : world_(joined), find_(std::move(find)), blocks_(joined.device()) {}
  [[nodiscard]] std::shared_ptr<group> group_of(const std::string& name);
  [[nodiscard]] std::shared_ptr<group_view> view_of(const block& of, const std::string& group);

  world& world_;
  std::function<void(const std::string&)> find_;
  block_table blocks_;
  std::mutex lock_;
  std::map<std::string, std::shared_ptr<group>> groups_;
};

}  // namespace pgas::torch_backend
