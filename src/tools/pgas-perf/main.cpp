/// @file
/// pgas-perf: measures pgas on this machine, row by row: bandwidth, latency and rates of operations in kernels, on
/// streams and from the host, of collectives, of joining and allocating. Every PE runs it; PE 0 prints.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "measure.hpp"
#include "options.hpp"
#include "pgas/pgas.hpp"
#include "report.hpp"

namespace {

using namespace pgas::perf;

/// *Errors* invalid_argument for a name without a row. Called before joining, as it would abort the world.
void expect_known_rows(const options& how) {
  const std::vector<row> all = all_rows(false);  // the rows for GPUs have the same names
  for (const std::string& pattern : how.rows) {
    if (std::ranges::none_of(all, [&](const row& r) { return matches(pattern, r); }))
      throw pgas::error(pgas::code::invalid_argument, fmt::format("there is no row {}: --list names them", pattern));
  }
}

/// The rows that match the command line, in the order of all_rows().
std::vector<row> chosen(const options& how, std::vector<row> all) {
  std::erase_if(all, [&](const row& r) {
    return std::ranges::none_of(how.rows, [&](const std::string& pattern) { return matches(pattern, r); });
  });
  return all;
}

/// Measures everything. Returns how many words were wrong, over all points.
std::uint64_t run(const options& how) {
  pgas::world w = pgas::world::join();
  const std::vector<row> every = all_rows(w.heap() == pgas::heap_kind::cuda);
  const std::vector<row> rows = chosen(how, every);
  std::vector<std::pair<const row*, point>> points;
  for (const row& each : rows) {
    for (const point& at : points_of(each, how, w)) points.emplace_back(&each, at);
  }
  if (points.empty())
    throw pgas::error(
        pgas::code::invalid_argument,
        fmt::format("nothing to measure: --pair {},{} needs more than {} PEs, or the rows have no such sizes",
                    how.pair[0], how.pair[1], w.n_pes()));
  benchmark_world s(w, how.most_bytes);
  const bool prints = w.my_pe() == 0;
  std::vector<result> all;
  if (prints) {
    table out(how, w, points.size());
    for (const auto& [r, at] : points) {
      out.progress(*r, at);
      out.add(all.emplace_back(measure(s, how, *r, at)));
    }
    if (!how.json.empty()) write_json(how, w, all);
  } else {
    for (const auto& [r, at] : points) all.push_back(measure(s, how, *r, at));
  }
  if (!how.plot.empty()) {
    const std::vector<pair_map> maps = measure_maps(s, how, every);
    if (prints) write_file(how.plot, drawing_of(all, maps));
  }
  std::uint64_t wrong = 0;
  for (const result& each : all) wrong += each.wrong;
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  options how;
  int status = 0;
  if (!read(how, argc, argv, status)) return status;
  try {
    if (how.list) {
      fmt::print("{}", list_of(all_rows(false)));
      return 0;
    }
    expect_known_rows(how);
    return run(how) == 0 ? 0 : 1;
  } catch (const pgas::error& failed) {
    fmt::print(stderr, "{}\n", failed.what());
    return 1;
  }
}
