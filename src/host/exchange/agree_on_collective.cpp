#include "host/exchange/agree_on_collective.hpp"

#include <fmt/format.h>

#include <span>
#include <string>

#include "common/value_bytes.hpp"
#include "host/exchange/agreement.hpp"

namespace pgas::detail {

const char* name_of(collective_kind what) {
  switch (what) {
    case collective_kind::barrier: return "barrier";
    case collective_kind::sync: return "sync";
    case collective_kind::word_barrier: return "barrier by words";
    case collective_kind::broadcast: return "broadcast";
    case collective_kind::fcollect: return "fcollect";
    case collective_kind::collect: return "collect";
    case collective_kind::alltoall: return "alltoall";
    case collective_kind::alltoalls: return "alltoalls";
    case collective_kind::reduce: return "reduce";
    case collective_kind::reduce_to_root: return "reduce_to_root";
    case collective_kind::reduce_scatter: return "reduce_scatter";
    case collective_kind::inclusive_scan: return "inclusive_scan";
    case collective_kind::exclusive_scan: return "exclusive_scan";
  }
  return "collective";
}

bool rooted(collective_kind what) {
  return what == collective_kind::broadcast || what == collective_kind::reduce_to_root;
}

namespace {

/// The call of a member, in the form that members exchange.
struct wire_call {
  static constexpr std::uint32_t expected_magic = 0x636f6c6c;
  std::uint32_t magic = expected_magic;
  collective_kind what = collective_kind::barrier;
  reduction op = reduction::none;
  number_type type = number_type::none;
  std::uint8_t reserved = 0;
  std::int32_t root = 0;
  placement where = placement::apart;
  std::uint64_t element_bytes = 0;
  std::uint64_t count = 0;
  std::int64_t dst_stride = 1;
  std::int64_t src_stride = 1;
};
static_assert(sizeof(wire_call) == 48);

wire_call wire_of(const collective_request& r, placement where) {
  wire_call call;
  call.what = r.what;
  call.op = r.op;
  call.type = r.type;
  call.where = where;
  if (rooted(r.what)) call.root = r.root;
  call.element_bytes = r.element_bytes;
  if (r.what != collective_kind::collect) call.count = r.count;  // the counts of a collect differ between members
  call.dst_stride = r.dst_stride;
  call.src_stride = r.src_stride;
  return call;
}

bool same(const wire_call& a, const wire_call& b) {
  return a.what == b.what && a.op == b.op && a.type == b.type && a.root == b.root &&
         a.element_bytes == b.element_bytes && a.count == b.count && a.dst_stride == b.dst_stride &&
         a.src_stride == b.src_stride;
}

/// The names of the reductions and of the types, by number.
constexpr const char* reductions[] = {"", "sum", "prod", "min", "max", "and", "or", "xor", "maxloc", "minloc"};
constexpr const char* types[] = {
    "",     "u8",  "u16", "u32",         "u64",         "i8",       "i16",      "i32",      "i64",     "f16",
    "bf16", "f32", "f64", "complex f32", "complex f64", "pair i32", "pair i64", "pair f32", "pair f64"};

/// The name of a number from another PE. The number can be out of range.
template <std::size_t Size, class Number>
const char* entry(const char* const (&names)[Size], Number number) {
  return static_cast<std::size_t>(number) < Size ? names[static_cast<std::size_t>(number)] : "?";
}

std::string text_of(const wire_call& call) {
  std::string text = fmt::format("{} of {} elements of {} bytes", name_of(call.what), call.count, call.element_bytes);
  if (call.op != reduction::none)
    text += fmt::format(" ({} of {})", entry(reductions, call.op), entry(types, call.type));
  if (rooted(call.what)) text += fmt::format(", root {}", call.root);
  if (call.what == collective_kind::alltoalls)
    text += fmt::format(", strides {} and {}", call.dst_stride, call.src_stride);
  return text;
}

/// Decodes the call of a member. *Errors* asymmetric_call if the member is in another kind of exchange.
wire_call decode(const control_group& group, const member_value& of, collective_kind mine) {
  wire_call call;
  std::span<const std::byte> rest = of.value;
  if (take_value(rest, call) && rest.empty() && call.magic == wire_call::expected_magic) return call;
  const int pe = group.world_pe(of.member);
  throw error(
      code::asymmetric_call,
      fmt::format("PE {} makes a different call from {}: all members must make the same calls in the same order", pe,
                  name_of(mine)),
      pe);
}

}  // namespace

void agree_on_collective(const control_group& group, const collective_request& mine, placement where,
                         const std::optional<error>& refused) {
  const bool places = mine.what == collective_kind::fcollect || mine.what == collective_kind::reduce_scatter;
  const auto misplaced = [&](int pe) {
    return error(code::invalid_argument,
                 fmt::format("{}: source and destination overlap, and on PE {} not at the in-place address: they must "
                             "be in place on all members, or separate on all members",
                             name_of(mine.what), pe),
                 pe);
  };
  std::optional<error> failure = refused;
  if (places && where == placement::of_another && !failure) failure = misplaced(group.world_pe(group.my_pe()));
  const wire_call own = wire_of(mine, places ? where : placement::apart);
  const agreement all = agree(group, bytes_of(own), failure);
  if (all.other) {
    const int pe = group.world_pe(all.other->member);
    const wire_call first = decode(group, all.first, mine.what);
    const wire_call other = decode(group, *all.other, mine.what);
    if (!same(first, other))
      throw error(code::asymmetric_call,
                  fmt::format("PE {} calls {} while PE {} calls {}: all members must make the same calls",
                              group.world_pe(0), text_of(first), pe, text_of(other)),
                  pe);
    if (!all.failure) throw misplaced(pe);
  }
  if (all.failure) throw error(*all.failure);
}

}  // namespace pgas::detail
