#include "benchmark_world.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace pgas::perf {

namespace {

constexpr std::size_t figures_at = 16;  // a cache line after the kernels' word

}  // namespace

benchmark_world::benchmark_world(class world& w, std::size_t max_bytes)
    : world_(w),
      source_(w.allocate<std::uint64_t>(std::max(max_bytes / 8, buffer_words))),
      target_(w.allocate<std::uint64_t>(std::max(max_bytes / 8, buffer_words))),
      signals_(w.allocate<std::uint64_t>(signal_words, memory_hint::signal_remote)),
      box_(w.allocate<packet_line>(packet_lines(max_packet_bytes))),
      figures_(
          w.allocate<std::uint64_t>(figures_at + static_cast<std::size_t>(w.n_pes()), memory_hint::signal_remote)) {}

std::uint64_t benchmark_world::source_word(int pe, std::size_t i) const {
  std::uint64_t x = serial_ * 0x9e3779b97f4a7c15U + (static_cast<std::uint64_t>(pe) + 1) * 0xbf58476d1ce4e5b9U + i;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

template <class Words>
void benchmark_world::fill(std::uint64_t* at, std::size_t count, const Words& words) {
  for (std::size_t done = 0; done < count; done += staged_words) {
    const std::size_t now = std::min(count - done, staged_words);
    for (std::size_t i = 0; i < now; ++i) staging_[i] = words(done + i);
    put(world_, at + done, staging_.data(), now, world_.my_pe());
  }
}

job benchmark_world::prepare(const point& at, int from, int to) {
  ++serial_;
  job j;
  j.source = source_.data();
  j.target = target_.data();
  j.signals = signals_.data();
  j.box = box_.data();
  j.nanoseconds = figures_.data();
  j.count = at.bytes / 8;
  j.from = from;
  j.to = to;
  fill(source_.data(), std::max(j.count, buffer_words), [&](std::size_t i) { return source_word(world_.my_pe(), i); });
  poison(j);
  return j;
}

void benchmark_world::poison(const job& j) {
  fill(j.target, std::max(j.count, buffer_words), [&](std::size_t i) { return ~source_word(world_.my_pe(), i); });
}

void benchmark_world::begin(const job& j) {
  const auto zero = [](std::size_t) { return std::uint64_t{0}; };
  fill(j.signals, signal_words, zero);
  fill(j.box->words, box_.size() * std::size(j.box->words), zero);
  barrier();
}

double benchmark_world::broadcast(int pe, double mine) {
  if (world_.my_pe() == pe) {
    for (int other = 0; other < world_.n_pes(); ++other)
      p(world_, figures_.data() + figures_at, std::bit_cast<std::uint64_t>(mine), other);
  }
  barrier();
  const double value = std::bit_cast<double>(word(figures_.data() + figures_at));
  barrier();
  return value;
}

std::vector<std::uint64_t> benchmark_world::gather(std::uint64_t mine) {
  for (int other = 0; other < world_.n_pes(); ++other)
    p(world_, figures_.data() + figures_at + world_.my_pe(), mine, other);
  barrier();
  std::vector<std::uint64_t> all(static_cast<std::size_t>(world_.n_pes()));
  get(world_, all.data(), figures_.data() + figures_at, all.size(), world_.my_pe());
  barrier();
  return all;
}

std::uint64_t benchmark_world::sum(std::uint64_t mine) {
  const std::vector<std::uint64_t> all = gather(mine);
  return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
}

std::uint64_t benchmark_world::word(const std::uint64_t* at) const { return g(world_, at, world_.my_pe()); }

}  // namespace pgas::perf
