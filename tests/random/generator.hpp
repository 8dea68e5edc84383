/// @file
/// Makes programs from seeds. Operations are chosen one after another, as if they ran in this order. An operation is
/// used only if it races with no earlier operation, so that every order that the library allows leads to the memory
/// that the model predicts. A wait comes after the operation that it waits for, so no program can hang.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "history.hpp"
#include "instruction.hpp"
#include "model.hpp"

namespace pgas_random {

/// The members of a team, as PE numbers of the world.
struct team_plan {
  std::vector<int> members;
  int start = 0;
  int stride = 1;
  bool listed = false;
};

/// Whether a relaxed signal may rely on a fence although more data was written after the fence. The memory model allows
/// this. In the thread sanitizer's model, a fence is valid only until more data is written (pgas/detail/tsan.hpp), so
/// that the sanitizer finds missing fences.
enum class fences : bool { until_data, lasting };

class generator {
 public:
  /// @param domain the number of neighbours that are direct PEs of each other; 0: all
  generator(std::uint64_t seed, int n_pes, int domain, int n_blocks, fences last);

  /// Chooses the next `operations` operations of the program. All earlier operations are visible to all PEs, because
  /// the new operations run in a separate launch.
  void next_segment(std::uint32_t operations);
  /// The segment's instructions of each block. Block b of PE p is actor p * n_blocks + b.
  [[nodiscard]] const std::vector<std::vector<instruction>>& lists() const { return lists_; }
  /// The conditions of a PE's waits for several words in the segment.
  [[nodiscard]] const std::vector<word_set>& word_sets(int pe) const { return word_sets_[index(pe)]; }
  [[nodiscard]] const model& expected() const { return model_; }
  [[nodiscard]] const std::vector<team_plan>& teams() const { return teams_; }
  /// The number of operations chosen so far.
  [[nodiscard]] std::uint32_t operations() const { return number_; }
  /// Describes an operation of this segment, for people.
  [[nodiscard]] std::string describe(std::uint32_t number) const;
  /// Draws a random number from the program's seed. The code that runs the program uses this function for its own
  /// choices.
  [[nodiscard]] std::uint32_t any(std::uint32_t below) { return pick(below); }

 private:
  using place = history::range;

  /// A signal word after an update: its value, and the vector clock that a reader of this value acquires.
  struct sent {
    std::uint64_t value = 0;
    history::clock seen{};
  };

  /// The target of an operation: a member of a team that contains the actor's PE.
  struct target {
    std::uint8_t team;
    int member;
    int pe;
  };

  std::uint32_t pick(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }
  bool chance(std::uint32_t one_in) { return pick(one_in) == 0; }
  [[nodiscard]] int pe_of(int actor) const { return actor / n_blocks_; }
  [[nodiscard]] static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  void make_teams();
  [[nodiscard]] target pick_target(int actor);
  [[nodiscard]] std::uint32_t pick_bytes();
  [[nodiscard]] std::uint32_t pick_offset(std::uint32_t bytes, std::uint32_t alignment);
  /// Chooses the caller of a call that orders all operations of the actor since its last ordering call.
  [[nodiscard]] caller pick_covering(int actor);
  /// Chooses the caller of a synchronization of a team, which orders all operations of the actor since its last
  /// ordering call. The caller can be the whole grid if the channel belongs to the grid.
  [[nodiscard]] caller pick_meeting(int actor);
  [[nodiscard]] caller pick_caller() { return by_grid_ ? caller::grid : static_cast<caller>(pick(3)); }
  /// Chooses one of a few words that many actors update.
  [[nodiscard]] std::uint32_t pick_shared_word(std::uint32_t bytes);
  [[nodiscard]] std::vector<int> blocks_of(int pe) const;
  [[nodiscard]] static place word_place(int pe, std::uint32_t word) { return {pe, places::arena_bytes + word * 8, 8}; }

  // Each function chooses an operation and adds it, or returns false.
  [[nodiscard]] bool try_single(int actor);
  [[nodiscard]] bool try_transfer(int actor);
  [[nodiscard]] bool try_atomic(int actor);
  /// Many updates of one word by all members of a team at the same time.
  [[nodiscard]] bool try_burst(int actor);
  /// Updates of a word that a lock guards.
  [[nodiscard]] bool try_locked(int actor);
  [[nodiscard]] bool try_signal(int actor);
  [[nodiscard]] bool try_wait(int actor);
  [[nodiscard]] bool try_wait_set(int actor);
  [[nodiscard]] bool try_signal_fetch(int actor);
  [[nodiscard]] bool try_fill(int actor);
  [[nodiscard]] bool try_order(int actor);
  [[nodiscard]] bool try_meeting(int actor);
  /// Operations that all blocks of the actor's PE execute together.
  [[nodiscard]] bool try_grid(int actor);
  [[nodiscard]] bool try_strided(int actor);
  [[nodiscard]] bool try_move(int actor);
  [[nodiscard]] bool try_combine(int actor);
  /// The actors that call a collective of a team on the channel of `actor`'s block.
  [[nodiscard]] std::vector<int> members_of(std::uint8_t team, int actor) const;
  void take_all(const std::vector<int>& members, std::vector<instruction> calls);
  /// Orders all operations that come before the members' calls before all operations that come later.
  void join(const std::vector<int>& members, const std::vector<instruction>& calls);
  void quiet_grid(int pe);
  /// Synchronizes the members, so that the following operations run at the same time.
  void meet_first(const std::vector<int>& members, std::uint8_t team);
  [[nodiscard]] bool try_any();

  /// Chooses the kind of update and its operand. Returns the commuting class; 0 if no other update of the word is
  /// allowed.
  std::uint8_t choose_update(instruction& i, int pe);
  /// Whether a word of floating-point numbers contains integers that are small enough for exact sums, if up to `added`
  /// is added in any order.
  [[nodiscard]] bool stays_exact(element type, int pe, std::uint32_t offset, int added) const;
  void note_sent(int actor, const instruction& i, int pe);
  /// Chooses a location for a result of `bytes` bytes, if the location is free.
  [[nodiscard]] std::uint32_t pick_result(int actor, std::uint32_t bytes);

  void take(int actor, instruction i, int pe);
  void push(int actor, const instruction& i);

  std::mt19937_64 random_;
  int n_pes_;
  int n_blocks_;
  int n_actors_;
  fences fences_;
  std::uint32_t number_ = 0;
  std::vector<team_plan> teams_;
  model model_;
  history history_;
  /// For each actor, the largest group that executed operations since the last ordering call.
  std::vector<caller> pending_;
  std::vector<std::vector<sent>> signals_;  ///< by PE, by word
  std::vector<std::vector<std::uint64_t>>
      known_;  ///< for each actor and word: the actor knows that the word has reached this value
  std::vector<std::vector<instruction>> lists_;
  std::vector<std::vector<word_set>> word_sets_;
  std::vector<std::uint32_t> n_listed_;  ///< the number of lists of each PE in the segment
  bool by_grid_ = false;
};

}  // namespace pgas_random
