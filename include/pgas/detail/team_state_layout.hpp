/// @file
/// Fixed locations in the heap that host and kernels know: the state of each team, staging memory, and the library's
/// own area at the start of every slot.
#pragma once

#include "pgas/detail/compiler.hpp"
#include "pgas/detail/failure_record.hpp"

namespace pgas::detail {

/// Additional counters for a barrier of a team that spans domains (`impl/hierarchy/hierarchical_barrier.hpp`).
struct domain_words {
  std::uint64_t arrivals;  ///< on the first member of a domain: the number of arrivals of its members
  std::uint64_t waited;    ///< the number of waits of this PE
  std::uint64_t notified;  ///< a count that the leader of a group passes to the other threads
  std::uint64_t rounds;    ///< on the first member of a domain: the newest round that a member has begun to send
};

/// One PE's view of the domains of a team, for collectives of teams that span several domains: an array of 32-bit
/// words, which the host writes after the state of the team. Domains are numbered in the order of their first members;
/// the members of a domain have the order of the team. If all words are 0, or if the team has one domain, no member is
/// proxied.
struct team_hierarchy {
  const std::int32_t* words;

  /// The number of words.
  [[nodiscard]] PGAS_HD static constexpr std::int32_t size(std::int32_t members) {
    return first_begin + 1 + 4 * members;
  }

  [[nodiscard]] PGAS_HD std::int32_t domains() const { return words[0]; }
  /// The number of this PE's domain.
  [[nodiscard]] PGAS_HD std::int32_t mine() const { return words[1]; }
  /// This PE's number among the members of its domain.
  [[nodiscard]] PGAS_HD std::int32_t rank() const { return words[2]; }
  /// The number of members of the team, and the number of members in domain `d`.
  [[nodiscard]] PGAS_HD std::int32_t members() const { return words[3]; }
  [[nodiscard]] PGAS_HD std::int32_t count(std::int32_t d) const { return begin(d + 1) - begin(d); }
  /// The index of domain `d`'s first member in the list of all members, sorted by domain.
  [[nodiscard]] PGAS_HD std::int32_t begin(std::int32_t d) const { return words[first_begin + d]; }
  /// The number of member `k` of domain `d`. member() returns the number in the team, and world_pe() the number in the
  /// world.
  [[nodiscard]] PGAS_HD std::int32_t member(std::int32_t d, std::int32_t k) const {
    return words[first_begin + 1 + members() + begin(d) + k];
  }
  [[nodiscard]] PGAS_HD std::int32_t world_pe(std::int32_t d, std::int32_t k) const {
    return words[first_begin + 1 + 2 * members() + begin(d) + k];
  }
  /// For each member of this PE's domain, the distance from this PE's slot to the member's slot.
  [[nodiscard]] PGAS_HD const std::int32_t* slots() const { return words + first_begin + 1 + 3 * members(); }

  /// Writes the view for PE `me` of the world. @param list the members, by their numbers in the world @param domain_of
  /// a number for each PE of the world; PEs of one domain have the same number @param slot_of the slot of each PE of
  /// this PE's domain
  PGAS_HD static void write(std::int32_t* to, const std::int32_t* list, std::int32_t members, std::int32_t me,
                            const std::int32_t* domain_of, const std::int32_t* slot_of) {
    std::int32_t* const begins = to + first_begin;
    std::int32_t* const sorted = begins + 1 + members;
    std::int32_t* const worlds = sorted + members;
    std::int32_t* const slots = worlds + members;
    std::int32_t domains = 0;
    std::int32_t placed = 0;
    to[1] = to[2] = -1;
    to[3] = members;
    for (std::int32_t i = 0; i < members; ++i) {
      bool known = false;
      for (std::int32_t d = 0; d < domains && !known; ++d)
        known = domain_of[list[sorted[begins[d]]]] == domain_of[list[i]];
      if (known) continue;
      begins[domains] = placed;
      for (std::int32_t k = i; k < members; ++k) {
        if (domain_of[list[k]] != domain_of[list[i]]) continue;
        if (list[k] == me) {
          to[1] = domains;
          to[2] = placed - begins[domains];
        }
        if (domain_of[list[k]] == domain_of[me]) slots[placed - begins[domains]] = slot_of[list[k]] - slot_of[me];
        worlds[placed] = list[k];
        sorted[placed++] = k;
      }
      ++domains;
    }
    begins[domains] = placed;
    to[0] = domains;
  }

 private:
  static constexpr std::int32_t first_begin = 4;
};

/// The state of a team in every member's slot. The state consists of parts of equal size, so that several blocks can
/// call collectives of one team at the same time. There is one part for each channel, one part for the host's
/// collectives, and one part for each block of the kernels that execute the host's collectives. Each part has, for each
/// member i,
///
/// * two words of the barrier: the number of i's arrivals at this PE, which i increments, and the number of this PE's
///   waits for i. The words need no reset, and show a missing member: i is missing if arrived == waited. The thread
///   that waits for i uses both words, so the threads of a group need not exchange counts;
/// * a word for a value that i sends to the other members in a collective (`value`), and a word by which members
///   compare their calls if checks are on (`signature`). No member completes a collective before all members have read
///   these words, so one word of each kind is sufficient.
///
/// If the team spans domains, each part also has the domain_words.
///
/// After the parts follow the LL packets of channel 0 and of the host's channel (`impl/ll/ll_exchange.hpp`); a copy of
/// the team's context, for code that receives the context by a pointer; the team_hierarchy; and the world PE of each
/// member (int32), for teams with members that are not evenly spaced.
struct team_state_layout {
  static constexpr std::uint64_t member_bytes = 16;
  static constexpr std::uint64_t line = 128;
  /// The maximum number of blocks of a kernel that the host enqueues. This number of blocks fills the link of an H200.
  static constexpr std::int32_t most_blocks = 32;
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t rounded(std::uint64_t bytes) {
    return (bytes + line - 1) / line * line;
  }

  /// The offset of the arrivals of team member `member`. The number of waits is 8 bytes further.
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t arrived(std::int32_t member) {
    return static_cast<std::uint64_t>(member) * member_bytes;
  }
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t value(std::int32_t members, std::int32_t member) {
    return arrived(members) + static_cast<std::uint64_t>(member) * 8;
  }
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t signature(std::int32_t members, std::int32_t member) {
    return value(members, members) + static_cast<std::uint64_t>(member) * 8;
  }
  /// The offset of the domain_words.
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t domain(std::int32_t members) {
    return signature(members, members);
  }
  /// The distance between the parts of two channels.
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t channel_bytes(std::int32_t members) {
    return rounded(domain(members) + sizeof(domain_words));
  }
  /// The number of parts.
  [[nodiscard]] PGAS_HD static constexpr std::int32_t parts(std::int32_t channels) {
    return channels + 1 + most_blocks;
  }
  /// The size of the packets that all members send to one member in one collective, on channel 0 or on the host's
  /// channel, or for one block of a kernel that the host enqueues. Channel 0 and the host's channel have two such
  /// buffers each, together 160 KiB.
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t packet_buffer_bytes(bool of_host) {
    return std::uint64_t{of_host ? 16u : 64u} << 10;
  }
  /// The size of the data in the packets of one collective for one member. Half of each packet is data, and half is the
  /// epoch.
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t packet_data_bytes(bool of_host) {
    return packet_buffer_bytes(of_host) / 2;
  }
  /// The offset of the epoch. The packets start one line after the epoch.
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t packets(std::int32_t members, std::int32_t channels,
                                                               bool of_host) {
    return channel_bytes(members) * static_cast<std::uint64_t>(parts(channels)) +
           (of_host ? line + 2 * packet_buffer_bytes(false) : 0);
  }
  /// The offset of the copy of the team's context.
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t context_copy(std::int32_t members, std::int32_t channels) {
    return members > 1 ? packets(members, channels, true) + line + 2 * packet_buffer_bytes(true)
                       : packets(members, channels, false);
  }
  /// The offset of the team_hierarchy.
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t plan(std::int32_t members, std::int32_t channels) {
    return context_copy(members, channels) + line;
  }
  /// The offset of the list of members.
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t list(std::int32_t members, std::int32_t channels) {
    return plan(members, channels) + rounded(static_cast<std::uint64_t>(team_hierarchy::size(members)) * 4);
  }
  /// The size of the whole state.
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t bytes(std::int32_t members, std::int32_t channels, bool listed) {
    return list(members, channels) + (listed ? rounded(static_cast<std::uint64_t>(members) * 4) : 0);
  }
};

/// The number of channels of the predefined teams, and the default for other teams.
inline constexpr std::int32_t default_channels = 32;

/// Staging memory for all-reduces that the host enqueues. Each block of the kernel has two halves for elements that
/// other members store (`impl/reduce/oneshot_reduce.hpp`), and LL packets (`impl/ll/ll_reduce.hpp`). The team of the
/// domain has staging memory. If the world is one domain, the team of the world also has staging memory. Other teams
/// have staging memory if they were created with team_config::staged.
struct oneshot_staging {
  static constexpr std::int32_t most_members = 64;  ///< for more members, the staging memory would hold no more
                                                    ///< data than the LL packets
  static constexpr std::uint32_t log2_block_bytes = 16;
  /// the size of a half, for all members
  static constexpr std::uint64_t block_bytes = std::uint64_t{1} << log2_block_bytes;
  /// The offset of the epoch of block `which`. The packets of the block start one line after the epoch.
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t packets(std::int32_t which) {
    constexpr std::uint64_t each = team_state_layout::line + 2 * team_state_layout::packet_buffer_bytes(true);
    return 2 * block_bytes * team_state_layout::most_blocks + each * static_cast<std::uint64_t>(which);
  }
  static constexpr std::int32_t blocks = team_state_layout::most_blocks;
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t bytes() { return packets(blocks); }
};

/// The library's own area at the start of every slot: a word for failures, words for answers, and the states of three
/// teams: of the world, of the domain and of the host. The teams of the domain and of the host may have a list of
/// members.
struct internal_area {
  /// Set by the thread that writes the PE's failure record. The word is not in the control block, because most links do
  /// not support atomic operations of a GPU on host memory.
  static constexpr std::uint64_t failure_claim = 0;
  /// The address of the trace_area, for kernels compiled with PGAS_TRACE; null: the host does not record.
  static constexpr std::uint64_t traced = 64;
  /// A 64-bit word for each element of control_block::answers: the number of the question, and the thread that has
  /// claimed the element.
  static constexpr std::uint64_t answer_claims = 128;
  static constexpr std::uint64_t world_state = answer_claims + 8 * std::uint64_t{most_answers};
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t domain_state(std::int32_t n_pes) {
    return world_state + team_state_layout::bytes(n_pes, default_channels, false);
  }
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t host_state(std::int32_t n_pes) {
    return domain_state(n_pes) + team_state_layout::bytes(n_pes, default_channels, true);
  }
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t bytes(std::int32_t n_pes) {
    return host_state(n_pes) + team_state_layout::bytes(n_pes, default_channels, true);
  }
};

}  // namespace pgas::detail
