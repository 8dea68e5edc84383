/// @file
/// The members of a team domain by domain, for collectives of teams that span domains: the host writes it after the
/// state of a team (`host_device_layout.hpp`), kernels read it.
#pragma once

#include "pgas/detail/compiler.hpp"

namespace pgas::detail {

/// One PE's view of the domains of a team: words of 32 bits. Domains are numbered in the order of their first members;
/// the members of a domain have the order of the team. All zeros, or one domain, means that no member is proxied.
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

}  // namespace pgas::detail
