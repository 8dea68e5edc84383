// overhead.py compares the cost of Python's calls with the cost of these C++ calls. The C++ calls run in the same
// process, on a given stream, and in a separate world.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <pgas/pgas.hpp>

namespace {

struct state {
  pgas::world world;
  float* x = nullptr;
  float* y = nullptr;
};
std::optional<state> joined;

/// The microseconds of one call, the minimum of several runs. The time that the stream needs to execute the work is not
/// counted.
template <class Call>
double cost(int calls, pgas::stream& on, const Call& call) {
  double best = 1e9;
  for (int run = 0; run < 7; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) call();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count() / calls);
    on.synchronize();
    joined->world.barrier_all();
  }
  return best;
}

template <class Body>
double guarded(const Body& body) noexcept {
  try {
    return body();
  } catch (const std::exception& failed) {
    std::fprintf(stderr, "overhead.cpp: %s\n", failed.what());
    return -1;
  }
}

}  // namespace

extern "C" {

double overhead_join(const char* unique_id, int rank, int size, int count) {
  return guarded([&] {
    pgas::bootstrap_options options;
    options.method = "tcp";
    options.unique_id = unique_id;
    options.rank = rank;
    options.size = size;
    joined.emplace(state{pgas::world::join(pgas::make_bootstrap(options).exchange)});
    joined->x = static_cast<float*>(joined->world.allocate_bytes(static_cast<std::size_t>(count), sizeof(float)));
    joined->y = static_cast<float*>(joined->world.allocate_bytes(static_cast<std::size_t>(count), sizeof(float)));
    return 0.0;
  });
}

double overhead_put(void* native, int calls, int count, int pe) {
  return guarded([&] {
    pgas::world& w = joined->world;
    pgas::stream on = native == nullptr ? pgas::stream(w) : pgas::stream::wrap(w, native);
    return cost(calls, on, [&] { pgas::put(w, on, joined->x, joined->y, static_cast<std::size_t>(count), pe); });
  });
}

double overhead_all_reduce(void* native, int calls, int count) {
  return guarded([&] {
    pgas::world& w = joined->world;
    pgas::stream on = native == nullptr ? pgas::stream(w) : pgas::stream::wrap(w, native);
    return cost(calls, on, [&] {
      pgas::reduce(w.team(), on, joined->x, joined->x, static_cast<std::size_t>(count), pgas::op::sum{});
    });
  });
}

double overhead_leave() {
  return guarded([&] {
    joined.reset();
    return 0.0;
  });
}

}  // extern "C"
