#include "host/exchange/collective_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <span>

#include "common/value_bytes.hpp"
#include "host/connect/control_message.hpp"
#include "host/log/format_bytes.hpp"

namespace pgas::detail {

namespace {

/// The head of a message. The key and the error follow the head.
struct wire_step {
  static constexpr std::uint32_t expected_magic = 0x73746570;
  std::uint32_t magic;
  std::uint32_t reserved;
  collective_step call;
  std::array<std::byte, 64> handle;
  handle_kind kind;
  std::uint8_t failed;
  std::uint8_t foreign;
  std::uint8_t padding;
  std::uint32_t key_bytes;
};
static_assert(std::is_trivially_copyable_v<wire_step> && sizeof(wire_step) == 112);

blob encode(const step_result& mine) {
  wire_step head{wire_step::expected_magic,
                 0,
                 mine.call,
                 mine.handle.bytes,
                 mine.handle.kind,
                 mine.failure.has_value(),
                 mine.handle.foreign,
                 0,
                 static_cast<std::uint32_t>(mine.key.size())};
  blob bytes(sizeof(head));
  std::memcpy(bytes.data(), &head, sizeof(head));
  bytes.insert(bytes.end(), mine.key.begin(), mine.key.end());
  if (mine.failure) {
    const blob why = encode_error(*mine.failure);
    bytes.insert(bytes.end(), why.begin(), why.end());
  }
  return bytes;
}

error different_call(int pe) {
  return {code::asymmetric_call,
          fmt::format("PE {} makes a different collective call from this PE: all PEs must make the same calls in the "
                      "same order",
                      pe),
          pe};
}

step_result decode(std::span<const std::byte> rest, contribution descriptors, int pe) {
  wire_step head;
  if (!take_value(rest, head) || head.magic != wire_step::expected_magic) throw different_call(pe);
  if (head.key_bytes > rest.size())
    throw error(code::bootstrap_protocol, fmt::format("PE {} sent a malformed result of a collective step", pe), pe);
  step_result result;
  result.key.assign(rest.begin(), rest.begin() + head.key_bytes);
  rest = rest.subspan(head.key_bytes);
  result.pe = pe;
  result.call = head.call;
  result.handle.foreign = head.foreign != 0;
  result.handle.bytes = head.handle;
  result.handle.kind = head.kind;
  if (!descriptors.fds.empty()) result.handle.fd = std::move(descriptors.fds.front());
  result.fds_lost = descriptors.fds_lost;
  if (head.failed != 0) result.failure = decode_error(rest);
  return result;
}

std::string text_of(const collective_step& call) {
  switch (call.what) {
    case collective_step::kind::allocate:
    case collective_step::kind::grow:
      return fmt::format("allocates {} bytes{} aligned to {}", call.bytes, call.zeros != 0 ? " of zeros" : "",
                         call.alignment);
    case collective_step::kind::free:
      return call.offset == collective_step::nowhere ? "frees null"
                                                     : fmt::format("frees heap offset {:#x}", call.offset);
    case collective_step::kind::probe: return "creates its heap";
    case collective_step::kind::add_team: return "creates a team";
    case collective_step::kind::add_buffer:
      return fmt::format("registers {} bytes in {} segments{}", call.bytes, call.alignment,
                         call.offset == collective_step::nowhere ? "" : fmt::format(" (of sizes {:x})", call.offset));
    case collective_step::kind::connect: return "is joining";
    case collective_step::kind::collect: return "collects released registrations";
    case collective_step::kind::remove_buffer: return fmt::format("unregisters heap offset {:#x}", call.offset);
  }
  return "makes an unknown call";
}

error mismatch_of(int first, const collective_step& call, int pe, const collective_step& other) {
  const std::string mine = text_of(call);
  const std::string theirs = text_of(other);
  // If the texts of both calls are equal, their offsets differ, because earlier calls have differed.
  return {code::asymmetric_call,
          mine != theirs
              ? fmt::format("PE {} {} while PE {} {}: all PEs must make the same calls with the same sizes", first,
                            mine, pe, theirs)
              : fmt::format(
                    "PE {} and PE {} both {}, but their heaps differ (offsets {:#x} and {:#x}): earlier calls were not "
                    "the same; PGAS_CHECKS=1 finds the first",
                    first, pe, mine.starts_with("alloc") ? "allocate" : "free", call.offset, other.offset),
          pe};
}

}  // namespace

std::vector<step_result> exchange(const control_group& group, const step_result& mine) {
  const int fd = mine.handle.fd.get();
  std::vector<step_result> results(static_cast<std::size_t>(group.n_pes()));
  group.gather_each(encode(mine), fd >= 0 ? std::span(&fd, 1) : std::span<const int>(),
                    [&](int member, std::span<const std::byte> bytes, contribution descriptors) {
                      results[static_cast<std::size_t>(member)] =
                          decode(bytes, std::move(descriptors), group.world_pe(member));
                    });
  return results;
}

std::optional<error> first_failure(const std::vector<step_result>& all) {
  const auto found = std::find_if(all.begin(), all.end(), [](const step_result& s) { return s.failure.has_value(); });
  return found == all.end() ? std::nullopt : found->failure;
}

std::optional<error> find_mismatch(const std::vector<step_result>& all) {
  const auto other = std::find_if(all.begin(), all.end(), [&](const step_result& s) { return s.call != all[0].call; });
  if (other == all.end()) return std::nullopt;
  return mismatch_of(all[0].pe, all[0].call, other->pe, other->call);
}

step_agreement agree_on_step(const control_group& group, const collective_step& call,
                             const std::optional<error>& failure, std::span<const std::uint64_t> words) {
  agreement all = agree(group, bytes_of(call), failure, words);
  step_agreement result{std::move(all.failure), std::nullopt, std::move(all.words)};
  if (all.other) {
    const int pe = group.world_pe(all.other->member);
    collective_step first;
    collective_step other;
    std::span<const std::byte> firsts = all.first.value;
    std::span<const std::byte> others = all.other->value;
    const bool known = take_value(firsts, first) && take_value(others, other) && firsts.empty() && others.empty();
    if (!known) throw different_call(pe);
    result.mismatch = mismatch_of(group.world_pe(all.first.member), first, pe, other);
  }
  return result;
}

void check_step(const std::vector<step_result>& all) {
  if (const std::optional<error> failed = first_failure(all)) throw error(*failed);
  if (const std::optional<error> different = find_mismatch(all)) throw error(*different);
}

void check_step(const step_agreement& all) {
  if (all.failure) throw error(*all.failure);
  if (all.mismatch) throw error(*all.mismatch);
}

std::optional<error> attempt(const control_group& group, const std::string& what, const std::function<void()>& step) {
  const int me = group.world_pe(group.my_pe());
  const auto failed = [&](code why, const std::string& text) {
    return error(why, fmt::format("PE {} (host {}) could not {}: {}", me, group.peer(group.my_pe()).host, what, text),
                 me);
  };
  try {
    step();
    return std::nullopt;
  } catch (const error& why) {
    return failed(why.code(), detail::text_of(why));
  } catch (const std::bad_alloc&) {
    return failed(code::out_of_memory, "no memory left for the library itself");
  }
}

}  // namespace pgas::detail
