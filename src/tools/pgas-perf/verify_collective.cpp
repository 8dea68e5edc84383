#include "verify_collective.hpp"

namespace pgas::perf {

namespace {

/// The sum of the first `pes` PEs' source words.
std::uint64_t total(const benchmark_world& s, std::size_t i, int pes) {
  std::uint64_t sum = 0;
  for (int pe = 0; pe < pes; ++pe) sum += s.source_word(pe, i);
  return sum;
}
std::uint64_t total(const benchmark_world& s, std::size_t i) { return total(s, i, s.world().n_pes()); }

}  // namespace

std::uint64_t reduce_wrong(benchmark_world& s, const point&, const job& j) {
  return s.differing(j.target, j.count, [&](std::size_t i) { return total(s, i); });
}
std::uint64_t reduce_scatter_wrong(benchmark_world& s, const point&, const job& j) {
  const std::size_t mine = share(s, j) * static_cast<std::size_t>(s.world().my_pe());
  return s.differing(j.target, share(s, j), [&](std::size_t i) { return total(s, mine + i); });
}
std::uint64_t reduce_to_root_wrong(benchmark_world& s, const point& at, const job& j) {
  return s.world().my_pe() == j.from ? reduce_wrong(s, at, j) : 0;
}
std::uint64_t inclusive_scan_wrong(benchmark_world& s, const point&, const job& j) {
  return s.differing(j.target, j.count, [&](std::size_t i) { return total(s, i, s.world().my_pe() + 1); });
}
std::uint64_t exclusive_scan_wrong(benchmark_world& s, const point&, const job& j) {
  return s.differing(j.target, j.count, [&](std::size_t i) { return total(s, i, s.world().my_pe()); });
}
std::uint64_t broadcast_wrong(benchmark_world& s, const point&, const job& j) {
  return s.differing(j.target, j.count, [&](std::size_t i) { return s.source_word(j.from, i); });
}
std::uint64_t fcollect_wrong(benchmark_world& s, const point&, const job& j) {
  const std::size_t each = share(s, j);
  const auto n = static_cast<std::size_t>(s.world().n_pes());
  return s.differing(j.target, each * n,
                     [&](std::size_t i) { return s.source_word(static_cast<int>(i / each), i % each); });
}
std::uint64_t collect_wrong(benchmark_world& s, const point&, const job& j) {
  std::uint64_t wrong = 0;
  const std::uint64_t* at = j.target;
  for (int pe = 0; pe < s.world().n_pes(); ++pe) {
    const std::size_t theirs = collected_from(j, pe, s.world().n_pes());
    wrong += s.differing(at, theirs, [&](std::size_t i) { return s.source_word(pe, i); });
    at += theirs;
  }
  return wrong;
}
std::uint64_t alltoall_wrong(benchmark_world& s, const point&, const job& j) {
  const std::size_t each = share(s, j);
  const auto n = static_cast<std::size_t>(s.world().n_pes());
  const std::size_t mine = each * static_cast<std::size_t>(s.world().my_pe());
  return s.differing(j.target, each * n,
                     [&](std::size_t i) { return s.source_word(static_cast<int>(i / each), mine + i % each); });
}

std::uint64_t alltoalls_wrong(benchmark_world& s, const point&, const job& j) {
  const auto n = static_cast<std::size_t>(s.world().n_pes());
  const std::size_t each = j.count / 2 / n;
  const std::size_t mine = each * static_cast<std::size_t>(s.world().my_pe());
  return s.differing(j.target, each * n,
                     [&](std::size_t i) { return s.source_word(static_cast<int>(i / each), 2 * (mine + i % each)); });
}

}  // namespace pgas::perf
