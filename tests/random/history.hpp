/// @file
/// The order of a program's accesses, derived only from the library's guarantees. The generator asks whether an access
/// would race, so that every program has one result.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "instruction.hpp"

namespace pgas_random {

/// The kind of an access.
enum class access : std::uint8_t {
  read,         ///< complete when the operation returns
  late_read,    ///< complete after quiet
  local_write,  ///< a store of the PE itself, immediately visible to its own later reads
  remote_write  ///< complete after quiet, ordered after fence
};

/// Tracks each block of each PE ("actor") with a vector clock, and each byte with its last accesses. The time of an
/// actor advances with each ordering operation.
class history {
 public:
  using clock = std::array<std::uint16_t, places::most_blocks>;

  history(int n_pes, int n_actors, std::uint32_t bytes);

  struct range {
    int pe;
    std::uint32_t offset;
    std::uint32_t bytes;
  };

  /// Whether `who` may make the access now. Writes with the same `commuting` class, not 0, need no order among one
  /// another.
  [[nodiscard]] bool allowed(int who, range where, access how, std::uint8_t commuting = 0) const;
  /// Whether all earlier accesses of other actors come before the next access of `who`.
  [[nodiscard]] bool settled(int who, range where) const;
  /// *Callers* after allowed() has returned true.
  void record(int who, range where, access how, std::uint8_t commuting = 0);

  void fence(int who);
  void quiet(int who);
  /// The clock that an actor acquires when it sees a release that `who` makes now: all accesses that `who` has made or
  /// seen so far.
  [[nodiscard]] clock release(int who);
  /// The clock that an actor acquires when it sees a relaxed signal that `who` sends now: all accesses that `who` made
  /// or saw before its last fence.
  [[nodiscard]] const clock& last_fence(int who) const { return actors_[index(who)].fenced_view; }
  /// Invalidates last_fence(), for tools in which a fence is valid only until more data is written.
  void forget_fence(int who) { actors_[index(who)].fenced_view = {}; }
  void acquire(int who, const clock& seen);
  /// A barrier of these actors.
  void join(std::span<const int> members);

 private:
  struct actor {
    std::uint16_t now = 1;
    std::uint16_t fenced = 1;   ///< the last fence; it orders the actor's earlier operations before its later writes
    std::uint16_t quieted = 1;  ///< the last quiet; it orders the actor's earlier operations before its later reads
    clock seen{};               ///< for each other actor, a time: this actor has seen the other actor's operations
                                ///< before this time
    clock fenced_view{};
  };
  struct cell {
    clock wrote{};  ///< the time of each actor's last write; 0: the actor has not written, or a later access replaced
                    ///< the write
    clock read{};
    clock base{};  ///< the accesses before the first commuting write; every commuting write must come after them
    bool local = false;
    bool late = false;
    std::uint8_t commuting = 0;
  };

  [[nodiscard]] static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] std::span<cell> cells(range where);
  [[nodiscard]] std::span<const cell> cells(range where) const;
  [[nodiscard]] bool own_order(const actor& me, const cell& c, std::size_t who, access how, bool commutes) const;

  std::size_t n_actors_;
  std::uint32_t bytes_;
  std::vector<actor> actors_;
  std::vector<cell> cells_;
};

}  // namespace pgas_random
