#include "map/map_run.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <set>

#include "map/gpu_link.hpp"
#include "pgas/collective.hpp"

namespace pgas::perf {

namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start) { return std::chrono::duration<double>(clock::now() - start).count(); }

/// One step of the measurement: a measure in a pattern. A step of pattern::all has no measure and no targets.
struct planned_step {
  const map_measure* what = nullptr;
  traffic_step traffic;
};

/// Patterns with few steps come first. A time limit then shortens only the last pattern, "alone", and omits no pattern.
std::vector<planned_step> plan(const map_options& how, int n) {
  const auto wants = [&](pattern in) { return std::ranges::find(how.patterns, name_of(in)) != how.patterns.end(); };
  const auto measured = [&](std::string_view name) {
    return std::ranges::find(how.measures, name) != how.measures.end();
  };
  std::vector<planned_step> steps;
  if (n < 2) return steps;
  if (wants(pattern::all) && measured("bandwidth")) steps.push_back({nullptr, {pattern::all, {}}});
  for (const pattern in : {pattern::shift, pattern::incast, pattern::alone}) {
    if (!wants(in)) continue;
    for (const traffic_step& traffic : steps_of(in, n, how.quick))
      for (const map_measure& what : map_measures())
        if (measured(what.name) && (in == pattern::alone || !what.only_pairs)) steps.push_back({&what, traffic});
  }
  return steps;
}

std::string text_of(const planned_step& step) {
  if (step.what == nullptr) return "bandwidth, all to all";
  const std::string text = fmt::format("{} {}", step.what->name, name_of(step.traffic.in));
  if (step.traffic.in == pattern::shift) return fmt::format("{} by {}", text, step.traffic.to.front());
  for (std::size_t pe = 0; pe < step.traffic.to.size(); ++pe) {
    if (step.traffic.to[pe] < 0) continue;
    return step.traffic.in == pattern::incast ? fmt::format("{}, into PE {}", text, step.traffic.to[pe])
                                              : fmt::format("{}, PE {} -> PE {}", text, pe, step.traffic.to[pe]);
  }
  return text;
}

/// Gathers words of each PE on all PEs.
square<std::uint64_t> gather_words(world& w, const std::vector<std::uint64_t>& mine) {
  const auto n = static_cast<std::size_t>(w.n_pes());
  const symmetric<std::uint64_t> words = w.allocate<std::uint64_t>(mine.size() * (n + 1));
  std::uint64_t* const all = words.data() + mine.size();
  put(w, words.data(), mine.data(), mine.size(), w.my_pe());
  w.barrier_all();
  fcollect(w.team(), all, words.data(), mine.size());
  square<std::uint64_t> found(n, std::vector<std::uint64_t>(mine.size()));
  for (std::size_t pe = 0; pe < n; ++pe) get(w, found[pe].data(), all + pe * mine.size(), mine.size(), w.my_pe());
  w.barrier_all();
  return found;
}

// Routes as numbers, which can be gathered. Each PE knows only its own routes.
constexpr std::uint64_t proxied = 1;
constexpr std::uint64_t other_host = 2;
constexpr std::uint64_t same_gpu = 4;
constexpr std::uint64_t by_nvlink = 8;
constexpr std::uint64_t by_pcie = 16;

std::string kind_of(std::uint64_t route) {
  return fmt::format("{}, {}", (route & proxied) != 0 ? "proxied" : "direct",
                     (route & other_host) != 0 ? "other host"
                     : (route & same_gpu) != 0 ? "same GPU"
                                               : "same host");
}

using core_set = std::array<std::uint64_t, sizeof(cpu_set_t) / sizeof(std::uint64_t)>;

/// The cores that this process may use. Empty if the system does not report them.
core_set own_cores() {
  cpu_set_t cores;
  core_set words{};
  if (::sched_getaffinity(0, sizeof cores, &cores) == 0) std::memcpy(words.data(), &cores, sizeof cores);
  return words;
}

/// The reason why figures of the host heap depend on the scheduler; empty if the figures do not depend on it. PE 0's
/// host represents all hosts.
/// @param cores the cores of each PE, from the word `first` on
std::string crowding_of(const world_map& map, const square<std::uint64_t>& words, std::size_t first) {
  core_set all{};
  std::size_t pes = 0;
  for (std::size_t pe = 0; pe < map.size(); ++pe) {
    if (map.pes[pe].host != map.pes.front().host) continue;
    ++pes;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] |= words[pe][first + i];
  }
  std::size_t cores = 0;
  for (const std::uint64_t word : all) cores += static_cast<std::size_t>(std::popcount(word));
  if (map.heap != "host" || cores == 0 || pes <= cores) return {};
  return fmt::format("{} PEs share {} CPU core{}: what runs together is timed by the scheduler", pes, cores,
                     cores == 1 ? "" : "s");
}

/// The map that contains the step's figures. The map is made when it gets its first figure.
pair_map& map_for(world_map& map, const planned_step& step, std::string_view unit) {
  for (pair_map& each : map.maps)
    if (each.measure == step.what->name && each.in == name_of(step.traffic.in)) return each;
  return map.maps.emplace_back(pair_map{std::string(step.what->name), std::string(name_of(step.traffic.in)),
                                        std::string(unit), step.what->more_is_better,
                                        make_square(map.size(), unmeasured)});
}

/// Sorts the maps in the order for readers, which differs from the order of measurement.
void sort_maps(world_map& map) {
  const auto place = [](const pair_map& each) {
    const auto measure = std::ranges::find(map_measures(), std::string_view(each.measure), &map_measure::name);
    return std::pair(each.in == "alone" ? 0 : each.in == "shift" ? 1 : 2, measure - map_measures().begin());
  };
  std::ranges::sort(map.maps, {}, place);
}

}  // namespace

map_estimate estimate(const map_options& how, int n_pes) {
  constexpr double overhead_ms = 5;    // the time of a step for overwriting, checking and barriers
  constexpr double runs_to_probe = 1;  // the number of runs that determine the number of iterations
  constexpr double least_ms = 0.1;
  map_estimate found;
  found.steps = plan(how, n_pes).size();
  const double runs = how.repeats + runs_to_probe;
  const double ms_by_step = how.limit_seconds * 1e3 / static_cast<double>(std::max<std::size_t>(1, found.steps));
  found.milliseconds =
      std::clamp((ms_by_step - overhead_ms) / runs, std::min(least_ms, how.milliseconds), how.milliseconds);
  found.seconds = static_cast<double>(found.steps) * (found.milliseconds * runs + overhead_ms) / 1e3;
  return found;
}

world_map describe_world(world& w, const map_options& how) {
  const auto n = static_cast<std::size_t>(w.n_pes());
  world_map map;
  map.version = PGAS_PERF_VERSION;
  map.heap = w.heap() == heap_kind::cuda ? "cuda" : "host";
  map.quick = how.quick;
  map.bytes = how.bytes != 0 ? how.bytes / 8 * 8 : std::size_t{w.heap() == heap_kind::cuda ? 16U : 4U} << 20;
  const gpu_links links;
  const pe_info& self = w.pe(w.my_pe());
  std::vector<std::uint64_t> mine;
  for (int pe = 0; pe < w.n_pes(); ++pe) {
    const pe_info& other = w.pe(pe);
    map.pes.push_back({other.host, other.device});
    std::uint64_t route = (other.direct ? 0 : proxied) | (other.host == self.host ? 0 : other_host);
    link_peak peak;
    if (w.heap() == heap_kind::cuda && other.device_uuid == self.device_uuid) route |= same_gpu;
    if (route == 0 && w.heap() == heap_kind::cuda) peak = links.between(self.device_uuid, other.device_uuid);
    if (!std::isnan(peak.gb_per_s)) route |= peak.source == "NVLink" ? by_nvlink : by_pcie;
    mine.insert(mine.end(), {route, std::bit_cast<std::uint64_t>(peak.gb_per_s)});
  }
  const std::size_t cores_at = mine.size();
  const core_set cores = own_cores();
  mine.insert(mine.end(), cores.begin(), cores.end());
  const square<std::uint64_t> all = gather_words(w, mine);
  map.note = crowding_of(map, all, cores_at);
  map.kinds = make_square(n, std::string());
  map.links = map.kinds;
  map.peaks = make_square(n, unmeasured);
  for (std::size_t from = 0; from < n; ++from) {
    for (std::size_t to = 0; to < n; ++to) {
      if (from == to) continue;
      const std::uint64_t route = all[from][2 * to];
      map.kinds[from][to] = kind_of(route);
      map.peaks[from][to] = std::bit_cast<double>(all[from][2 * to + 1]);
      map.links[from][to] = (route & by_nvlink) != 0 ? "NVLink" : (route & by_pcie) != 0 ? "PCIe" : "";
    }
  }
  return map;
}

map_outcome measure_map(world& w, const map_options& how, const std::function<bool()>& interrupted,
                        const std::function<void(const map_progress&)>& progress) {
  const clock::time_point start = clock::now();
  map_outcome found{describe_world(w, how), false};
  world_map& map = found.map;
  const std::vector<planned_step> steps = plan(how, w.n_pes());
  if (steps.empty()) return found;
  options of_rows;
  of_rows.most_bytes = map.bytes;
  of_rows.repeats = how.repeats;
  of_rows.warmup = 2;  // few iterations, because a map has many steps, and all buffers are warm after the first steps
  of_rows.milliseconds = estimate(how, w.n_pes()).milliseconds;
  benchmark_world s(w, map.bytes);
  traffic_meter meter(s, of_rows, all_rows(w.heap() == heap_kind::cuda));

  for (std::size_t i = 0; i < steps.size(); ++i) {
    const planned_step& step = steps[i];
    if (w.my_pe() == 0) {
      const double so_far = seconds_since(start);
      const double left = i == 0 ? estimate(how, w.n_pes()).seconds
                                 : so_far / static_cast<double>(i) * static_cast<double>(steps.size() - i);
      progress({i, steps.size(), text_of(step), std::min(left, how.limit_seconds - so_far)});
    }
    step_figures figures = step.what == nullptr ? meter.measure_all_pairs() : meter.measure(*step.what, step.traffic);
    map.wrong += figures.wrong;
    ++map.measured_steps;
    if (step.what == nullptr) {
      map.all_pairs = std::move(figures.by_pe);
    } else {
      pair_map& into = map_for(map, step, meter.unit_of(*step.what));
      for (std::size_t pe = 0; pe < step.traffic.to.size(); ++pe)
        if (step.traffic.to[pe] >= 0)
          into.figures[pe][static_cast<std::size_t>(step.traffic.to[pe])] = figures.by_pe[pe];
    }
    // Any PE may ask to end, and only PE 0 compares the time with the limit. The sum is collective, so all PEs end
    // after the same step.
    constexpr std::uint64_t late = std::uint64_t{1} << 32;
    const std::uint64_t wishes =
        s.sum((interrupted() ? 1 : 0) + (w.my_pe() == 0 && seconds_since(start) > how.limit_seconds ? late : 0));
    found.interrupted = wishes % late != 0;
    if (wishes == 0) continue;
    map.skipped_steps = steps.size() - i - 1;
    break;
  }
  sort_maps(map);
  map.seconds = seconds_since(start);
  return found;
}

}  // namespace pgas::perf
