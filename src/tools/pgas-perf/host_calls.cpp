// Rows that the host measures: its calls, calls on a stream, joining, allocating, and the memory that a PE uses.
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "benchmark_list.hpp"
#include "pgas/pgas.hpp"
#include "verify_collective.hpp"

namespace pgas::perf {

namespace {

using std::chrono::steady_clock;

double since(steady_clock::time_point start) {
  return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(steady_clock::now() - start).count());
}

/// The nanoseconds of the iterations after the warm-up, including `finish()`.
template <class Once, class Finish>
double timed(const job& j, const Once& once, const Finish& finish) {
  steady_clock::time_point start;
  for (std::uint32_t i = 0; i < j.rounds(); ++i) {
    if (i == j.warmup) {
      finish();
      start = steady_clock::now();
    }
    once();
  }
  finish();
  return since(start);
}

/// A row::run that calls `once(world, job)` on the first PE of the pair and `finish(world)` at the end.
template <class Once, class Finish>
auto from_one(const Once& once, const Finish& finish) {
  return [once, finish](benchmark_world& s, const point&, const job& j) {
    if (s.world().my_pe() != j.from) return 0.0;
    return timed(
        j, [&] { once(s.world(), j); }, [&] { finish(s.world()); });
  };
}

/// A row::run that calls `once(world, job)` and `finish(world)` on all PEs.
template <class Once, class Finish>
auto from_all(const Once& once, const Finish& finish) {
  return [once, finish](benchmark_world& s, const point&, const job& j) {
    return timed(
        j, [&] { once(s.world(), j); }, [&] { finish(s.world()); });
  };
}

constexpr auto nothing = [](world&) {};
constexpr auto quiet_all = [](world& w) { quiet(w); };
constexpr auto stream_done = [](world& w) { w.synchronize(); };

double bytes(const benchmark_world&, const point& at) { return static_cast<double>(at.bytes); }
double one(const benchmark_world&, const point&) { return 1; }

std::uint64_t put_wrong(benchmark_world& s, const point&, const job& j) {
  if (s.world().my_pe() != j.to) return 0;
  return s.differing(j.target, j.count, [&](std::size_t i) { return s.source_word(j.from, i); });
}
std::uint64_t get_wrong(benchmark_world& s, const point&, const job& j) {
  if (s.world().my_pe() != j.from) return 0;
  return s.differing(j.target, j.count, [&](std::size_t i) { return s.source_word(j.to, i); });
}
std::uint64_t none_wrong(benchmark_world&, const point&, const job&) { return 0; }

/// Joins another world of the same PEs; only joining is timed.
double join_again(benchmark_world& s, const point&, const job& j) {
  double total = 0;
  for (std::uint32_t i = 0; i < j.rounds(); ++i) {
    s.barrier();
    const auto start = steady_clock::now();
    world other = world::join(s.world().settings());
    if (i >= j.warmup) total += since(start);
    other.leave();
  }
  return total;
}

/// Measures the first allocation of a world, in which the PEs create memory, exchange handles and map the memory.
double allocate_first(benchmark_world& s, const point& at, const job& j) {
  double total = 0;
  for (std::uint32_t i = 0; i < j.rounds(); ++i) {
    world other = world::join(s.world().settings());
    other.barrier_all();
    const auto start = steady_clock::now();
    void* const made = other.allocate_bytes(at.bytes);
    if (i >= j.warmup) total += since(start);
    other.free(made);
    other.leave();
  }
  return total;
}

double allocate_again(benchmark_world& s, const point& at, const job& j) {
  return timed(
      j, [&] { s.world().free(s.world().allocate_bytes(at.bytes)); }, [] {});
}

/// The resident memory of this process.
double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double all = 0;
  double resident = 0;
  file >> all >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double process_memory(benchmark_world& s, const point&, const job&) {
  const double before = resident_bytes();
  const world other = world::join(s.world().settings());
  return resident_bytes() - before;
}

double heap_memory(benchmark_world& s, const point&, const job&) {
  const world other = world::join(s.world().settings());
  return static_cast<double>(other.usage().mapped);
}

}  // namespace

std::vector<row> host_rows() {
  constexpr std::size_t most_collective = std::size_t{1} << 24;
  const auto row_of = [](std::string_view name, std::string_view about, figure is, bool sized, bool pair, auto run,
                         auto wrong, std::size_t most = no_limit) {
    return row{name,
               about,
               is,
               shape::host,
               sized ? std::size_t{8} : 0,
               sized ? most : 0,
               pair,
               is == figure::bandwidth ? bytes : one,
               run,
               wrong,
               true};
  };
  const auto slow = [](std::string_view name, std::string_view about, figure is, std::size_t least_bytes, auto run) {
    return row{name,  about, is,  shape::host, least_bytes, least_bytes == 0 ? 0 : no_limit,
               false, one,   run, none_wrong,  true,        true};
  };
  const auto put_later = [](world& w, const job& j) { put_nbi(w, j.target, j.source, j.count, j.to); };
  const auto get_later = [](world& w, const job& j) { get_nbi(w, j.target, j.source, j.count, j.to); };
  const auto put_now = [](world& w, const job& j) { put(w, j.target, j.source, j.count, j.to); };
  const auto get_now = [](world& w, const job& j) { get(w, j.target, j.source, j.count, j.to); };
  const auto put_on_stream = [](world& w, const job& j) { put(w, w.stream(), j.target, j.source, j.count, j.to); };
  std::vector<row> all = {
      row_of("host_put_bw", "put_nbi of the host, quiet at the end", figure::bandwidth, true, true,
             from_one(put_later, quiet_all), put_wrong),
      row_of("host_get_bw", "get_nbi of the host, quiet at the end", figure::bandwidth, true, true,
             from_one(get_later, quiet_all), get_wrong),
      row_of("host_put_lat", "put of the host: complete on return", figure::latency, true, true,
             from_one(put_now, nothing), put_wrong, most_collective),
      row_of("host_get_lat", "get of the host", figure::latency, true, true, from_one(get_now, nothing), get_wrong,
             most_collective),
      row_of("stream_put_bw", "puts on a stream", figure::bandwidth, true, true, from_one(put_on_stream, stream_done),
             put_wrong),
      row_of("host_barrier", "barrier_all of the host", figure::latency, false, false,
             from_all([](world& w, const job&) { w.barrier_all(); }, nothing), none_wrong),
      row_of("stream_barrier", "barrier_all on a stream", figure::latency, false, false,
             from_all([](world& w, const job&) { barrier_all(w, w.stream()); }, stream_done), none_wrong),
      row_of("allocate", "allocating and freeing where memory is mapped already", figure::latency, true, false,
             allocate_again, none_wrong),
      slow("allocate_first", "the first allocation of a world: memory is created, exchanged and mapped",
           figure::latency, 4096, allocate_first),
      slow("join", "world::join() of all PEs", figure::latency, 0, join_again),
      slow("heap_memory", "memory of an empty heap, per PE", figure::size, 0, heap_memory),
      slow("process_memory", "memory that joining adds to a process", figure::size, 0, process_memory),
  };
  // Adds a collective in two forms: `call(world, job)`, and `call(world, job, stream)`.
  const auto add = [&](std::string_view by_host, std::string_view on_stream, std::string_view about, std::size_t least,
                       auto call, auto wrong) {
    const auto row_for = [&](std::string_view name, std::string_view what, auto run) {
      return row{name, what, figure::latency, shape::host, least, most_collective, false, one, run, wrong, true};
    };
    all.push_back(row_for(by_host, about, from_all([call](world& w, const job& j) { call(w, j); }, nothing)));
    all.push_back(row_for(on_stream, "the same on a stream",
                          from_all([call](world& w, const job& j) { call(w, j, w.stream()); }, stream_done)));
  };
  const auto part = [](const world& w, const job& j) { return j.count / static_cast<std::size_t>(w.n_pes()); };
  add(
      "host_reduce", "stream_reduce", "all-reduce of the host, sum of 64-bit integers", 8,
      [](world& w, const job& j, const auto&... on) {
        reduce(w.team(), on..., j.target, j.source, j.count, op::sum{});
      },
      reduce_wrong);
  add(
      "host_broadcast", "stream_broadcast", "broadcast of the host, from the first PE of --pair", 8,
      [](world& w, const job& j, const auto&... on) {
        broadcast(w.team(), on..., j.target, j.source, j.count, j.from);
      },
      broadcast_wrong);
  add(
      "host_fcollect", "stream_fcollect", "all-gather of the host", 64,
      [part](world& w, const job& j, const auto&... on) { fcollect(w.team(), on..., j.target, j.source, part(w, j)); },
      fcollect_wrong);
  add(
      "host_alltoall", "stream_alltoall", "all-to-all of the host", 64,
      [part](world& w, const job& j, const auto&... on) { alltoall(w.team(), on..., j.target, j.source, part(w, j)); },
      alltoall_wrong);
  return all;
}

}  // namespace pgas::perf
