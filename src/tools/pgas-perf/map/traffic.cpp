#include "map/traffic.hpp"

#include <algorithm>
#include <bit>

#include "map/outliers.hpp"
#include "measure.hpp"

namespace pgas::perf {

namespace {

constexpr std::string_view all_pairs_row = "put_to_all_bw";

/// Whether several PEs write to the same target. Each of these PEs then writes into a separate slot of the target.
[[nodiscard]] bool has_slots(const traffic_step& step) {
  std::vector<int> targets;
  for (const int to : step.to)
    if (to >= 0) targets.push_back(to);
  std::ranges::sort(targets);
  return std::ranges::adjacent_find(targets) != targets.end();
}

}  // namespace

const std::vector<map_measure>& map_measures() {
  static const std::vector<map_measure> all{
      {"bandwidth", "put_bw", true, 1, false, true},
      {"latency", "signal_pp", false, 0.5, true, false},  // the row measures a round trip
      {"atomics", "atomic_fetch_add_lat", false, 1, false, false},
  };
  return all;
}

traffic_meter::traffic_meter(benchmark_world& s, const options& how, std::vector<row> rows)
    : s_(s), how_(how), rows_(std::move(rows)), whole_(s.prepare({.bytes = how.most_bytes}, -1, -1)) {}

const row& traffic_meter::row_of(std::string_view name) const {
  const auto found = std::ranges::find(rows_, name, &row::name);
  if (found == rows_.end()) throw error(code::invalid_argument, "pgas-perf has no row " + std::string(name));
  return *found;
}

std::string_view traffic_meter::unit_of(const map_measure& what) const { return perf::unit_of(row_of(what.row)); }

/// The point at which a row is measured. Bandwidths use all blocks and the largest size; latencies use one thread.
point traffic_meter::point_of(const row& r, const map_measure* what) const {
  options sized = how_;
  sized.least_bytes = how_.most_bytes;
  sized.pair = {0, 1};
  const std::vector<point> points = points_of(r, sized, s_.world());
  if (points.empty()) throw error(code::invalid_argument, "the size of --bytes is too small for this number of PEs");
  return what == nullptr || what->moves_data ? points.back() : points.front();
}

std::vector<double> traffic_meter::run(const row& r, const point& at, job each, const std::vector<bool>& counts,
                                       std::uint32_t& rounds) {
  const auto run_once = [&](std::uint32_t iterations) {
    each.iterations = iterations;
    s_.begin(each);
    std::vector<double> times;
    for (const std::uint64_t word : s_.gather(std::bit_cast<std::uint64_t>(r.run(s_, at, each))))
      times.push_back(std::bit_cast<double>(word));
    return times;  // gather() is a barrier, so all PEs have ended their part
  };
  const std::uint32_t iterations = enough_iterations(how_.milliseconds, [&](std::uint32_t n) {
    double longest = 0;
    const std::vector<double> times = run_once(n);
    for (std::size_t pe = 0; pe < times.size(); ++pe)
      if (counts[pe]) longest = std::max(longest, times[pe]);
    return longest;
  });
  std::vector<std::vector<double>> samples(counts.size());
  for (std::uint32_t i = 0; i < how_.repeats; ++i) {
    if (i + 1 == how_.repeats && at.bytes != 0) s_.poison(whole_);
    const std::vector<double> times = run_once(iterations);
    for (std::size_t pe = 0; pe < times.size(); ++pe) samples[pe].push_back(std::max(1.0, times[pe]) / iterations);
  }
  rounds = each.rounds();
  std::vector<double> medians;
  for (std::size_t pe = 0; pe < counts.size(); ++pe)
    medians.push_back(counts[pe] ? median_of(std::move(samples[pe])) : unmeasured);
  return medians;
}

step_figures traffic_meter::measure(const map_measure& what, const traffic_step& step) {
  const row& r = row_of(what.row);
  const point at = point_of(r, &what);
  const auto me = static_cast<std::size_t>(s_.world().my_pe());
  const bool slots = has_slots(step) && what.moves_data;

  job each = whole_;
  each.warmup = how_.warmup;
  if (step.to[me] >= 0) {
    each.from = static_cast<std::int32_t>(me);
    each.to = step.to[me];
  } else if (what.only_pairs) {  // the other PE of the pair also takes part
    for (std::size_t pe = 0; pe < step.to.size(); ++pe) {
      if (step.to[pe] != static_cast<int>(me)) continue;
      each.from = static_cast<std::int32_t>(pe);
      each.to = static_cast<std::int32_t>(me);
    }
  }
  if (slots) {
    each.count = std::max<std::size_t>(1, whole_.count / step.to.size());
    each.target += each.count * me;
  }

  std::vector<bool> counts;
  for (const int to : step.to) counts.push_back(to >= 0);
  std::uint32_t rounds = 0;
  step_figures found{run(r, at, each, counts, rounds), 0};
  for (double& figure : found.by_pe)
    figure = what.more_is_better ? what.from_row * 8 * static_cast<double>(each.count) / figure
                                 : what.from_row * figure / 1e3;

  std::uint64_t wrong = 0;
  const auto sources = static_cast<std::uint64_t>(std::ranges::count(step.to, static_cast<int>(me)));
  if (what.moves_data) {
    wrong = data_wrong(step, slots ? each.count : 0);
  } else {
    const std::uint64_t ends = sources + (what.only_pairs && step.to[me] >= 0 ? 1 : 0);
    wrong = s_.word(whole_.signals) == ends * rounds ? 0 : 1;
  }
  found.wrong = s_.sum(wrong);
  return found;
}

/// The number of this PE's words that differ from the data of the step.
std::uint64_t traffic_meter::data_wrong(const traffic_step& step, std::size_t slot_words) const {
  std::uint64_t wrong = 0;
  for (std::size_t pe = 0; pe < step.to.size(); ++pe) {
    if (step.to[pe] != s_.world().my_pe()) continue;
    const std::size_t count = slot_words != 0 ? slot_words : whole_.count;
    wrong += s_.differing(whole_.target + slot_words * pe, count,
                          [&](std::size_t i) { return s_.source_word(static_cast<int>(pe), i); });
  }
  return wrong;
}

step_figures traffic_meter::measure_all_pairs() {
  const row& r = row_of(all_pairs_row);
  const point at = point_of(r, nullptr);
  job each = whole_;
  each.warmup = how_.warmup;
  std::uint32_t rounds = 0;
  const std::vector<bool> counts(static_cast<std::size_t>(s_.world().n_pes()), true);
  step_figures found{run(r, at, each, counts, rounds), 0};
  for (double& figure : found.by_pe) figure = r.work(s_, at) / figure;
  found.wrong = s_.sum(r.wrong(s_, at, each));
  return found;
}

}  // namespace pgas::perf
