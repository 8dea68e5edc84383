/// @file
/// The library's side of pgas/detail/struct_members.hpp: reads options of a program, and fills structs of a program.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "pgas/detail/struct_members.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

/// The text of a PGAS_VERSION.
[[nodiscard]] inline std::string version_text(std::uint32_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

/// Assigns the first `count` members of `from` to `to`.
template <class Struct, class From>
void assign_members(Struct& to, From&& from, std::uint32_t count) {
  std::uint32_t number = 0;
  const auto assign = [&](const auto& member) {
    if (number++ < count) to.*member.place = std::forward<From>(from).*member.place;
  };
  std::apply([&](const auto&... members) { (assign(members), ...); }, members_of<Struct>::list);
}

/// The options of the program. Members that the program's headers do not have, and members after the last member that
/// the program has set, have the defaults of the library. The function reads no memory of the program behind the last
/// set member.
/// *Errors* version_mismatch if the program has set a member that the library does not have.
template <class Struct>
[[nodiscard]] Struct taken(const given<Struct>& passed) {
  if (passed.set > count_members<Struct>())
    throw error(
        code::version_mismatch,
        fmt::format("{}::{} is set, but libpgas {} has no such member: the program was compiled with the headers "
                    "of pgas {}. Install libpgas {} or newer, or leave the member at its default",
                    members_of<Struct>::name, passed.last_set, PGAS_VERSION_TEXT, version_text(passed.version),
                    version_text(passed.version)));
  Struct options{};
  assign_members(options, *passed.options, passed.set);
  return options;
}

/// Fills a struct of the program. Members that the library does not have keep their defaults.
template <class Struct>
void fill(const wanted<Struct>& to, Struct from) {
  assign_members(*to.result, std::move(from), to.members);
}
/// Fills a list of the program.
template <class Struct>
void fill(const wanted_list<Struct>& to, std::vector<Struct> from) {
  for (Struct& object : from) assign_members(*to.append(to.list), std::move(object), to.members);
}

}  // namespace pgas::detail
