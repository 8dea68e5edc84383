/// @file
/// Which accesses of a program happen before which, by what the library promises and nothing more. The generator asks
/// it whether an access would race, so that every program has one outcome.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "instruction.hpp"

namespace pgas_random {

/// What an access does to the bytes.
enum class access : std::uint8_t {
  read,         ///< complete when the operation returns
  late_read,    ///< complete after quiet
  local_write,  ///< a store by the PE itself, complete at once for its own later reads
  remote_write  ///< complete after quiet, in order after fence
};

/// Follows each block of each PE ("actor") with a vector clock, and each byte with who touched it last. Time of an
/// actor moves on with each operation that orders.
class history {
 public:
  using clock = std::array<std::uint16_t, places::most_blocks>;

  history(int n_pes, int n_actors, std::uint32_t bytes);

  struct range {
    int pe;
    std::uint32_t offset;
    std::uint32_t bytes;
  };

  /// Whether `who` may make the access now. Writes with the same `commuting` class, not 0, need no order among each
  /// other.
  [[nodiscard]] bool allowed(int who, range where, access how, std::uint8_t commuting = 0) const;
  /// Whether all earlier accesses of others come before `who`'s next one.
  [[nodiscard]] bool settled(int who, range where) const;
  /// *Callers* after allowed() said yes.
  void record(int who, range where, access how, std::uint8_t commuting = 0);

  void fence(int who);
  void quiet(int who);
  /// What whoever sees a release made now by `who` will have seen: everything so far.
  [[nodiscard]] clock release(int who);
  /// The same for a relaxed signal: everything before the last fence.
  [[nodiscard]] const clock& last_fence(int who) const { return actors_[index(who)].fenced_view; }
  /// Takes back what last_fence() says, for tools that follow a fence only until more data is written.
  void forget_fence(int who) { actors_[index(who)].fenced_view = {}; }
  void acquire(int who, const clock& seen);
  /// A barrier of these.
  void join(std::span<const int> members);

 private:
  struct actor {
    std::uint16_t now = 1;
    std::uint16_t fenced = 1;   ///< its operations before this time precede its later writes
    std::uint16_t quieted = 1;  ///< and its later reads
    clock seen{};               ///< operations of others before these times precede its own
    clock fenced_view{};
  };
  struct cell {
    clock wrote{};  ///< 0: never, or forgotten because something later is known
    clock read{};
    clock base{};  ///< what came before the first of the commuting writes, and must come before each of them
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
