#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "host/exchange/collective_step.hpp"
#include "host/topology/find_domains.hpp"
#include "host/world/world_state.hpp"
#include "pgas/pgas.hpp"
#include "tools/pgas-doctor/mapped_segment.hpp"
#include "tools/pgas-doctor/world_checks.hpp"

namespace pgas::doctor {

namespace {

using timer = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr double long_join = 5;  // in seconds
constexpr std::size_t words = 512;

std::uint64_t pattern(int from, int to, std::size_t i) {
  return (static_cast<std::uint64_t>(from) << 48) ^ (static_cast<std::uint64_t>(to) << 32) ^ (i * 0x9e3779b97f4a7c15U);
}

/// Collective: a text with the failures of all PEs. Empty if no PE failed.
std::string gather_problems(world& joined, const std::string& mine) {
  std::string text;
  const std::string told = mine.substr(0, 2000);
  const auto all = joined.state().control_plane().all_gather(std::as_bytes(std::span(told)));
  for (std::size_t pe = 0; pe < all.size(); ++pe) {
    const auto* const first = reinterpret_cast<const char*>(all[pe].bytes.data());
    if (!all[pe].bytes.empty())
      text += fmt::format("{}PE {}: {}", text.empty() ? "" : "; ", pe, std::string_view(first, all[pe].bytes.size()));
  }
  return text;
}

/// Runs `step`. Returns the error that the step throws, as text; empty if it throws none.
template <class Step>
std::string problem_of(Step&& step) {
  try {
    step();
  } catch (const error& why) {
    return why.what();
  }
  return {};
}

void add_one(detail::device& on, std::uint64_t* word) {
  detail::operation_request add;
  add.what = detail::operation_request::kind::atomic;
  add.how = detail::atomic_update::add;
  add.to = word;
  add.value[0] = 1;
  static_cast<void>(on.fetch(add));
}

/// Collective: tries one kind of handle between all direct peers. Empty if the kind works on all PEs.
std::string share_by(world& joined, handle_kind kind) {
  detail::world_state& state = joined.state();
  detail::device& on = state.device();
  const detail::control_group& everyone = state.control_plane();
  const std::size_t bytes = on.granularity();
  const int me = everyone.my_pe();
  std::optional<mapped_segment> own;
  detail::step_result mine;
  mine.call = {detail::collective_step::kind::probe, 0, bytes, 0, 0};
  std::string problem = problem_of([&] {
    own.emplace(on, on.create(bytes, kind), kind, bytes);
    on.fill(own->words(), 0, bytes, nullptr);
    on.synchronize(nullptr);
    mine.handle = on.export_segment(own->id());
  });
  if (!problem.empty()) mine.failure = error(code::handle_exchange, problem, me);
  std::vector<detail::step_result> all = detail::exchange(everyone, mine);
  mine.handle.fd.reset();
  int sharers = 0;
  for (int pe = 0; pe < everyone.n_pes(); ++pe) {
    detail::step_result& theirs = all[static_cast<std::size_t>(pe)];
    if (pe == me || theirs.failure || !problem.empty() || !joined.pe(pe).direct) continue;
    ++sharers;
    problem = problem_of([&] {
      if (theirs.fds_lost) throw error(code::system, "a descriptor was lost: raise the limit (ulimit -n)");
      const mapped_segment foreign(on, on.import_segment(theirs.handle, bytes), theirs.handle.kind, bytes);
      const std::uint64_t value = pattern(me, pe, 0);
      on.copy(foreign.words() + 1 + me, &value, sizeof value, nullptr);
      on.synchronize(nullptr);
      add_one(on, foreign.words());
    });
    if (!problem.empty()) problem = fmt::format("memory of PE {}: {}", pe, problem);
  }
  everyone.barrier();
  if (problem.empty() && own) {
    std::vector<std::uint64_t> seen(1 + static_cast<std::size_t>(everyone.n_pes()));
    on.copy(seen.data(), own->words(), seen.size() * sizeof seen[0], nullptr);
    on.synchronize(nullptr);
    if (seen[0] != static_cast<std::uint64_t>(sharers)) problem = "atomic updates of other PEs were lost";
    for (int pe = 0; pe < everyone.n_pes(); ++pe)
      if (pe != me && joined.pe(pe).direct && !all[static_cast<std::size_t>(pe)].failure &&
          seen[1 + static_cast<std::size_t>(pe)] != pattern(pe, me, 0))
        problem = fmt::format("the data that PE {} stored is missing", pe);
  }
  everyone.barrier();
  own.reset();
  return gather_problems(joined, problem);
}

}  // namespace

row row_of_failure(const error& why) {
  std::string_view fix;
  for (const error_info& each : error_table())
    if (each.code == why.code()) fix = each.fix;
  return {"joining", verdict::fails, why.what(), "a program that joins gets this error", std::string(fix)};
}

row check_sharing(world& joined) {
  detail::world_state& state = joined.state();
  std::vector<handle_kind> kinds = state.device().handle_kinds();
  const handle_kind asked = joined.settings().mem_handle;
  if (std::ranges::find(kinds, asked) == kinds.end() && state.device().places(asked)) kinds.push_back(asked);
  // All PEs offer the same kinds, because a world has one kind of device.
  std::string works;
  std::string refused;
  for (const handle_kind kind : kinds) {
    const std::string why = share_by(joined, kind);
    if (why.empty())
      works += fmt::format("{}{}", works.empty() ? "" : ", ", detail::to_string(kind));
    else
      refused += fmt::format("; {} does not: {}", detail::to_string(kind), why);
  }
  bool direct = false;
  for (int pe = 0; pe < joined.n_pes(); ++pe) direct = direct || (pe != joined.my_pe() && joined.pe(pe).direct);
  if (!direct && joined.n_pes() > 1) return {"sharing", verdict::ok, "no two PEs are configured to share memory"};
  if (!works.empty())
    return {"sharing", verdict::ok,
            fmt::format("{}: exported, imported, mapped, stored to, updated{}{}", works,
                        joined.n_pes() > 1 ? " between PEs" : "", refused)};
  return {"sharing", verdict::fails, refused.substr(std::min<std::size_t>(2, refused.size())),
          "the heap can't grow, and no other memory can be shared", "PGAS_MEM_HANDLE=auto"};
}

row check_access(world& joined) {
  const int me = joined.my_pe();
  const int n = joined.n_pes();
  const auto per_pe = static_cast<std::size_t>(n) * words;
  std::string problem;
  {
    symmetric<std::uint64_t> data = joined.allocate<std::uint64_t>(per_pe, initialize::zero);
    symmetric<std::uint64_t> counter = joined.allocate<std::uint64_t>(1, memory_hint::signal_remote, initialize::zero);
    std::vector<std::uint64_t> local(words);
    for (int pe = 0; pe < n && problem.empty(); ++pe) {
      for (std::size_t i = 0; i < words; ++i) local[i] = pattern(me, pe, i);
      problem = problem_of([&] {
        put(joined, data.data() + static_cast<std::size_t>(me) * words, local.data(), words, pe);
        static_cast<void>(atomic_fetch_add(joined, counter.data(), std::uint64_t{1}, pe));
      });
      if (!problem.empty()) problem = fmt::format("put or atomic to PE {}: {}", pe, problem);
    }
    joined.barrier_all();
    for (int pe = 0; pe < n && problem.empty(); ++pe) {
      problem = problem_of([&] {
        get(joined, local.data(), data.data() + static_cast<std::size_t>(pe) * words, words, me);
        for (std::size_t i = 0; i < words; ++i)
          if (local[i] != pattern(pe, me, i))
            throw error(code::device_failed, fmt::format("the data that PE {} put is wrong", pe));
        get(joined, local.data(), data.data() + static_cast<std::size_t>(me) * words, words, pe);
        for (std::size_t i = 0; i < words; ++i)
          if (local[i] != pattern(me, pe, i))
            throw error(code::device_failed, fmt::format("the data got from PE {} is wrong", pe));
      });
    }
    if (problem.empty())
      problem = problem_of([&] {
        if (g(joined, counter.data(), me) != static_cast<std::uint64_t>(n))
          throw error(code::device_failed, "atomic updates were lost");
        barrier(joined.team(), joined.stream());  // this barrier runs a kernel on every PE
        joined.synchronize();
      });
    problem = gather_problems(joined, problem);
  }
  if (problem.empty())
    return {"access", verdict::ok,
            fmt::format("put, get, atomics and a barrier between {} PE{}, data correct", n, n == 1 ? "" : "s")};
  return {"access", verdict::fails, problem, "programs get wrong data or errors",
          "PGAS_CHECKS=1 PGAS_LOG=debug names the operation; please report it where the data is wrong"};
}

row check_turns(const world& joined) {
  std::vector<int> pes;
  for (int pe = 0; pe < joined.n_pes(); ++pe)
    if (joined.pe(pe).time_sliced) pes.push_back(pe);
  if (pes.empty()) return {"shared GPUs", verdict::ok, "no PE has to wait for another one's kernels"};
  return {"shared GPUs", verdict::slow, name_pes(pes) + " share a GPU with another process, without MPS",
          "the GPU time-slices their kernels: a kernel that waits for a PE of the same GPU takes milliseconds",
          "nvidia-cuda-mps-control -d, or as many PEs as GPUs"};
}

std::vector<row> check_world(const job& all, const config& settings, std::unique_ptr<bootstrap> exchange,
                             const request& how, journal& out, std::vector<pair_route>& pairs) {
  std::vector<row> rows;
  const auto began = timer::now();
  try {
    out.begin("joining", settings.join_timeout + step_limit);
    world joined = world::join(std::move(exchange), settings);
    const double seconds = std::chrono::duration<double>(timer::now() - began).count();
    const std::string found = fmt::format("{} PE{} in {:.2g} s", all.n(), all.n() == 1 ? "" : "s", seconds);
    rows.push_back(seconds < long_join
                       ? row{"joining", verdict::ok, found}
                       : row{"joining", verdict::slow, found, "programs start late",
                             "PGAS_LOG=debug shows which step takes long; persistence mode on GPUs: nvidia-smi -pm 1"});
    out.begin("sharing memory", step_limit);
    rows.push_back(check_sharing(joined));
    if (joined.heap() == heap_kind::cuda) rows.push_back(check_turns(joined));
    out.begin("putting, getting, updating", step_limit);
    rows.push_back(check_access(joined));
    if (all.n() > 1) {
      out.begin("measuring routes", 4 * step_limit);
      pairs = measure_routes(joined, how);
      for (row& each : judge_routes(pairs, all, settings, joined.heap() == heap_kind::cuda))
        rows.push_back(std::move(each));
    }
    out.begin("leaving", step_limit);
    joined.leave();
  } catch (const error& why) {
    if (rows.empty()) return {row_of_failure(why)};
    row failed = row_of_failure(why);
    failed.name = "access";
    rows.push_back(std::move(failed));
    return rows;
  }
  if (all.me != 0) rows.clear();
  return rows;
}

}  // namespace pgas::doctor
