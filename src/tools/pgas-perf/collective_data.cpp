#include "collective_data.hpp"

namespace pgas::perf {

namespace {

std::uint64_t total(const session& s, std::size_t i) {
  std::uint64_t sum = 0;
  for (int pe = 0; pe < s.of().n_pes(); ++pe) sum += s.source_word(pe, i);
  return sum;
}

}  // namespace

std::uint64_t reduce_wrong(session& s, const point&, const job& j) {
  return s.differing(j.target, j.count, [&](std::size_t i) { return total(s, i); });
}
std::uint64_t reduce_scatter_wrong(session& s, const point&, const job& j) {
  const std::size_t mine = share(s, j) * static_cast<std::size_t>(s.of().my_pe());
  return s.differing(j.target, share(s, j), [&](std::size_t i) { return total(s, mine + i); });
}
std::uint64_t broadcast_wrong(session& s, const point&, const job& j) {
  return s.differing(j.target, j.count, [&](std::size_t i) { return s.source_word(j.from, i); });
}
std::uint64_t fcollect_wrong(session& s, const point&, const job& j) {
  const std::size_t each = share(s, j);
  const auto n = static_cast<std::size_t>(s.of().n_pes());
  return s.differing(j.target, each * n,
                     [&](std::size_t i) { return s.source_word(static_cast<int>(i / each), i % each); });
}
std::uint64_t alltoall_wrong(session& s, const point&, const job& j) {
  const std::size_t each = share(s, j);
  const auto n = static_cast<std::size_t>(s.of().n_pes());
  const std::size_t mine = each * static_cast<std::size_t>(s.of().my_pe());
  return s.differing(j.target, each * n,
                     [&](std::size_t i) { return s.source_word(static_cast<int>(i / each), mine + i % each); });
}

}  // namespace pgas::perf
