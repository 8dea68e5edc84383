// One program repeatedly fills a block of memory. Another program opens the block's ticket each time. The ticket
// carries a timeline, so open() returns, or the stream continues, when the block is complete. The writer's kernel
// pauses in the middle of a block and reports that it was launched, so that a missing wait leads to a torn block.
//
//     ready fill FILE ROUNDS PAUSE_MS  writes the tickets to FILE
//     ready take FILE ROUNDS MODE      open: opens the ticket again; host, stream: waits again; none: does not wait
//
// If the C++ compiler compiles the program, it runs on the host heap; if nvcc compiles it, on a GPU. Prints "... N
// blocks, T torn" at the end.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "pgas/device.hpp"
#include "pgas/pgas.hpp"
#include "pgas/timeline.hpp"

namespace {

constexpr std::uint64_t words = 1024;

PGAS_HD std::uint64_t expected(std::uint64_t round, std::uint64_t i) { return round * 1000003 + i; }

struct write_block {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, std::uint64_t* to, std::uint64_t round, std::uint64_t pause_ns) const {
    for (std::uint64_t i = block.thread_rank(); i < words / 2; i += block.size()) to[i] = expected(round, i);
    block.sync();
    const std::uint64_t until = pgas::detail::clock_ns() + pause_ns;
    while (pgas::detail::clock_ns() < until) {
    }
    block.sync();
    for (std::uint64_t i = words / 2 + block.thread_rank(); i < words; i += block.size()) to[i] = expected(round, i);
  }
};

/// Counts a block whose data is not of this round.
struct check_block {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, const std::uint64_t* from, std::uint64_t round, std::uint64_t* torn) const {
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < words; ++i)
      if (pgas::detail::load_relaxed(from + i) != expected(round, i)) wrong = 1;
    if (block.thread_rank() == 0 && wrong != 0) pgas::detail::reduce<pgas::detail::rmw::add>(torn, std::uint64_t{1});
  }
};

pgas::memory_place place_of(pgas::world& world) {
  return world.heap() == pgas::heap_kind::cuda ? pgas::memory_place::gpu(world.device()) : pgas::memory_place::host();
}

/// Waits until the other program's count is at least `least`.
void await(std::atomic_ref<std::uint64_t> count, std::uint64_t least) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (count.load() < least) {
    if (std::chrono::steady_clock::now() > end)
      throw pgas::error(pgas::code::wait_timeout, "the other program does nothing");
    std::this_thread::yield();
  }
}

/// The number of rounds that one program has launched, and the number that the other program has read, in host memory
/// that both programs map. Applications exchange such numbers in another way.
struct counts {
  std::uint64_t launched;
  alignas(64) std::uint64_t taken;
};

void fill(pgas::world& world, const std::string& file, std::uint64_t rounds, std::uint64_t pause_ms) {
  pgas::stream stream(world);
  auto memory = pgas::shared_memory::make(place_of(world), words * sizeof(std::uint64_t));
  auto ready = pgas::timeline::make(place_of(world));
  auto page = pgas::shared_memory::make(pgas::memory_place::host(), sizeof(counts));
  auto* const count = static_cast<counts*>(page.data());
  std::ofstream(file + ".new") << memory.ticket({.ready = &ready}) << '\n' << page.ticket() << '\n';
  if (std::rename((file + ".new").c_str(), file.c_str()) != 0) throw std::runtime_error("can't write the tickets");
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    pgas::launch(world, {.blocks = 1, .threads = 1, .on = &stream}, write_block{},
                 static_cast<std::uint64_t*>(memory.data()), round, pause_ms * 1'000'000);
    ready.record(stream.native(), round * 10);  // a value that only this program knows
    std::atomic_ref(count->launched).store(round);
    await(std::atomic_ref(count->taken), round);
  }
  stream.synchronize();
  std::printf("filled %llu blocks\n", static_cast<unsigned long long>(rounds));
}

void take(pgas::world& world, const std::string& file, std::uint64_t rounds, const std::string& mode) {
  std::string tickets[2];
  std::ifstream lines(file);
  for (std::string& ticket : tickets) std::getline(lines, ticket);
  pgas::stream stream(world);
  auto page = pgas::opened_memory::open(tickets[1]);
  auto* const count = static_cast<counts*>(page.data());
  auto torn = world.allocate<std::uint64_t>(1, pgas::initialize::zero);
  const auto kept = pgas::opened_memory::open(tickets[0], {.place = place_of(world), .wait_until_ready = false});
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    await(std::atomic_ref(count->launched), round);
    pgas::opened_memory again;
    if (round == 1) std::printf("waiting\n");
    if (mode == "open") again = pgas::opened_memory::open(tickets[0], {.place = place_of(world)});
    if (mode == "host") kept.wait_host(std::chrono::seconds(10));
    if (mode == "stream") kept.wait(stream.native());
    pgas::launch(world, {.blocks = 1, .threads = 1, .on = &stream}, check_block{},
                 static_cast<const std::uint64_t*>(kept.data()), round, torn.data());
    stream.synchronize();
    kept.check();
    std::atomic_ref(count->taken).store(round);
  }
  std::printf("taken %llu blocks, %llu torn\n", static_cast<unsigned long long>(rounds),
              static_cast<unsigned long long>(pgas::g(world, torn.data(), 0)));
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4) return 2;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  pgas::world world = pgas::world::join();
  const std::uint64_t rounds = std::stoull(argv[3]);
  if (std::string(argv[1]) == "fill")
    fill(world, argv[2], rounds, argc > 4 ? std::stoull(argv[4]) : 2);
  else
    take(world, argv[2], rounds, argc > 4 ? argv[4] : "open");
  return 0;
} catch (const std::exception& failed) {
  std::printf("failed: %s\n", failed.what());
  return 1;
}
