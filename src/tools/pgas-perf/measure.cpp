#include "measure.hpp"

#include <algorithm>
#include <cmath>

namespace pgas::perf {

namespace {

constexpr std::uint32_t fewest_iterations = 4;
constexpr std::uint32_t most_iterations = 1'000'000;

double figure_of(const benchmark_world& s, const row& r, const point& at, double run, std::uint32_t iterations) {
  const double each = run / iterations;
  switch (r.is) {
    case figure::bandwidth: return r.work(s, at) / each;
    case figure::rate: return r.work(s, at) / each * 1e3;
    case figure::latency: return each / 1e3;
    case figure::size: break;
  }
  return run / (1 << 20);
}

std::vector<unsigned> blocks_of(const row& r, const options& how, bool gpu) {
  if (r.by != shape::grid) return {1};
  if (!how.blocks.empty()) return how.blocks;
  return gpu ? std::vector<unsigned>{1, 4, 32} : std::vector<unsigned>{1};
}

std::vector<scope> scopes_of(const row& r, const options& how, bool gpu, unsigned block_threads) {
  if (r.by == shape::host || r.each_alone) return {scope::thread};
  if (!how.scopes.empty()) return how.scopes;
  if (gpu) return {scope::thread, scope::warp, scope::block};
  return block_threads > 1 ? std::vector{scope::thread, scope::block} : std::vector{scope::thread};
}

unsigned threads_of(const row& r, const options& how, scope by, bool gpu, unsigned block_threads) {
  if (r.by == shape::host) return 1;
  if (r.by == shape::group && by == scope::thread) return 1;
  if (r.by == shape::group && by == scope::warp) return gpu ? detail::warp_size : 1;
  if (!gpu) return how.threads == 0 ? block_threads : std::min(how.threads, block_threads);
  if (r.by == shape::group) return how.threads == 0 ? max_group_threads : std::min(how.threads, max_group_threads);
  return how.threads == 0 ? 1024 : how.threads;
}

}  // namespace

double result::median() const {
  std::vector<double> sorted = samples;
  std::ranges::sort(sorted);
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}
double result::least() const { return std::ranges::min(samples); }
double result::most() const { return std::ranges::max(samples); }

std::vector<point> points_of(const row& r, const options& how, world& w) {
  if (r.pair && std::max(how.pair[0], how.pair[1]) >= w.n_pes()) return {};
  const bool gpu = w.heap() == heap_kind::cuda;
  const auto block_threads = static_cast<unsigned>(w.settings().host_block_threads);
  std::vector<std::size_t> sizes;
  if (r.most_bytes == 0) sizes.push_back(0);
  const std::size_t word_each = r.pair ? 8 : 8 * static_cast<std::size_t>(w.n_pes());
  for (std::size_t bytes = how.least_bytes; r.most_bytes != 0 && bytes <= how.most_bytes; bytes *= how.factor) {
    if (bytes >= r.least_bytes && bytes <= r.most_bytes && (r.least_bytes <= 8 || bytes >= word_each))
      sizes.push_back(bytes);
  }
  std::vector<point> points;
  for (const scope by : scopes_of(r, how, gpu, block_threads)) {
    for (const unsigned blocks : blocks_of(r, how, gpu)) {
      for (const std::size_t bytes : sizes)
        points.push_back({by, blocks, threads_of(r, how, by, gpu, block_threads), bytes});
    }
  }
  return points;
}

std::uint32_t enough_iterations(double milliseconds, const std::function<double(std::uint32_t)>& run) {
  const double wanted = milliseconds * 1e6;
  for (std::uint32_t iterations = fewest_iterations;;) {
    const double took = std::max(1.0, run(iterations));
    const double guess =
        std::clamp(std::ceil(wanted / took * iterations), double{fewest_iterations}, double{most_iterations});
    if (took * 10 > wanted || iterations == most_iterations) return static_cast<std::uint32_t>(guess);
    iterations = static_cast<std::uint32_t>(std::min(guess, iterations * 16.0));
  }
}

result measure(benchmark_world& s, const options& how, const row& r, const point& at) {
  job j = s.prepare(at, how.pair[0] % s.world().n_pes(), how.pair[1] % s.world().n_pes());
  j.warmup = r.slow ? 1 : how.warmup;
  result found{&r, at, 1, {}, 0, false};
  const auto run_once = [&](std::uint32_t iterations) {
    j.iterations = iterations;
    s.begin(j);
    return s.broadcast(j.from, r.run(s, at, j));  // broadcast() is a barrier, so all PEs have ended their part
  };
  if (!r.slow) found.iterations = how.iterations != 0 ? how.iterations : enough_iterations(how.milliseconds, run_once);
  for (std::uint32_t i = 0; i < how.repeats; ++i) {
    if (how.check && i + 1 == how.repeats) s.poison(j);
    found.samples.push_back(figure_of(s, r, at, run_once(found.iterations), found.iterations));
  }
  if (how.check) {
    found.wrong = s.sum(r.wrong(s, at, j));
    found.checked = true;
  }
  return found;
}

}  // namespace pgas::perf
