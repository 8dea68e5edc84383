// The random programs in a world whose PEs are processes: `pgasrun -n N random_in_world [--seconds=N] [--operations=N]
// [--seed=S] [--twice=1]`. Each PE runs its part of each program and compares its own memory with the memory of the
// model. With --twice, each program runs twice. PE 0 prints "begin K" and "end K MILLISECONDS OPERATIONS" around
// program K, so that tests/why/under_load.py knows when to query the job.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "generator.hpp"
#include "interpreter.hpp"
#include "pgas/pgas.hpp"

namespace {

using namespace pgas_random;
using clock_type = std::chrono::steady_clock;

constexpr std::uint32_t segment = 1000;

/// Runs one program from its beginning, in separate memory.
class run_in_world {
 public:
  run_in_world(world& w, std::uint64_t seed, int blocks)
      : w_(w), me_(w.my_pe()), blocks_(blocks), program_(seed, w.n_pes(), 0, blocks, fences::lasting) {
    guarded_ = allocate<unsigned char>(places::arena_bytes + 2 * places::guard_bytes);
    body_.arena = guarded_ + places::guard_bytes;
    body_.signals = allocate<signal_t>(places::signal_words);
    body_.capacity = 2 * segment;
    body_.program = allocate<instruction>(std::size_t{body_.capacity} * static_cast<unsigned>(blocks));
    body_.word_sets = allocate<word_set>(segment);
    body_.blocks = allocate<pgas::copy_block>(std::size_t{segment} * places::listed_blocks);
    body_.lengths = allocate<std::uint32_t>(static_cast<unsigned>(blocks));
    body_.teams = allocate<team_view>(n_teams);
    for (std::uint32_t t = 0; t < n_teams; ++t) {
      teams_.push_back(w.team().split_list(program_.teams()[t].members));
      if (teams_.back()) local(body_.teams)[t] = teams_.back().view();
    }
    const std::vector<unsigned char> bytes = expected();
    std::copy(bytes.begin(), bytes.end(), local(guarded_));
    w.barrier_all();
  }
  ~run_in_world() {
    try {
      w_.barrier_all();
      for (team& each : teams_) each.destroy();
      for (void* const each : memory_) w_.free(each);
    } catch (const error& failed) {
      std::fprintf(stderr, "%s\n", failed.what());
    }
  }
  run_in_world(const run_in_world&) = delete;
  run_in_world& operator=(const run_in_world&) = delete;

  /// Returns the error; empty if there was none.
  [[nodiscard]] std::string run(std::uint32_t operations) {
    while (program_.operations() < operations) {
      program_.next_segment(std::min(segment, operations - program_.operations()));
      for (int block = 0; block < blocks_; ++block) {
        const auto& list = program_.lists()[static_cast<std::size_t>(me_ * blocks_ + block)];
        const auto b = static_cast<std::size_t>(block);
        std::copy(list.begin(), list.end(), local(body_.program) + b * body_.capacity);
        local(body_.lengths)[b] = static_cast<std::uint32_t>(list.size());
      }
      const std::vector<word_set>& sets = program_.word_sets(me_);
      std::copy(sets.begin(), sets.end(), local(body_.word_sets));
      w_.barrier_all();
      launch(w_, {.blocks = static_cast<unsigned>(blocks_), .threads = 1}, body_, w_.context());
      w_.synchronize();
      w_.barrier_all();
      if (std::string wrong = difference(); !wrong.empty()) return wrong;
    }
    return {};
  }

 private:
  template <class T>
  sym<T> allocate(std::size_t count) {
    void* const result = w_.allocate_bytes(count, sizeof(T), 64, initialize::zero);
    memory_.push_back(result);
    return {w_.context().offset(result)};
  }
  template <class T>
  [[nodiscard]] T* local(sym<T> at) const {
    return at.at(w_.context());
  }
  [[nodiscard]] std::vector<unsigned char> expected() const {
    std::vector<unsigned char> bytes(places::arena_bytes + 2 * places::guard_bytes, places::guard_byte);
    const auto arena = program_.expected().arena(me_);
    std::copy(arena.begin(), arena.end(), bytes.begin() + places::guard_bytes);
    return bytes;
  }
  [[nodiscard]] std::string difference() const {
    const std::vector<unsigned char> right = expected();
    for (std::size_t i = 0; i < right.size(); ++i)
      if (local(guarded_)[i] != right[i])
        return "PE " + std::to_string(me_) + ", byte " + std::to_string(i) +
               " differs from the model's, up to operation " + std::to_string(program_.operations());
    for (std::uint32_t i = 0; i < places::signal_words; ++i)
      if (local(body_.signals)[i] != program_.expected().signal(me_, i))
        return "PE " + std::to_string(me_) + ", signal word " + std::to_string(i) + " differs from the model's";
    return {};
  }

  world& w_;
  const int me_;
  const int blocks_;
  generator program_;
  std::vector<team> teams_;
  std::vector<void*> memory_;
  sym<unsigned char> guarded_{};
  interpreter body_{};
};

std::uint64_t option(int argc, char** argv, std::string_view name, std::uint64_t otherwise) {
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]).substr(0, name.size()) == name)
      return std::strtoull(argv[i] + name.size(), nullptr, 10);
  return otherwise;
}

}  // namespace

int main(int argc, char** argv) try {
  const auto seconds = std::chrono::seconds(option(argc, argv, "--seconds=", 10));
  const auto operations = static_cast<std::uint32_t>(option(argc, argv, "--operations=", 3000));
  std::uint64_t seed = option(argc, argv, "--seed=", 1);
  const std::uint64_t times = option(argc, argv, "--twice=", 0) != 0 ? 2 : 1;
  pgas::world w = pgas::world::join();
  std::printf("pid %d %d\n", w.my_pe(), static_cast<int>(::getpid()));
  std::fflush(stdout);
  const bool speaks = w.my_pe() == 0;
  auto go_on = w.allocate<pgas::signal_t>(1, pgas::initialize::zero);
  const auto end = clock_type::now() + seconds;
  for (std::uint64_t program = 0;; ++program) {
    const bool over = program % times == 0 && clock_type::now() >= end;
    for (int pe = 0; speaks && pe < w.n_pes(); ++pe) pgas::signal_set(w, go_on.data(), over ? 1 : 0, pe);
    w.barrier_all();
    if (*go_on.data() != 0) break;
    run_in_world item(w, seed + program / times, static_cast<int>(1 + (program / times) % 2));
    if (speaks) std::printf("begin %llu\n", static_cast<unsigned long long>(program)), std::fflush(stdout);
    const auto start = clock_type::now();
    if (const std::string wrong = item.run(operations); !wrong.empty()) {
      std::fprintf(stderr, "FAILED: %s; seed %llu, %d PEs\n", wrong.c_str(),
                   static_cast<unsigned long long>(seed + program / times), w.n_pes());
      return 1;
    }
    const std::chrono::duration<double, std::milli> took = clock_type::now() - start;
    if (speaks)
      std::printf("end %llu %.3f %u\n", static_cast<unsigned long long>(program), took.count(), operations),
          std::fflush(stdout);
    w.barrier_all();
  }
  w.leave();
  return 0;
} catch (const std::exception& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
