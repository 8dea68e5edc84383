/// @file
/// How structs with public members cross the boundary between a program and the library. Program and library may have
/// been compiled with headers of different versions, so a struct may have more members on one side. Later versions add
/// members at the end of a struct only, and the list of the struct's members has the same order. An inline function of
/// the program converts the struct to one of the types of this header. docs/stability.md describes the rules.
///
/// The functions and the lists are hidden: a program and each of its libraries use their own copies. Each copy belongs
/// to the headers with which that program or library was compiled.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include "pgas/version.h"

namespace pgas::detail {

/// A member of a struct, and its name for errors.
template <class Pointer>
struct named_member {
  const char* name;
  Pointer place;  ///< a pointer to the member
};

/// The name of the member Place, cut out of the name that the compiler gives to a function of this template. With every
/// compiler, that name contains the template argument, such as "&pgas::config::checks", and the member's name is the
/// end of the argument.
template <auto Place>
struct [[gnu::visibility("hidden")]] member_name {
  static constexpr const char* function() { return __PRETTY_FUNCTION__; }
  static constexpr auto cut_out() {
    constexpr std::string_view whole = function();
    constexpr std::size_t first = whole.rfind("::") + 2;
    std::array<char, whole.find_first_of(")]", first) - first + 1> name{};
    whole.copy(name.data(), name.size() - 1, first);
    return name;
  }
  static constexpr auto text = cut_out();
};

/// The members of a struct: `list`, a tuple of named_member.
template <auto... Places>
struct [[gnu::visibility("hidden")]] member_list {
  static constexpr std::tuple list{named_member<decltype(Places)>{member_name<Places>::text.data(), Places}...};
};

/// The members of Struct in the order of their declaration, and `name`, the name of the struct. Each struct that
/// crosses the boundary specialises this template beside its declaration.
template <class Struct>
struct members_of;

/// Options that the program passes to the library.
template <class Struct>
struct given {
  const Struct* options;
  std::uint32_t set;      ///< the members up to the last one that differs from its default
  const char* last_set;   ///< name of that member
  std::uint32_t version;  ///< PGAS_VERSION of the program's headers
};

/// A struct of the program that the library fills.
template <class Struct>
struct wanted {
  Struct* result;
  std::uint32_t members;  ///< the number of members that the program knows
};

/// A list of the program that the library fills with structs.
template <class Struct>
struct wanted_list {
  void* list;
  Struct* (*append)(void* list);  ///< adds an element to the list
  std::uint32_t members;          ///< the number of members that the program knows
};

/// The number of members of Struct.
template <class Struct>
[[nodiscard, gnu::visibility("hidden")]] constexpr std::uint32_t count_members() {
  return std::tuple_size_v<decltype(members_of<Struct>::list)>;
}

/// Passes options to the library.
template <class Struct>
[[nodiscard, gnu::visibility("hidden")]] given<Struct> give(const Struct& options) {
  const Struct defaults{};
  given<Struct> passed{&options, 0, "", PGAS_VERSION};
  std::uint32_t number = 0;
  const auto look_at = [&](const auto& member) {
    ++number;
    if (options.*member.place == defaults.*member.place) return;
    passed.set = number;
    passed.last_set = member.name;
  };
  std::apply([&](const auto&... members) { (look_at(members), ...); }, members_of<Struct>::list);
  return passed;
}

/// Passes a struct that the library fills.
template <class Struct>
[[nodiscard, gnu::visibility("hidden")]] wanted<Struct> want(Struct& result) {
  return {&result, count_members<Struct>()};
}
/// Passes an empty list that the library fills.
template <class Struct>
[[nodiscard, gnu::visibility("hidden")]] wanted_list<Struct> want(std::vector<Struct>& list) {
  return {&list, [](void* to) { return &static_cast<std::vector<Struct>*>(to)->emplace_back(); },
          count_members<Struct>()};
}

}  // namespace pgas::detail
