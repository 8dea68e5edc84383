// A trainer hands new versions of its weights to inference engines, which shard the weights in another way. The trainer
// is a job of M PEs, each with some rows of every tensor. Each of the N engines is a program of its own, with some
// columns of every tensor. The programs find one another through tickets in a folder, and may be killed and restarted.
//
//     pgasrun -n M 27_weights train FOLDER VERSIONS ENGINES [PAUSE_US]
//     27_weights serve FOLDER NUMBER ENGINES VERSIONS [careless]      NUMBER: 0 to ENGINES - 1
//
// Both sides have two buffers. The trainer writes version v into buffer v % 2 and never waits for an engine. An engine
// copies the newest version into its unused buffer, with one copy_blocks() for each PE of the trainer, and uses this
// buffer from then on. An update fails if a PE of the trainer ends, or begins to write version v + 2 before the engine
// has copied version v. The engine then keeps its old version, and tries again.
//
// Two timelines show the progress of each PE: `writing`, which the host sets before the kernels of a version start, and
// `ready`, which the stream records after these kernels. With `careless`, an engine ignores `writing`, so that it finds
// words of two versions.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/station.hpp"
#include "pgas/copy_blocks.hpp"
#include "pgas/timeline.hpp"

namespace {

using examples::station;
using examples::step;
using std::chrono::milliseconds;

constexpr std::uint64_t n_tensors = 40;

/// A half-open range of rows or columns.
struct range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  [[nodiscard]] PGAS_HD std::uint64_t size() const { return end - begin; }
};
range part_of(std::uint64_t whole, int part, int parts) {
  const auto [i, n] = std::pair{static_cast<std::uint64_t>(part), static_cast<std::uint64_t>(parts)};
  return {whole * i / n, whole * (i + 1) / n};
}
std::uint64_t rows_of(std::uint64_t tensor) { return 32 + tensor * 37 % 101; }
std::uint64_t columns_of(std::uint64_t tensor) { return 64 + tensor * 53 % 211; }

/// The part of one tensor in a buffer. `at` is the index of the part's first word in the buffer.
struct piece {
  std::uint64_t tensor, at;
  range rows, columns;
};
/// The pieces of a shard, and their size in words.
struct shard {
  std::vector<piece> pieces;
  std::uint64_t words = 0;

  void add(std::uint64_t tensor, range rows, range columns) {
    pieces.push_back({tensor, words, rows, columns});
    words += rows.size() * columns.size();
  }
};
shard rows_of_trainer(int pe, int n_pes) {
  shard result;
  for (std::uint64_t t = 0; t < n_tensors; ++t) result.add(t, part_of(rows_of(t), pe, n_pes), {0, columns_of(t)});
  return result;
}
shard columns_of_engine(int number, int engines) {
  shard result;
  for (std::uint64_t t = 0; t < n_tensors; ++t) result.add(t, {0, rows_of(t)}, part_of(columns_of(t), number, engines));
  return result;
}

PGAS_HD std::uint32_t weight(std::uint64_t version, std::uint64_t tensor, std::uint64_t row, std::uint64_t column) {
  return static_cast<std::uint32_t>(((version * n_tensors + tensor) * 131 + row) * 277 + column);
}

/// "Trains": writes the weights of a version.
struct train {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, std::uint32_t* words, piece p, std::uint64_t version) const {
    for (std::uint64_t i = block.thread_rank(); i < p.rows.size() * p.columns.size(); i += block.size())
      words[p.at + i] =
          weight(version, p.tensor, p.rows.begin + i / p.columns.size(), p.columns.begin + i % p.columns.size());
  }
};

/// Compares weights with a version, and counts the weights that differ.
struct inspect {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, const std::uint32_t* words, piece p, std::uint64_t version,
                          std::uint64_t* wrong) const {
    std::uint64_t mine = 0;
    for (std::uint64_t i = block.thread_rank(); i < p.rows.size() * p.columns.size(); i += block.size())
      mine += words[p.at + i] !=
              weight(version, p.tensor, p.rows.begin + i / p.columns.size(), p.columns.begin + i % p.columns.size());
    if (mine > 0) pgas::atomic_add(ctx, wrong, mine, ctx.my_pe());
  }
};

/// The version in a file; 0 if there is no file.
std::uint64_t version_in(const std::string& file) {
  const std::vector<std::string> lines = examples::read_lines(file);
  return lines.empty() ? 0 : std::stoull(lines[0]);
}

void trainer(const std::string& folder, std::uint64_t versions, int engines, int pause_us) {
  station here;
  const int me = here.world.my_pe();
  const shard mine = rows_of_trainer(me, here.world.n_pes());
  auto weights = pgas::shared_memory::make(here.place, 2 * mine.words * sizeof(std::uint32_t));
  auto writing = pgas::timeline::make(here.place);
  auto ready = pgas::timeline::make(here.place);
  // All PEs of a job publish the same random number, so that engines recognize the offers of one job.
  const auto job = here.world.allocate<std::uint64_t>(1);
  if (me == 0) pgas::p(here.world, job.data(), std::uint64_t{std::random_device{}()} + 1, 0);
  here.world.barrier_all();
  examples::write_lines(folder + "/trainer" + std::to_string(me),
                        {std::to_string(pgas::g(here.world, job.data(), 0)), std::to_string(here.world.n_pes()),
                         weights.ticket(), writing.ticket(), ready.ticket()});
  auto* const words = static_cast<std::uint32_t*>(weights.data());
  // A restarted job writes its last version again, for engines that do not have this version yet.
  for (std::uint64_t v = std::max(version_in(folder + "/checkpoint"), std::uint64_t{1}); v <= versions; ++v) {
    step();
    writing.set(v);
    for (const piece& each : mine.pieces)
      pgas::launch(here.world, here.shape, train{}, words + v % 2 * mine.words, each, v);
    step();
    ready.record(here.stream.native(), v);
    here.stream.synchronize();
    here.world.barrier_all();
    if (me == 0) examples::write_lines(folder + "/checkpoint", {std::to_string(v)});
    step();
    std::this_thread::sleep_for(std::chrono::microseconds(pause_us));
  }
  for (int engine = 0; engine < engines; ++engine)
    while (version_in(folder + "/engine" + std::to_string(engine)) < versions)
      std::this_thread::sleep_for(milliseconds(5));
  here.world.barrier_all();
}

/// The tickets that a PE of the trainer publishes.
struct trainer_pe {
  std::string job;
  shard rows;
  pgas::opened_memory weights;
  pgas::timeline writing, ready;
};

struct engine {
  std::string folder;
  int number;
  int engines;
  std::uint64_t versions;
  bool careless;
  station here{};
  shard mine = columns_of_engine(number, engines);
  pgas::shared_memory buffers = pgas::shared_memory::make(here.place, 2 * mine.words * sizeof(std::uint32_t));
  pgas::symmetric<std::uint64_t> wrong = here.world.allocate<std::uint64_t>(1, pgas::initialize::zero);
  std::uint64_t in_use = 0;  ///< the version in use, in buffer in_use_buffer
  std::uint64_t in_use_buffer = 0;
  std::uint64_t updates = 0;
  std::uint64_t failed = 0;

  std::uint32_t* buffer(std::uint64_t which) {
    return static_cast<std::uint32_t*>(buffers.data()) + which * mine.words;
  }

  /// Opens the offers of a job other than `not_this`. Empty if there is no complete offer.
  std::vector<trainer_pe> find_trainer(const std::string& not_this) {
    std::vector<trainer_pe> found;
    const pgas::open_options at_place{.place = here.place};
    for (int pe = 0, n_pes = 1; pe < n_pes; ++pe) {
      const std::vector<std::string> lines = examples::read_lines(folder + "/trainer" + std::to_string(pe));
      if (lines.size() != 5 || lines[0] == not_this || (pe > 0 && lines[0] != found[0].job)) return {};
      n_pes = std::stoi(lines[1]);
      found.push_back({lines[0], rows_of_trainer(pe, n_pes), pgas::opened_memory::open(lines[2], at_place),
                       pgas::timeline::open(lines[3], at_place), pgas::timeline::open(lines[4], at_place)});
      step();
    }
    return found;
  }

  /// The blocks that copy the columns of this engine from one PE of the trainer: one block for each row of a tensor.
  std::vector<pgas::copy_block> blocks_from(const trainer_pe& from, std::uint64_t version) {
    std::vector<pgas::copy_block> blocks;
    const auto* const source = static_cast<const std::uint32_t*>(from.weights.data()) + version % 2 * from.rows.words;
    for (std::uint64_t t = 0; t < n_tensors; ++t) {
      const piece& to = mine.pieces[t];
      const piece& theirs = from.rows.pieces[t];
      for (std::uint64_t row = theirs.rows.begin; row < theirs.rows.end; ++row)
        blocks.push_back({buffer(1 - in_use_buffer) + to.at + row * to.columns.size(),
                          source + theirs.at + (row - theirs.rows.begin) * theirs.columns.size() + to.columns.begin,
                          to.columns.size() * sizeof(std::uint32_t)});
    }
    return blocks;
  }

  /// Copies a version into the buffer that is not in use. Returns whether the buffer contains exactly this version.
  /// Throws peer_lost if a PE of the trainer ends.
  bool update(const std::vector<trainer_pe>& from, std::uint64_t version) {
    std::vector<std::vector<pgas::copy_block>> lists;  // the stream can read the lists until the synchronize() below
    for (const trainer_pe& pe : from) lists.push_back(blocks_from(pe, version));
    try {
      for (const std::vector<pgas::copy_block>& blocks : lists) {
        pgas::copy_blocks(here.place, here.stream.native(), {blocks.data(), blocks.size()});
        step();
      }
    } catch (...) {
      here.stream.synchronize();
      throw;
    }
    here.stream.synchronize();
    for (const trainer_pe& pe : from) {
      pe.ready.check();
      if (!careless && pe.writing.query() >= version + 2) return false;
    }
    step();
    in_use_buffer = 1 - in_use_buffer;
    in_use = version;
    return true;
  }

  /// Compares the weights in use with the version in use. Returns the number of weights that differ.
  std::uint64_t wrong_weights() {
    const std::uint64_t before = pgas::g(here.world, wrong.data(), 0);
    for (const piece& each : mine.pieces)
      pgas::launch(here.world, here.shape, inspect{}, here.world.context(), buffer(in_use_buffer), each, in_use,
                   wrong.data());
    here.stream.synchronize();
    return pgas::g(here.world, wrong.data(), 0) - before;
  }

  int run() {
    std::string lost;
    std::uint64_t found_wrong = 0;
    std::vector<trainer_pe> from;
    while (in_use < versions) try {
        if (from.empty()) {
          from = find_trainer(lost);
          if (from.empty()) std::this_thread::sleep_for(milliseconds(5));
          continue;
        }
        std::uint64_t newest = versions;
        for (const trainer_pe& pe : from) newest = std::min(newest, pe.ready.query());
        if (newest > in_use) {
          ++updates;
          if (!update(from, newest)) ++failed;
        } else {
          for (const trainer_pe& pe : from) pe.ready.check();
          std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
        if (in_use > 0) found_wrong += wrong_weights();
      } catch (const pgas::error& what) {
        if (!examples::is_gone(what)) throw;
        if (!from.empty()) {
          std::printf("engine %d keeps version %llu: %s\n", number, static_cast<unsigned long long>(in_use),
                      what.what());
          lost = from[0].job;
        }
        from.clear();
        if (in_use > 0) found_wrong += wrong_weights();
        std::this_thread::sleep_for(milliseconds(5));
      }
    examples::write_lines(folder + "/engine" + std::to_string(number), {std::to_string(in_use)});
    std::printf("engine %d: version %llu, %llu updates, %llu too late, %llu weights wrong\n", number,
                static_cast<unsigned long long>(in_use), static_cast<unsigned long long>(updates),
                static_cast<unsigned long long>(failed), static_cast<unsigned long long>(found_wrong));
    return found_wrong == 0 ? 0 : 1;
  }
};

}  // namespace

int main(int argc, char** argv) try {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string role = argc > 1 ? argv[1] : "";
  if (role == "train" && argc >= 5) {
    trainer(argv[2], std::stoull(argv[3]), std::stoi(argv[4]), argc > 5 ? std::stoi(argv[5]) : 0);
    return 0;
  }
  if (role == "serve" && argc >= 6)
    return engine{argv[2], std::stoi(argv[3]), std::stoi(argv[4]), std::stoull(argv[5]), argc > 6}.run();
  std::fprintf(stderr,
               "usage: %s train FOLDER VERSIONS ENGINES [PAUSE_US] | serve FOLDER NUMBER ENGINES VERSIONS [careless]\n",
               argv[0]);
  return 2;
} catch (const std::exception& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
