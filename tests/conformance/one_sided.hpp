/// @file
/// Shared by the tests of one-sided operations: contexts of teams, element types of every size and alignment, random
/// values, and calls that checks must end.
#pragma once

#include "teams.hpp"

namespace pgas_test {

/// The world's context with the PE numbers of a team.
struct team_context : context {
  PGAS_FN team_context(const context& world, const test_team& team) : context(world) {
    detail::set_team(*this, team.view(world));
    copy_ = this;
  }
  team_context(const team_context&) = delete;
  team_context& operator=(const team_context&) = delete;
};

/// The next and the previous member of this PE in a ring.
PGAS_FN std::int32_t next_member(const context& ctx) { return (ctx.my_pe() + 1) % ctx.n_pes(); }
PGAS_FN std::int32_t last_member(const context& ctx) { return (ctx.my_pe() + ctx.n_pes() - 1) % ctx.n_pes(); }

/// An element of `Bytes` bytes with alignment `Alignment`.
template <std::size_t Bytes, std::size_t Alignment>
struct alignas(Alignment) packet {
  unsigned char b[Bytes];
};

template <class T>
PGAS_FN bool same_bytes(const T& a, const T& b) {
  const auto* const x = reinterpret_cast<const unsigned char*>(&a);
  const auto* const y = reinterpret_cast<const unsigned char*>(&b);
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    if (x[i] != y[i]) return false;
  }
  return true;
}

/// 64 pseudo-random bits.
PGAS_HD constexpr std::uint64_t mix64(std::uint32_t a, std::uint32_t b = 0, std::uint32_t c = 0) {
  return std::uint64_t{mix(a, b, c)} << 32 | mix(c, a, b);
}

/// Random bytes for PE `pe`.
template <class T>
std::vector<T> random_elements(int pe, std::size_t count) {
  std::vector<T> values(count);
  auto* const bytes = reinterpret_cast<unsigned char*>(values.data());
  for (std::size_t i = 0; i < count * sizeof(T); ++i)
    bytes[i] = static_cast<unsigned char>(mix(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(pe)));
  return values;
}

/// With checks on, runs a body in which PE 0 makes a wrong call. Then compares the record of the call with the expected
/// record.
template <class Body>
void expect_caught(pe_set& pes, const Body& body, detail::operation what, detail::failure why) {
  const std::vector<bool> gave_up = pes.run_out({1, 2}, body);
  ASSERT_TRUE(gave_up[0]);
  EXPECT_EQ(pes.control(0).record.what, what);
  EXPECT_EQ(pes.control(0).record.why, why);
}

}  // namespace pgas_test
