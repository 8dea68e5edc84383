// CUDA's interprocess events between two programs that start independently: one program fills a buffer, and the other
// program reads the buffer, a hundred times. The example is for programs that already use interprocess events; new
// programs use timelines, as 10_producer_consumer does.
//
//     11_ipc_event write FILE     writes the tickets to FILE
//     11_ipc_event read FILE
//
// Unlike a timeline, an event has no values: a wait is for the last record that was made before the call. The host must
// know that this record was made, so the host counts the records.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

#include "pgas/device.hpp"
#include "pgas/ipc_event.hpp"
#include "pgas/pgas.hpp"
#include "pgas/shared_memory.hpp"

namespace {

constexpr std::uint64_t rounds = 100;
constexpr std::uint64_t length = 1 << 16;

struct fill {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, std::uint64_t* buffer, std::uint64_t round) const {
    for (std::uint64_t i = block.thread_rank(); i < length; i += block.size()) buffer[i] = round + i;
  }
};

struct inspect {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, const std::uint64_t* buffer, std::uint64_t round,
                          std::uint64_t* wrong) const {
    std::uint64_t mine = 0;
    for (std::uint64_t i = block.thread_rank(); i < length; i += block.size()) mine += buffer[i] != round + i;
    if (mine > 0) pgas::atomic_add(ctx, wrong, mine, ctx.my_pe());
  }
};

/// Waits until the other program has made record number `number`. Then makes the stream wait for this record.
void wait_for(pgas::ipc_event& event, std::uint64_t number, const pgas::stream& stream) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (event.records() < number) {
    if (std::chrono::steady_clock::now() > end)
      throw pgas::error(pgas::code::wait_timeout, "the other program records nothing");
    std::this_thread::yield();
  }
  event.wait(stream.native());
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string role = argc == 3 ? argv[1] : "";
  if (role != "write" && role != "read") {
    std::fprintf(stderr, "usage: %s write|read FILE\n", argv[0]);
    return 2;
  }
  const std::string file = argv[2];
  pgas::world world = pgas::world::join();
  if (world.heap() == pgas::heap_kind::host) {
    try {
      static_cast<void>(pgas::ipc_event::make(pgas::memory_place::host()));
    } catch (const pgas::error& none) {
      std::printf("%s\n", none.what());
    }
    return 0;
  }
  pgas::stream stream(world);
  const pgas::launch_config shape{.blocks = 1, .threads = 256, .on = &stream};

  if (role == "write") {
    const auto place = pgas::memory_place::gpu(world.device());
    auto buffer = pgas::shared_memory::make(place, length * sizeof(std::uint64_t));
    auto full = pgas::ipc_event::make(place);
    auto free = pgas::ipc_event::make(place);
    std::ofstream(file + ".new") << buffer.ticket() << '\n' << full.ticket() << '\n' << free.ticket() << '\n';
    std::rename((file + ".new").c_str(), file.c_str());
    for (std::uint64_t round = 1; round <= rounds; ++round) {
      if (round > 1) wait_for(free, round - 1, stream);
      pgas::launch(world, shape, fill{}, static_cast<std::uint64_t*>(buffer.data()), round);
      full.record(stream.native());
    }
    wait_for(free, rounds, stream);
    stream.synchronize();
    std::printf("written %llu times\n", static_cast<unsigned long long>(rounds));
    return 0;
  }

  std::string tickets[3];
  for (std::ifstream lines(file); std::string & ticket : tickets) lines >> ticket;
  auto buffer = pgas::opened_memory::open(tickets[0]);
  auto full = pgas::ipc_event::open(tickets[1]);
  auto free = pgas::ipc_event::open(tickets[2]);
  auto wrong = world.allocate<std::uint64_t>(1, pgas::initialize::zero);
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    wait_for(full, round, stream);
    pgas::launch(world, shape, inspect{}, world.context(), static_cast<const std::uint64_t*>(buffer.data()), round,
                 wrong.data());
    free.record(stream.native());
  }
  stream.synchronize();
  const std::uint64_t found = pgas::g(world, wrong.data(), 0);
  std::printf("read %llu times, %llu values wrong\n", static_cast<unsigned long long>(rounds),
              static_cast<unsigned long long>(found));
  return found == 0 ? 0 : 1;
} catch (const std::exception& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
