// Rows that the host measures: its calls, calls on a stream, joining, allocating, and the memory that a PE uses.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <numeric>
#include <vector>

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
double unit_work(const benchmark_world&, const point&) { return 1; }

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
    void* const result = other.allocate_bytes(at.bytes);
    if (i >= j.warmup) total += since(start);
    other.free(result);
    other.leave();
  }
  return total;
}

double allocate_again(benchmark_world& s, const point& at, const job& j) {
  return timed(
      j, [&] { s.world().free(s.world().allocate_bytes(at.bytes)); }, [] {});
}

/// The number of pages in the list that a row of `bytes` bytes copies.
template <std::size_t Page>
std::size_t pages_of(std::size_t bytes) {
  return std::max(bytes / Page, std::size_t{1});
}

/// A row::run that copies pages in a permuted order on a stream of the first PE of the pair.
/// @param call call(world, list, job)
template <std::size_t Page, class Call>
auto copy_pages(const Call& call) {
  return [call](benchmark_world& s, const point&, const job& j) {
    world& w = s.world();
    const std::size_t n = pages_of<Page>(j.count * 8);
    std::size_t step = 7919;  // a prime number
    while (std::gcd(step, n) != 1) ++step;
    std::vector<std::int32_t> order(n);
    for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::int32_t>(i * step % n);
    const auto index = w.allocate<std::int32_t>(n);
    put(w, index.data(), order.data(), n, w.my_pe());
    const copy_list list(page_side<void, std::int32_t>{j.target, Page, index.data()},
                         page_side<const void, std::int32_t>{j.source, Page, index.data()}, Page, n);
    if (w.my_pe() != j.from) return 0.0;
    return timed(
        j, [&] { call(w, list, j); }, [&] { w.synchronize(); });
  };
}

template <std::size_t Page>
double page_bytes(const benchmark_world&, const point& at) {
  return static_cast<double>(pages_of<Page>(at.bytes) * Page);
}

/// The number of wrong words in the pages that PE `at` has received: words that differ from the source of PE `from`.
template <std::size_t Page>
std::uint64_t pages_wrong(benchmark_world& s, const job& j, int at, int from) {
  if (s.world().my_pe() != at) return 0;
  return s.differing(j.target, pages_of<Page>(j.count * 8) * Page / 8,
                     [&](std::size_t i) { return s.source_word(from, i); });
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
               is == figure::bandwidth ? bytes : unit_work,
               run,
               wrong,
               true};
  };
  const auto slow = [](std::string_view name, std::string_view about, figure is, std::size_t least_bytes, auto run) {
    return row{name,  about,     is,  shape::host, least_bytes, least_bytes == 0 ? 0 : no_limit,
               false, unit_work, run, none_wrong,  true,        true};
  };
  const auto put_later = [](world& w, const job& j) { put_nbi(w, j.target, j.source, j.count, j.to); };
  const auto get_later = [](world& w, const job& j) { get_nbi(w, j.target, j.source, j.count, j.to); };
  const auto put_now = [](world& w, const job& j) { put(w, j.target, j.source, j.count, j.to); };
  const auto get_now = [](world& w, const job& j) { get(w, j.target, j.source, j.count, j.to); };
  const auto get_on_stream = [](world& w, const job& j) { get(w, w.stream(), j.target, j.source, j.count, j.to); };
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
      row_of("stream_get_bw", "gets on a stream", figure::bandwidth, true, true, from_one(get_on_stream, stream_done),
             get_wrong),
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
  // Adds two rows that copy pages: a row that puts a list of pages, and a row that gets a list of pages. The rows of
  // latency show the cost of a list of small pages.
  const auto add_lists = [&]<std::size_t Page>(std::integral_constant<std::size_t, Page>, std::string_view put_name,
                                               std::string_view get_name, std::string_view about, figure is) {
    const auto row_for = [&](std::string_view name, auto call, auto wrong) {
      all.push_back({name, about, is, shape::host, Page, no_limit, true,
                     is == figure::bandwidth ? page_bytes<Page> : unit_work, copy_pages<Page>(call), wrong, true});
    };
    row_for(
        put_name, [](world& w, const copy_list& list, const job& j) { put_list(w, w.stream(), list, j.to); },
        [](benchmark_world& s, const point&, const job& j) { return pages_wrong<Page>(s, j, j.to, j.from); });
    row_for(
        get_name, [](world& w, const copy_list& list, const job& j) { get_list(w, w.stream(), list, j.to); },
        [](benchmark_world& s, const point&, const job& j) { return pages_wrong<Page>(s, j, j.from, j.to); });
  };
  add_lists(std::integral_constant<std::size_t, 45056>{}, "put_list_bw", "get_list_bw",
            "a list of pages of 44 KiB on a stream, in a permuted order", figure::bandwidth);
  add_lists(std::integral_constant<std::size_t, 2048>{}, "put_list_lat", "get_list_lat",
            "a list of pages of 2 KiB on a stream, in a permuted order", figure::latency);
  // Adds a collective in two forms: `call(world, job)`, and `call(world, job, stream)`.
  const auto add = [&](std::string_view by_host, std::string_view on_stream, std::string_view about, std::size_t least,
                       auto call, auto wrong) {
    const auto row_for = [&](std::string_view name, std::string_view what, auto run) {
      return row{name, what, figure::latency, shape::host, least, most_collective, false, unit_work, run, wrong, true};
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
