#include "host/exchange/agreement.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/encode_error.hpp"
#include "common/value_bytes.hpp"

namespace pgas::detail {

namespace {

/// The agreement of some members of a group. Two values of each set of members are enough to find the two values of the
/// union of two sets.
struct partial_agreement {
  member_value first;
  member_value other;   ///< the first member with another value; member -1: all values are equal
  member_value failed;  ///< the first member that has failed, and its error as the value; member -1: no failure
  std::vector<member_word> words;
};

/// The head of an encoded agreement. The three values and the words follow.
struct wire_agreement {
  static constexpr std::uint32_t expected_magic = 0x61677265;
  std::uint32_t magic = expected_magic;
  std::uint32_t words = 0;
  struct part {
    std::int32_t member = -1;
    std::uint32_t bytes = 0;
  };
  part parts[3];
};

void append(blob& all, std::span<const std::byte> more) { all.insert(all.end(), more.begin(), more.end()); }

blob encode(const partial_agreement& of) {
  const member_value* const values[] = {&of.first, &of.other, &of.failed};
  wire_agreement head;
  head.words = static_cast<std::uint32_t>(of.words.size());
  for (std::size_t i = 0; i < 3; ++i)
    head.parts[i] = {values[i]->member, static_cast<std::uint32_t>(values[i]->value.size())};
  blob bytes;
  append(bytes, bytes_of(head));
  for (const member_value* const one : values) append(bytes, one->value);
  append(bytes, std::as_bytes(std::span(of.words)));
  return bytes;
}

std::optional<partial_agreement> decode(std::span<const std::byte> bytes) {
  wire_agreement head;
  if (!take_value(bytes, head) || head.magic != wire_agreement::expected_magic) return std::nullopt;
  partial_agreement result;
  member_value* const values[] = {&result.first, &result.other, &result.failed};
  for (std::size_t i = 0; i < 3; ++i) {
    if (head.parts[i].bytes > bytes.size()) return std::nullopt;
    values[i]->member = head.parts[i].member;
    values[i]->value.assign(bytes.begin(), bytes.begin() + head.parts[i].bytes);
    bytes = bytes.subspan(head.parts[i].bytes);
  }
  if (bytes.size() != head.words * sizeof(member_word)) return std::nullopt;
  result.words.resize(head.words);
  if (!bytes.empty()) std::memcpy(result.words.data(), bytes.data(), bytes.size());
  return result;
}

partial_agreement merge(partial_agreement a, partial_agreement b) {
  if (b.first.member < a.first.member) std::swap(a, b);
  // a.first is now the first member of the union. If a member of `b` has another value than a.first, the first such
  // member is b.first or b.other.
  for (member_value* const candidate : {&b.first, &b.other}) {
    if (candidate->member < 0 || candidate->value == a.first.value) continue;
    if (a.other.member < 0 || candidate->member < a.other.member) a.other = std::move(*candidate);
    break;
  }
  if (b.failed.member >= 0 && (a.failed.member < 0 || b.failed.member < a.failed.member))
    a.failed = std::move(b.failed);
  a.words.insert(a.words.end(), b.words.begin(), b.words.end());
  return a;
}

}  // namespace

blob encode_agreement(int member, std::span<const std::byte> value, const std::optional<error>& failure,
                      std::span<const std::uint64_t> words) {
  partial_agreement mine;
  mine.first = {member, blob(value.begin(), value.end())};
  if (failure) mine.failed = {member, encode_error(*failure)};
  for (const std::uint64_t word : words) mine.words.push_back({member, 0, word});
  return encode(mine);
}

void merge_agreements(blob& one, std::span<const std::byte> more) {
  std::optional<partial_agreement> a = decode(one);
  std::optional<partial_agreement> b = decode(more);
  if (a && b)
    one = encode(merge(std::move(*a), std::move(*b)));
  else
    one.clear();  // agree() reports the malformed message on all members
}

std::optional<agreement> decode_agreement(std::span<const std::byte> all) {
  std::optional<partial_agreement> found = decode(all);
  if (!found) return std::nullopt;
  agreement result;
  result.first = std::move(found->first);
  if (found->other.member >= 0) result.other = std::move(found->other);
  if (found->failed.member >= 0) result.failure = decode_error(found->failed.value);
  result.words = std::move(found->words);
  return result;
}

agreement agree(const control_group& group, std::span<const std::byte> value, const std::optional<error>& failure,
                std::span<const std::uint64_t> words) {
  const blob all = group.reduce(encode_agreement(group.my_pe(), value, failure, words), merge_agreements);
  std::optional<agreement> found = decode_agreement(all);
  if (!found)
    throw error(code::bootstrap_protocol,
                "the members of a group compare different values: all PEs must make the same calls in the same order");
  return std::move(*found);
}

}  // namespace pgas::detail
