/// @file
/// Compares values that should be equal on all members of a group. A comparison is one reduction, so the size of its
/// messages does not depend on the number of members. *Callers* collective steps of the host, the probe, and checks of
/// collective calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "host/exchange/control_group.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

/// The value of one member.
struct member_value {
  int member = -1;
  blob value;
};

/// A word that a member adds to an agreement. Most agreements have no words.
struct member_word {
  std::int32_t member;
  std::uint32_t reserved = 0;
  std::uint64_t word;
};

/// The result of a comparison, which is the same on all members.
struct agreement {
  member_value first;                 ///< the value of member 0
  std::optional<member_value> other;  ///< the first member whose value differs from the value of member 0
  std::optional<error> failure;       ///< the failure of the first member that has failed
  std::vector<member_word> words;     ///< the words of all members
};

/// Collective: compares the values of all members.
/// @param failure the failure of this member, if any
/// @param words words for all members. The messages contain the words of all members, so only a few members may pass
/// words.
/// @throws the errors of control_group::reduce(); bootstrap_protocol for a malformed message
[[nodiscard]] agreement agree(const control_group& group, std::span<const std::byte> value,
                              const std::optional<error>& failure = std::nullopt,
                              std::span<const std::uint64_t> words = {});

/// The parts of agree(): the message of one member, the combination of two messages by control_group::reduce(), and the
/// result. Empty if a message is malformed.
[[nodiscard]] blob encode_agreement(int member, std::span<const std::byte> value, const std::optional<error>& failure,
                                    std::span<const std::uint64_t> words);
void merge_agreements(blob& one, std::span<const std::byte> more);
[[nodiscard]] std::optional<agreement> decode_agreement(std::span<const std::byte> all);

/// Collective: combines the values of all members. The result must not depend on the order in which `combine` is
/// called.
template <class T, class Combine>
requires std::is_trivially_copyable_v<T>
[[nodiscard]] T reduce_value(const control_group& group, const T& mine, Combine combine) {
  const auto bytes = std::as_bytes(std::span(&mine, 1));
  const blob all = group.reduce(blob(bytes.begin(), bytes.end()), [&](blob& one, std::span<const std::byte> more) {
    if (one.size() != sizeof(T) || more.size() != sizeof(T)) return one.clear();  // the size check reports this error
    T a;
    T b;
    std::memcpy(&a, one.data(), sizeof(T));
    std::memcpy(&b, more.data(), sizeof(T));
    a = combine(a, b);
    std::memcpy(one.data(), &a, sizeof(T));
  });
  if (all.size() != sizeof(T))
    throw error(code::bootstrap_protocol,
                "the members of a group reduce different values: all PEs must make the same calls in the same order");
  T result;
  std::memcpy(&result, all.data(), sizeof(T));
  return result;
}

}  // namespace pgas::detail
