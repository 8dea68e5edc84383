/// @file
/// Layouts shared by host and device code: fixed places in the heap, the state of teams, the data that the host
/// publishes to running kernels, and the record of a kernel that gives up.
#pragma once

#include "pgas/detail/word_operation.hpp"

namespace pgas::detail {

/// Changes whenever a struct of this file or pgas::context changes its layout or meaning.
inline constexpr std::uint32_t abi_version = 10;

/// Why a device operation ended early. The host turns it into a pgas::error.
enum class failure : std::uint32_t {
  none = 0,
  aborted,          ///< the abort word was set: a peer died or gave up
  timed_out,        ///< the wait outlived its deadline
  pe_out_of_range,  ///< found with checks on
  outside_heap,     ///< found with checks on
  misaligned,       ///< found with checks on
  not_a_member,     ///< a collective of a team that this PE is not in; found with checks on
  bad_channel,      ///< a channel that the team does not have; found with checks on
  asymmetric,       ///< PEs called different collectives, or with different sizes; found with checks on
  not_held,         ///< a lock was cleared by a PE that does not hold it
  too_long,         ///< a message is longer than its channel has room for
  out_of_turn,      ///< a second message was sent, or waited for, before one went the other way
  no_such_value,    ///< an enumerator that there is not, or no values to compare with; found with checks on
  not_direct,       ///< a kernel that has only loads and stores addressed a proxied PE
};

/// The device operation that a record is about.
enum class operation : std::uint32_t {
  none = 0,
  put,
  get,
  p,
  g,
  put_signal,
  signal,
  atomic,
  wait,
  barrier,
  sync,
  iput,
  iget,
  broadcast,
  fcollect,
  collect,
  alltoall,
  alltoalls,
  reduce,
  reduce_scatter,
  scan,
  lock,
  grid_sync,
  fence,
  quiet,
  send,
  receive,
  bulk_copy,
  atomic_fetch,  ///< from here on as atomic_update
  atomic_set,
  atomic_add,
  atomic_and,
  atomic_or,
  atomic_xor,
  atomic_min,
  atomic_max,
  atomic_swap,
  atomic_compare_swap,
  atomic_fetch_add,  ///< as atomic_add and on, with the old value
  atomic_fetch_and,
  atomic_fetch_or,
  atomic_fetch_xor,
  atomic_fetch_min,
  atomic_fetch_max,
};

/// What an atomic operation is called that gives the old value back, or not.
[[nodiscard]] PGAS_HD constexpr operation operation_of(atomic_update how, bool fetches) {
  const bool has_both = how >= atomic_update::add && how <= atomic_update::max;
  const auto first =
      static_cast<std::uint32_t>(fetches && has_both ? operation::atomic_fetch_add : operation::atomic_fetch);
  const auto skipped = static_cast<std::uint32_t>(fetches && has_both ? atomic_update::add : atomic_update::fetch);
  return static_cast<operation>(first + static_cast<std::uint32_t>(how) - skipped);
}

/// Left by the first device thread of a PE that gave up.
struct failure_record {
  std::uint32_t complete;  ///< 0: no record; 1: all of it is there
  failure why;
  operation what;
  std::int32_t pe;            ///< the PE addressed or waited for, -1 if the wait does not know
  std::uint64_t heap_offset;  ///< of the word or the buffer, from the start of the slot
  std::uint64_t bytes;        ///< of the access
  std::uint64_t expected;     ///< what the wait compared with
  std::uint64_t seen;         ///< what it saw last
  std::int32_t compare;       ///< pgas::cmp
  std::uint32_t block;        ///< linear block index
  std::uint32_t thread;       ///< linear thread index in its block
  std::uint32_t reserved;
};
static_assert(sizeof(failure_record) == 64);

/// Host memory that kernels can read, one per PE and world. The host writes the first line, kernels write the record.
struct alignas(128) control_block {
  std::uint32_t abort;  ///< 0: go on; otherwise 1 + the PE that failed, or abort_no_pe
  std::uint32_t reserved;
  std::uint64_t heap_bytes;           ///< mapped bytes of each slot, for checks
  std::uint64_t wait_timeout_ns;      ///< 0: waits have no deadline
  std::uint64_t team_segments_begin;  ///< from where to where this PE has memory that only some PEs share, for checks
  std::uint64_t team_segments_end;
  alignas(128) failure_record record;
};
static_assert(sizeof(control_block) == 256);

inline constexpr std::uint32_t abort_no_pe = 0xffffffffu;

/// What a barrier of a team that spans domains counts besides (`impl/hierarchy/domain_barrier.hpp`).
struct domain_words {
  std::uint64_t arrivals;  ///< at the first member of a domain: arrivals of its members
  std::uint64_t waited;    ///< how often this PE has waited
  std::uint64_t notified;  ///< by the leader of a group to its other threads
};

/// One PE's view of the domains of a team, for collectives of teams that span several: words of 32 bits, which the host
/// writes after the state of the team. Domains are numbered in the order of their first members; the members of a
/// domain have the order of the team. All zeros, or one domain, means that no member is proxied.
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
  /// How many members the team has, and how many of them are in domain `d`.
  [[nodiscard]] PGAS_HD std::int32_t members() const { return words[3]; }
  [[nodiscard]] PGAS_HD std::int32_t count(std::int32_t d) const { return begin(d + 1) - begin(d); }
  /// The first place of domain `d` among all members, sorted by domain.
  [[nodiscard]] PGAS_HD std::int32_t begin(std::int32_t d) const { return words[first_begin + d]; }
  /// Member `k` of domain `d` by its number in the team, and in the world.
  [[nodiscard]] PGAS_HD std::int32_t member(std::int32_t d, std::int32_t k) const {
    return words[first_begin + 1 + members() + begin(d) + k];
  }
  [[nodiscard]] PGAS_HD std::int32_t world_pe(std::int32_t d, std::int32_t k) const {
    return words[first_begin + 1 + 2 * members() + begin(d) + k];
  }
  /// For each member of this PE's domain the distance of its slot from this PE's.
  [[nodiscard]] PGAS_HD const std::int32_t* slots() const { return words + first_begin + 1 + 3 * members(); }

  /// Writes the view of PE `me` of the world. @param list the members by their numbers in the world @param domain_of a
  /// number for each PE of the world, equal within a domain only @param slot_of for each PE of this PE's domain its
  /// slot
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

/// The state of a team in every member's slot: equal parts, so that as many blocks can be in collectives of one team at
/// once. One for each channel, one for the host's collectives, and one for each block of the kernels that execute
/// these. Each part has, for each member i,
///
/// * two words of the barrier: i's arrivals here (counted by i), and this PE's waits for it. Words per source need no
///   reset and show a missing member: i is missing where arrived == waited. The thread that waits for i keeps both, so
///   that no thread of a group needs to pass them on;
/// * a word for i's message to the others in a collective (`value`), and one to compare with checks on (`signature`).
///   No member completes a collective before all have read these, so one of each is enough;
///
/// and the domain_words of teams that span domains.
///
/// After the parts: the LL packets of channel 0 and of the host's (`impl/ll/ll_exchange.hpp`); the team_hierarchy; and
/// the world PE of each member (int32), for teams whose members are not evenly spaced.
struct team_layout {
  static constexpr std::uint64_t member_bytes = 16;
  static constexpr std::uint64_t line = 128;
  /// Most blocks of a kernel that the host enqueues: as many as fill the link (H200).
  static constexpr std::int32_t most_blocks = 32;
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t rounded(std::uint64_t bytes) {
    return (bytes + line - 1) / line * line;
  }

  /// The arrivals of team member `member`; the count of waits is 8 bytes after.
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t arrived(std::int32_t member) {
    return static_cast<std::uint64_t>(member) * member_bytes;
  }
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t value(std::int32_t members, std::int32_t member) {
    return arrived(members) + static_cast<std::uint64_t>(member) * 8;
  }
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t signature(std::int32_t members, std::int32_t member) {
    return value(members, members) + static_cast<std::uint64_t>(member) * 8;
  }
  /// The domain_words.
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t domain(std::int32_t members) {
    return signature(members, members);
  }
  /// Distance between two channels.
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t channel_bytes(std::int32_t members) {
    return rounded(domain(members) + sizeof(domain_words));
  }
  /// How many parts there are.
  [[nodiscard]] PGAS_HD static constexpr std::int32_t parts(std::int32_t channels) {
    return channels + 1 + most_blocks;
  }
  /// The packets that members send to one of them in one collective, on channel 0 or on the host's. There are two
  /// buffers: with 64 teams that makes 10 MiB.
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t packet_buffer_bytes(bool of_host) {
    return std::uint64_t{of_host ? 16u : 64u} << 10;
  }
  /// The epoch, and a line after it the packets.
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t packets(std::int32_t members, std::int32_t channels,
                                                               bool of_host) {
    return channel_bytes(members) * static_cast<std::uint64_t>(parts(channels)) +
           (of_host ? line + 2 * packet_buffer_bytes(false) : 0);
  }
  /// The team_hierarchy.
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t plan(std::int32_t members, std::int32_t channels) {
    return members > 1 ? packets(members, channels, true) + line + 2 * packet_buffer_bytes(true)
                       : packets(members, channels, false);
  }
  /// Where the list of members starts.
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t list(std::int32_t members, std::int32_t channels) {
    return plan(members, channels) + rounded(static_cast<std::uint64_t>(team_hierarchy::size(members)) * 4);
  }
  /// Size of the whole state.
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t bytes(std::int32_t members, std::int32_t channels, bool listed) {
    return list(members, channels) + (listed ? rounded(static_cast<std::uint64_t>(members) * 4) : 0);
  }
};

/// Channels of the teams that every world has, and of others unless their configuration says otherwise.
inline constexpr std::int32_t default_channels = 32;

/// Staging of the one-shot all-reduce (`impl/reduce/oneshot_reduce.hpp`): two halves for each block of a kernel that
/// the host enqueues. The domain has one, and the world where it is one domain.
struct oneshot_staging {
  static constexpr std::int32_t most_members = 64;  ///< for more, the staging would hold no more than LL packets do
  static constexpr std::uint32_t log2_block_bytes = 15;
  static constexpr std::uint64_t block_bytes = std::uint64_t{1} << log2_block_bytes;  ///< of a half, for all members
  static constexpr std::uint64_t bytes = 2 * block_bytes * team_layout::most_blocks;
};

/// The library's own part at the start of every slot: a word for giving up, and the states of the world, of the domain
/// and of the PEs of one host. The last two may be lists.
struct internal_area {
  /// Set by the thread that writes the PE's failure record. Not in the control block: few links give a GPU atomic
  /// operations on host memory.
  static constexpr std::uint64_t failure_claim = 0;
  static constexpr std::uint64_t world_state = 128;
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t domain_state(std::int32_t n_pes) {
    return world_state + team_layout::bytes(n_pes, default_channels, false);
  }
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t host_state(std::int32_t n_pes) {
    return domain_state(n_pes) + team_layout::bytes(n_pes, default_channels, true);
  }
  [[nodiscard]] PGAS_HD static constexpr std::uint64_t bytes(std::int32_t n_pes) {
    return host_state(n_pes) + team_layout::bytes(n_pes, default_channels, true);
  }
};

}  // namespace pgas::detail
