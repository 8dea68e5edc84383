/// @file
/// Makes programs from seeds. Operations are chosen one after another, as if they ran in this order; each is taken only
/// if it races with none before it, so that every order that the library allows gives the memory that the model
/// predicts. Since waits come after what they wait for, no program can hang.
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

/// Who is in a team, by the world's numbers.
struct team_plan {
  std::vector<int> members;
  int start = 0;
  int stride = 1;
  bool listed = false;
};

/// Whether relaxed signals count on a fence that more data has followed. They may; the thread sanitizer's idea of a
/// fence (pgas/detail/tsan.hpp) ends there, which is how it finds missing ones.
enum class fences : bool { until_data, lasting };

class generator {
 public:
  /// @param domain the number of neighbours that reach each other by load and store; 0: all
  generator(std::uint64_t seed, int n_pes, int domain, int n_blocks, fences last);

  /// Chooses the next `operations` of the program. All that happened before is visible to all: they run as a launch of
  /// their own.
  void next_segment(std::uint32_t operations);
  /// The segment's instructions of each block: block b of PE p is actor p * n_blocks + b.
  [[nodiscard]] const std::vector<std::vector<instruction>>& lists() const { return lists_; }
  /// What the segment's waits of a PE for several words look for.
  [[nodiscard]] const std::vector<word_set>& word_sets(int pe) const { return word_sets_[index(pe)]; }
  [[nodiscard]] const model& expected() const { return model_; }
  [[nodiscard]] const std::vector<team_plan>& teams() const { return teams_; }
  /// Operations chosen so far.
  [[nodiscard]] std::uint32_t operations() const { return number_; }
  /// A text about an operation of this segment, for people.
  [[nodiscard]] std::string describe(std::uint32_t number) const;
  /// A number that belongs to the program, for choices of who runs it.
  [[nodiscard]] std::uint32_t any(std::uint32_t below) { return pick(below); }

 private:
  using place = history::range;

  /// What is sent to a signal word: the value afterwards, and what its reader has seen then.
  struct sent {
    std::uint64_t value = 0;
    history::clock seen{};
  };

  /// Where an operation goes: a member of a team that the actor's PE is in.
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
  /// Who makes a call that covers all that the actor did since it last ordered.
  [[nodiscard]] caller pick_covering(int actor);
  /// The same for a meeting of a team: also the whole grid, where the channel is the grid's.
  [[nodiscard]] caller pick_meeting(int actor);
  [[nodiscard]] caller pick_caller() { return by_grid_ ? caller::grid : static_cast<caller>(pick(3)); }
  /// One of a few words that many update.
  [[nodiscard]] std::uint32_t pick_shared_word(std::uint32_t bytes);
  [[nodiscard]] std::vector<int> blocks_of(int pe) const;
  [[nodiscard]] static place word_place(int pe, std::uint32_t word) { return {pe, places::arena_bytes + word * 8, 8}; }

  // Each chooses an operation and takes it, or says no.
  [[nodiscard]] bool try_single(int actor);
  [[nodiscard]] bool try_transfer(int actor);
  [[nodiscard]] bool try_atomic(int actor);
  /// Many updates of one word by all members of a team at the same time.
  [[nodiscard]] bool try_burst(int actor);
  /// Updates of a word that its lock guards.
  [[nodiscard]] bool try_locked(int actor);
  [[nodiscard]] bool try_signal(int actor);
  [[nodiscard]] bool try_wait(int actor);
  [[nodiscard]] bool try_wait_set(int actor);
  [[nodiscard]] bool try_signal_fetch(int actor);
  [[nodiscard]] bool try_fill(int actor);
  [[nodiscard]] bool try_order(int actor);
  [[nodiscard]] bool try_meeting(int actor);
  /// Operations that all blocks of the actor's PE make together.
  [[nodiscard]] bool try_grid(int actor);
  [[nodiscard]] bool try_strided(int actor);
  [[nodiscard]] bool try_move(int actor);
  [[nodiscard]] bool try_combine(int actor);
  /// The actors that meet in a collective of a team on the channel of `actor`'s block.
  [[nodiscard]] std::vector<int> members_of(std::uint8_t team, int actor) const;
  void take_all(const std::vector<int>& members, std::vector<instruction> calls);
  /// All that the members' calls cover comes before all that is after them.
  void join(const std::vector<int>& members, const std::vector<instruction>& calls);
  void quiet_grid(int pe);
  /// Lets the members come to the same point, so that what follows falls into the same time.
  void meet_first(const std::vector<int>& members, std::uint8_t team);
  [[nodiscard]] bool try_any();

  /// Chooses the kind of update and its operand. Returns the commuting class; 0 if no other update of the word is
  /// allowed.
  std::uint8_t choose_update(instruction& i, int pe);
  /// Whether a word of floating-point numbers holds whole ones so small that sums stay exact, in whatever order up to
  /// `added` comes to it.
  [[nodiscard]] bool stays_exact(element of, int pe, std::uint32_t offset, int added) const;
  void note_sent(int actor, const instruction& i, int pe);
  /// Chooses a result place for an answer of `bytes`, if it is free.
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
  std::vector<caller> pending_;             ///< by actor: the largest group that did something since it ordered
  std::vector<std::vector<sent>> signals_;  ///< by PE, by word
  std::vector<std::vector<std::uint64_t>>
      known_;  ///< by actor: what its own signal words have reached for sure, as it knows
  std::vector<std::vector<instruction>> lists_;
  std::vector<std::vector<word_set>> word_sets_;
  bool by_grid_ = false;
};

}  // namespace pgas_random
