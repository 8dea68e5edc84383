/// @file
/// Makes teams of the PEs of a pe_set, with any members in any order. For kernels, these teams look like the teams of
/// the host library. The file also has the list of teams with which tests of collectives run, and poisoned memory for
/// these tests.
#pragma once

#include <string>
#include <vector>

#include "harness.hpp"

namespace pgas_test {

/// A team as the argument of a body.
struct test_team {
  std::int32_t start;
  std::int32_t stride;
  std::int32_t n;
  std::int32_t listed;
  std::uint64_t state;

  static constexpr std::int32_t channels = 4;

  /// The team as this PE sees it; my_pe() is -1 on PEs that are not members.
  PGAS_FN team_view view(const context& ctx) const {
    team_view view;
    view.start_ = start;
    view.stride_ = stride;
    view.n_pes_ = n;
    view.n_channels_ = channels;
    view.state_offset_ = state;
    if (listed != 0) {
      view.members_ =
          reinterpret_cast<const std::int32_t*>(ctx.my_slot_ + state + detail::team_state_layout::list(n, channels));
    }
    view.my_pe_ = view.member(ctx.my_pe());
    return view;
  }
};

/// Makes the state of a team of these PEs in this order.
/// @param as_list stores a list of members even if they are evenly spaced
inline test_team make_team(pe_set& pes, const std::vector<std::int32_t>& members, bool as_list = false) {
  const auto n = static_cast<std::int32_t>(members.size());
  const std::int32_t stride = n > 1 ? members[1] - members[0] : 1;
  for (std::int32_t i = 0; i < n; ++i) {
    if (members[static_cast<std::size_t>(i)] != members[0] + i * stride) as_list = true;
  }
  const std::uint64_t bytes = detail::team_state_layout::bytes(n, test_team::channels, as_list);
  const sym<std::byte> state = pes.allocate<std::byte>(bytes);
  if (as_list) {
    for (int pe = 0; pe < pes.n_pes(); ++pe) {
      pes.write(pe, sym<std::int32_t>{state.offset + detail::team_state_layout::list(n, test_team::channels)},
                members.data(), members.size());
    }
  }
  write_plans(pes, members, state.offset, test_team::channels);
  return {members[0], stride, n, as_list ? 1 : 0, state.offset};
}

/// A team that a test makes: `members` are some of `n_pes` PEs, in the order of the team.
struct team_shape {
  std::string name;
  int n_pes;
  std::vector<std::int32_t> members;
  bool as_list = false;
};

/// The teams with which every collective is tested.
inline std::vector<team_shape> team_shapes() {
  return {{"world of 1", 1, {0}},
          {"world of 2", 2, {0, 1}},
          {"world of 3", 3, {0, 1, 2}},
          {"every second of 4", 4, {1, 3}},
          {"one of 3", 3, {2}},
          {"4 in reverse order", 4, {3, 2, 1, 0}, true},
          {"5 of 7 in any order", 7, {6, 0, 3, 2, 5}},
          {"world of 8", 8, {0, 1, 2, 3, 4, 5, 6, 7}}};
}
/// A few of the teams, for tests that take longer.
inline std::vector<team_shape> few_team_shapes() {
  return {{"world of 2", 2, {0, 1}}, {"3 of 4 in any order", 4, {2, 3, 0}}};
}

/// The groups of one block.
inline std::vector<grid_shape> blocks() {
  std::vector<grid_shape> all;
  for (const grid_shape& shape : grids()) {
    if (shape.blocks == 1) all.push_back(shape);
  }
  return all;
}

/// `count` elements of every PE's heap between two guards. Elements and guards are poisoned at the start. The first
/// element lies `shift` elements after a boundary of 16 bytes.
template <class T>
class guarded {
 public:
  guarded(pe_set& pes, std::size_t count, std::size_t shift)
      : pes_(pes), lead_(guard + shift * sizeof(T)), count_(count) {
    whole_ = pes.allocate<unsigned char>(lead_ + count * sizeof(T) + guard);
    for (int pe = 0; pe < pes.n_pes(); ++pe) pes.fill(pe, whole_, poison, lead_ + count * sizeof(T) + guard);
  }
  [[nodiscard]] sym<T> place() const { return {whole_.offset + lead_}; }

  void write(int pe, const std::vector<T>& values) {
    if (!values.empty()) pes_.write(pe, place(), values.data(), values.size());
  }
  [[nodiscard]] std::vector<T> read(int pe) const {
    std::vector<T> values(count_);
    if (count_ != 0) pes_.read(pe, place(), values.data(), count_);
    return values;
  }
  /// Elements that no PE should have written.
  [[nodiscard]] static std::vector<T> untouched(std::size_t count) {
    std::vector<T> values(count);
    if (count != 0) std::memset(static_cast<void*>(values.data()), poison, count * sizeof(T));
    return values;
  }
  /// Whether the guards around the elements are unchanged.
  [[nodiscard]] bool guards_hold(int pe) const {
    std::vector<unsigned char> all(lead_ + count_ * sizeof(T) + guard);
    pes_.read(pe, whole_, all.data(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((i < lead_ || i >= lead_ + count_ * sizeof(T)) && all[i] != poison) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t guard = 512;
  static constexpr unsigned char poison = 0xa5;
  pe_set& pes_;
  std::size_t lead_;
  std::size_t count_;
  sym<unsigned char> whole_{};
};

/// Whether two arrays are equal bit for bit.
template <class T>
[[nodiscard]] bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}
/// The index of the first element in which `a` and `b` differ. If they are equal, the number of elements.
template <class T>
[[nodiscard]] std::size_t first_difference(const std::vector<T>& a, const std::vector<T>& b) {
  std::size_t i = 0;
  while (i < a.size() && std::memcmp(&a[i], &b[i], sizeof(T)) == 0) ++i;
  return i;
}

}  // namespace pgas_test
