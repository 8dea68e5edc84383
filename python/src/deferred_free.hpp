/// @file
/// Heap memory whose references Python drops in any order. Freeing memory is collective, but dropping a reference is
/// local. A PE marks the allocations that it has dropped. The next collective call finds the allocations that all PEs
/// have dropped, and frees these allocations in the order of their numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "memory_class.hpp"
#include "pgas/pgas.hpp"

namespace pgas::python {

/// The allocations of one world. *Callers* any thread without the GIL; one at a time for collective calls.
class deferred_free {
 public:
  /// @param of refers to the world, which must outlive all calls
  explicit deferred_free(world& of);
  deferred_free(const deferred_free&) = delete;
  deferred_free& operator=(const deferred_free&) = delete;

  /// Collective, called once, before all other calls: allocates internal memory and creates a team. Returns whether any
  /// PE requests the comparison of arguments.
  /// @param compares as for joined_world::begin()
  [[nodiscard]] bool begin(bool compares);
  /// Collective: frees the memory that all PEs have dropped, then allocates. @param self this object; the memory keeps
  /// this object and thereby the world alive
  /// *Errors* as joined_world::allocate().
  [[nodiscard]] memory allocate(std::shared_ptr<deferred_free> self, std::size_t bytes, std::size_t alignment,
                                bool zero, const std::string& call);
  /// Collective: frees the memory that all PEs have dropped. Returns the number of freed allocations.
  std::size_t collect(const std::string& call);
  /// Implements joined_world::peer().
  [[nodiscard]] std::optional<memory> peer(std::uintptr_t from, std::size_t bytes, int pe);
  /// The number of allocations that are not yet freed, and how many of these allocations this PE has dropped.
  [[nodiscard]] std::pair<std::size_t, std::size_t> allocations();
  /// Called when the PE leaves the world, which frees all memory. Returns the team, which the caller destroys
  /// afterwards.
  [[nodiscard]] team end();

 private:
  class allocation;
  struct entry {
    void* data = nullptr;
    std::size_t bytes = 0;
    std::weak_ptr<const allocation> owner;
    bool dropped = false;
  };

  void drop(std::uint64_t id) noexcept;
  /// Collective: the allocations that all PEs have dropped. Throws if PEs make different calls.
  [[nodiscard]] std::vector<std::uint64_t> agree(const std::string& call);
  [[noreturn]] void report_difference(const std::string& call);
  void free_all(const std::vector<std::uint64_t>& ids);
  void reserve_words(std::size_t count);

  world& world_;
  team everyone_;  ///< the team for agree(), because collectives on streams may be using the world's own team
  const int my_pe_;
  const int n_pes_;
  const int gpu_;
  std::size_t room_ = 0;  ///< the number of words in words_; half of the words are for results
  std::uint64_t* words_ = nullptr;
  char* texts_ = nullptr;

  std::mutex table_;                     ///< guards the following members
  std::map<std::uint64_t, entry> live_;  ///< the allocations, by a number that is the same on all PEs
  std::uint64_t next_ = 0;
};

}  // namespace pgas::python
