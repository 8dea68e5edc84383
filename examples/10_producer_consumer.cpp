// One program fills the buffers of a ring with batches, and other programs take the batches. The programs start
// independently, find one another only through tickets in a folder, and may be killed and restarted at any time.
//
//     10_producer_consumer produce FOLDER SEATS BATCHES [PAUSE_US]
//     10_producer_consumer consume FOLDER SEAT
//
// SEATS is the number of consumers, and SEAT is the index of one consumer. Every consumer takes every batch. The
// timeline `full` counts the batches in the ring: the producer's stream records a new value, and the streams of the
// consumers wait for the value. Each consumer has a timeline `taken`, which counts the batches that the producer may
// overwrite.
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "common/station.hpp"
#include "pgas/timeline.hpp"

namespace {

using examples::station;
using std::chrono::milliseconds;

constexpr std::uint64_t slots = 4;
constexpr std::uint64_t length = 4096;  // values of a batch

struct fill {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, std::uint64_t* batch, std::uint64_t number) const {
    for (std::uint64_t i = block.thread_rank(); i < length; i += block.size()) batch[i] = number * length + i;
  }
};

/// Counts the values that differ from the values that fill() has written.
struct inspect {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, const std::uint64_t* batch, std::uint64_t number,
                          std::uint64_t* wrong) const {
    std::uint64_t mine = 0;
    for (std::uint64_t i = block.thread_rank(); i < length; i += block.size()) mine += batch[i] != number * length + i;
    if (mine > 0) pgas::atomic_add(ctx, wrong, mine, ctx.my_pe());
  }
};

/// Returns when the consumer with this index has taken the batch, even if the consumer ends and restarts.
void await(const pgas::timeline& taken, std::uint64_t batch, int seat) {
  bool told = false;
  for (;;) try {
      return taken.wait_host(batch, milliseconds(100));
    } catch (const pgas::error& failed) {
      if (failed.code() == pgas::code::wait_timeout) continue;
      if (failed.code() != pgas::code::peer_lost) throw;
      if (!told) std::printf("seat %d is empty: its next consumer goes on where it stopped\n", seat);
      told = true;
      std::this_thread::sleep_for(milliseconds(20));
    }
}

void produce(const std::string& folder, int seats, std::uint64_t batches, int pause_us) {
  station here;
  auto ring = pgas::shared_memory::make(here.place, slots * length * sizeof(std::uint64_t));
  auto full = pgas::timeline::make(here.place);
  std::vector<pgas::timeline> taken;
  for (int seat = 0; seat < seats; ++seat) {
    taken.push_back(pgas::timeline::make(here.place));
    examples::write_lines(folder + "/seat" + std::to_string(seat),
                          {ring.ticket(), full.ticket(), taken.back().ticket(), std::to_string(batches)});
  }
  auto* buffers = static_cast<std::uint64_t*>(ring.data());
  for (std::uint64_t batch = 1; batch <= batches; ++batch) {
    if (batch > slots)
      for (int seat = 0; seat < seats; ++seat) await(taken[static_cast<std::size_t>(seat)], batch - slots, seat);
    pgas::launch(here.world, here.shape, fill{}, buffers + batch % slots * length, batch);
    full.record(here.stream.native(), batch);
    if (pause_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(pause_us));
  }
  here.stream.synchronize();
  for (int seat = 0; seat < seats; ++seat) await(taken[static_cast<std::size_t>(seat)], batches, seat);
  std::printf("produced %llu batches\n", static_cast<unsigned long long>(batches));
}

/// The contents of the file that a producer writes for one consumer: three tickets, and the number of batches.
struct offer {
  std::string ring, full, taken;
  std::uint64_t batches = 0;

  explicit offer(const std::string& file) {
    const std::vector<std::string> lines = examples::read_lines(file);
    if (lines.size() == 4) ring = lines[0], full = lines[1], taken = lines[2], batches = std::stoull(lines[3]);
  }
};

/// Takes the batches of one producer. Throws peer_lost if the producer ends before its last batch.
std::uint64_t take(station& here, const offer& from, pgas::symmetric<std::uint64_t>& wrong, std::uint64_t& seen_wrong) {
  const pgas::open_options on{.place = here.place};  // the producer can be on another GPU
  auto ring = pgas::opened_memory::open(from.ring, on);
  auto full = pgas::timeline::open(from.full, on);
  auto taken = pgas::timeline::open(from.taken, on);
  auto* buffers = static_cast<std::uint64_t*>(ring.data());
  std::uint64_t batch = taken.query();
  while (batch < from.batches) {
    // The host enqueues one batch for each buffer of the ring, and then checks whether all these batches have arrived.
    // If the producer ends, the stream continues without the missing batches, and the counts since the last check are
    // meaningless.
    const std::uint64_t before = pgas::g(here.world, wrong.data(), 0);
    for (std::uint64_t i = 0; i < slots && batch < from.batches; ++i) {
      ++batch;
      full.wait(here.stream.native(), batch);
      pgas::launch(here.world, here.shape, inspect{}, here.world.context(), buffers + batch % slots * length, batch,
                   wrong.data());
      taken.record(here.stream.native(), batch);
    }
    here.stream.synchronize();
    full.wait_host(batch);
    seen_wrong += pgas::g(here.world, wrong.data(), 0) - before;
  }
  return batch;
}

int consume(const std::string& folder, int seat) {
  station here;
  auto wrong = here.world.allocate<std::uint64_t>(1, pgas::initialize::zero);
  const std::string file = folder + "/seat" + std::to_string(seat);
  std::uint64_t seen_wrong = 0;
  std::string lost;
  int producers = 0;
  for (;;) {
    const offer from(file);
    if (from.batches == 0 || from.full == lost) {  // no producer yet, or the same producer as before
      std::this_thread::sleep_for(milliseconds(20));
      continue;
    }
    try {
      ++producers;
      const std::uint64_t last = take(here, from, wrong, seen_wrong);
      std::printf("seat %d: up to batch %llu of producer %d, %llu values wrong\n", seat,
                  static_cast<unsigned long long>(last), producers, static_cast<unsigned long long>(seen_wrong));
      return seen_wrong == 0 ? 0 : 1;
    } catch (const pgas::error& failed) {
      if (failed.code() != pgas::code::peer_lost) throw;
      std::printf("seat %d waits for another producer: %s\n", seat, failed.what());
      lost = from.full;
    }
  }
}

}  // namespace

int main(int argc, char** argv) try {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string role = argc > 1 ? argv[1] : "";
  if (role == "produce" && argc >= 5) {
    produce(argv[2], std::stoi(argv[3]), std::stoull(argv[4]), argc > 5 ? std::stoi(argv[5]) : 0);
    return 0;
  }
  if (role == "consume" && argc == 4) return consume(argv[2], std::stoi(argv[3]));
  std::fprintf(stderr, "usage: %s produce FOLDER SEATS BATCHES [PAUSE_US] | consume FOLDER SEAT\n", argv[0]);
  return 2;
} catch (const std::exception& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
