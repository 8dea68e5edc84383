// Two unrelated programs pass blocks of data from one to the other, with streams that two timelines order. The writer's
// kernel pauses in the middle of each block, so that a missing wait leads to a torn block.
//
//     handover produce FILE ROUNDS            writes the tickets to FILE
//     handover consume FILE ROUNDS [unordered]
//
// If the C++ compiler compiles the program, it runs on the host heap; if nvcc compiles it, on a GPU. Prints "... N
// blocks, T torn" at the end.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

#include "pgas/device.hpp"
#include "pgas/pgas.hpp"
#include "pgas/timeline.hpp"

namespace {

constexpr std::uint64_t slots = 4;
constexpr std::uint64_t words = 256;
constexpr std::uint64_t rounds_ahead = 512;  // the rounds that are enqueued before the program waits for a stream

/// The contents of word `i` in round `round`.
PGAS_HD std::uint64_t expected(std::uint64_t round, std::uint64_t i) { return round * 1000003 + i; }

struct write_block {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, std::uint64_t* to, std::uint64_t round) const {
    for (std::uint64_t i = block.thread_rank(); i < words / 2; i += block.size()) to[i] = expected(round, i);
    block.sync();
    const std::uint64_t until = pgas::detail::clock_ns() + (round * 2654435761U >> 7) % 4096;
    while (pgas::detail::clock_ns() < until) {
    }
    block.sync();
    for (std::uint64_t i = words / 2 + block.thread_rank(); i < words; i += block.size()) to[i] = expected(round, i);
  }
};

struct check_block {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, const std::uint64_t* from, std::uint64_t round, std::uint64_t* torn) const {
    std::uint64_t wrong = 0;
    for (std::uint64_t i = block.thread_rank(); i < words; i += block.size())
      if (pgas::detail::load_relaxed(from + i) != expected(round, i)) wrong = 1;
    if (wrong != 0) pgas::detail::reduce<pgas::detail::rmw::max>(torn, round);
    block.sync();
    if (block.thread_rank() == 0) {
      // torn[0] is the last torn round, torn[1] the number of torn rounds
      if (pgas::detail::load_relaxed(torn) == round)
        pgas::detail::reduce<pgas::detail::rmw::add>(torn + 1, std::uint64_t{1});
    }
  }
};

pgas::memory_place place_of(pgas::world& world) {
  return world.heap() == pgas::heap_kind::cuda ? pgas::memory_place::gpu(world.device()) : pgas::memory_place::host();
}

int produce(pgas::world& world, const std::string& file, std::uint64_t rounds) {
  pgas::stream stream(world);
  auto memory = pgas::shared_memory::make(place_of(world), slots * words * sizeof(std::uint64_t));
  auto full = pgas::timeline::make(place_of(world));
  auto free = pgas::timeline::make(place_of(world));
  std::ofstream(file + ".new") << memory.ticket() << '\n' << full.ticket() << '\n' << free.ticket() << '\n';
  if (std::rename((file + ".new").c_str(), file.c_str()) != 0) return 2;
  auto* blocks = static_cast<std::uint64_t*>(memory.data());
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    if (round > slots) free.wait(stream.native(), round - slots);
    pgas::launch(world, {.blocks = 1, .threads = 1, .on = &stream}, write_block{}, blocks + round % slots * words,
                 round);
    full.record(stream.native(), round);
    if (round % rounds_ahead == 0) {
      stream.synchronize();
      full.check();
      free.check();
    }
  }
  stream.synchronize();
  free.wait_host(rounds);
  std::printf("produced %llu blocks\n", static_cast<unsigned long long>(rounds));
  return 0;
}

int consume(pgas::world& world, const std::string& file, std::uint64_t rounds, bool ordered) {
  std::string tickets[3];
  std::ifstream lines(file);
  for (std::string& ticket : tickets) std::getline(lines, ticket);
  pgas::stream stream(world);
  const pgas::open_options here{.place = place_of(world)};  // the producer may use another GPU
  auto memory = pgas::opened_memory::open(tickets[0], here);
  auto full = pgas::timeline::open(tickets[1], here);
  auto free = pgas::timeline::open(tickets[2], here);
  auto torn = world.allocate<std::uint64_t>(2, pgas::initialize::zero);
  auto* blocks = static_cast<std::uint64_t*>(memory.data());
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    if (ordered) {
      full.wait(stream.native(), round);
    } else {
      // This wait is wrong on purpose, because the enqueued work of the producer might not have run yet.
      while (full.recorded() < round) std::this_thread::yield();
    }
    pgas::launch(world, {.blocks = 1, .threads = 1, .on = &stream}, check_block{}, blocks + round % slots * words,
                 round, torn.data());
    free.record(stream.native(), round);
    if (round % rounds_ahead == 0) {
      stream.synchronize();
      full.check();
      if (round == rounds_ahead) std::ofstream(file + ".goes");
    }
  }
  stream.synchronize();
  const auto count = pgas::g(world, torn.data() + 1, 0);
  std::printf("consumed %llu blocks, %llu torn\n", static_cast<unsigned long long>(rounds),
              static_cast<unsigned long long>(count));
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4) return 2;
  const std::string role = argv[1];
  pgas::world world = pgas::world::join();
  const auto begin = std::chrono::steady_clock::now();
  const std::uint64_t rounds = std::stoull(argv[3]);
  const int status = role == "produce"
                         ? produce(world, argv[2], rounds)
                         : consume(world, argv[2], rounds, argc < 5 || std::string(argv[4]) != "unordered");
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  std::printf("%.1f s, %.2f us for each block\n", taken.count(), taken.count() * 1e6 / static_cast<double>(rounds));
  return status;
} catch (const pgas::error& failed) {
  std::printf("failed: %s\n", failed.what());
  return 1;
}
