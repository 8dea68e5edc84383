// Particles in cells: every PE has a rectangle of cells and the particles in it. In each step all particles move, and
// particles that have left the rectangle are sent to the PE of a neighbouring rectangle, in one of 8 directions. No PE
// knows in advance how many particles it will receive, as in codes for graphs, hash tables and sparse matrices.
//
// A PE has one inbox for all its neighbours. A PE that sends particles reserves entries by an atomic_fetch_add on the
// inbox's counter, puts the particles there, and adds to the inbox's signal: 2^32 for itself and 1 for each particle.
// When all 8 neighbours have added (some of them without particles), the lower half of the signal is the number of
// particles that have arrived. A particle is therefore read only after it has arrived, and no message about available
// space is necessary.
//
// No particle is lost if an inbox is full: a PE whose entries are beyond the end of the inbox puts only the particles
// that fit, and keeps the others. These particles are late: their old PE moves them, and sends them in the next step. A
// code with interacting particles would repeat the exchange instead, as this program does after the last step, until
// all particles have arrived.
//
// There are two inboxes, used alternately, and no barrier. A PE that writes to an inbox again, two steps later, has
// received the signal of the step in between. The owner sent that signal after it had emptied the inbox and set counter
// and signal to zero.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "common/options.hpp"
#include "common/particle_box.hpp"
#include "common/world_tools.hpp"
#include "pgas/device.hpp"
#include "pgas/pgas.hpp"

namespace {

using examples::particle;
using pgas::signal_t;
using count_t = std::uint64_t;

constexpr int directions = 9;  // the directions of a 3 x 3 neighbourhood; 4 is the PE itself and has no list
constexpr int neighbours = 8;
constexpr unsigned block_threads = 256;
constexpr int batch = 8;  // the largest number of particles that one atomic operation appends to a list

// The counts of a PE in a step.
struct counters {
  count_t stay;               // the number of particles that stay on the PE
  count_t leave[directions];  // the numbers of particles to send, by direction
};

// The checked values: sums that are invariant, and the numbers of particles that are wrong or in the wrong rectangle.
// Also the numbers, since the start, of particles that were sent and that were late.
enum sum : int { number, momentum_x, momentum_y, names, wrong, away, looked_at, sent = looked_at, late, all_sums };

struct memory {
  examples::particle_box box;
  count_t room, list_room, inbox_room;  // the numbers of particles for which there is room

  particle* here[2];   // this PE's particles before and after a step; the arrays change roles in each step
  particle* lists;     // particles to send, by direction
  counters* counted;   // the counters of two steps, alternating
  particle* inbox[2];  // written by neighbours
  count_t* reserved;   // for each inbox: the number of entries that neighbours have reserved
  signal_t* arrived;   // for each inbox: 2^32 for each neighbour that has sent, plus 1 for each particle
  count_t* sums;       // see enum sum

  PGAS_HD int neighbour(int me, int direction) const {
    const int x = (me % box.pes_x + direction % 3 - 1 + box.pes_x) % box.pes_x;
    const int y = (me / box.pes_x + direction / 3 - 1 + box.pes_y) % box.pes_y;
    return y * box.pes_x + x;
  }
  // The direction in which a particle must be sent from PE `me`.
  PGAS_HD int direction(int me, const particle& p) const {
    return 3 * (1 + box.way(me / box.pes_x, box.row(p), box.pes_y)) + 1 +
           box.way(me % box.pes_x, box.column(p), box.pes_x);
  }
};

// Divides `elements` elements among the threads of the grid. Each call f(first, step, count) is for `count` elements,
// at most `batch`, with the indices `first`, `first + step` and so on.
template <class Block, class F>
PGAS_FN void in_batches(const Block& block, count_t elements, const F& f) {
  const count_t tile = count_t{block.size()} * batch;
  for (count_t begin = block.block_rank() * tile; begin < elements; begin += block.num_blocks() * tile) {
    const count_t first = begin + block.thread_rank();
    const count_t end = begin + tile < elements ? begin + tile : elements;
    if (first < end) f(first, count_t{block.size()}, static_cast<int>((end - first + block.size() - 1) / block.size()));
  }
}

// Appends up to `batch` particles to the particles that stay.
PGAS_FN void keep(const pgas::context& ctx, const memory& m, int step, const particle* some, int count) {
  if (count == 0) return;
  count_t at = pgas::atomic_fetch_add(ctx, &m.counted[step % 2].stay, static_cast<count_t>(count), ctx.my_pe());
  for (int i = 0; i < count; ++i, ++at) m.here[(step + 1) % 2][at] = some[i];
}

// Moves the particles. Appends each particle that leaves this PE to the list for its direction. With `moves` 0, no
// particle moves, and only late particles are appended.
struct move_all {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, memory m, int step, int moves) const {
    const int me = ctx.my_pe();
    const int other = (step + 1) % 2;
    if (block.block_rank() == 0 && block.thread_rank() == 0) {
      // The inbox of the last step is empty. Neighbours write to that inbox again only after they have received this
      // PE's signal of this step, and this PE sends the signal later.
      pgas::atomic_set(ctx, m.reserved + other, count_t{0}, me);
      pgas::atomic_set(ctx, m.arrived + other, signal_t{0}, me);
    }
    in_batches(block, m.counted[other].stay, [&](count_t first, count_t apart, int count) {
      particle stays[batch];
      int kept = 0;
      for (int i = 0; i < count; ++i) {
        particle p = m.here[step % 2][first + static_cast<count_t>(i) * apart];
        if (moves != 0) examples::move(p);
        const int direction = m.direction(me, p);
        const count_t place = direction == 4
                                  ? m.list_room
                                  : pgas::atomic_fetch_add(ctx, &m.counted[step % 2].leave[direction], count_t{1}, me);
        if (place < m.list_room)
          m.lists[static_cast<count_t>(direction) * m.list_room + place] = p;
        else
          stays[kept++] = p;  // the particle stays; or the list is full, and the particle is late
      }
      keep(ctx, m, step, stays, kept);
    });
  }
};

// Sends the lists to the neighbours, each list by one block. Blocks that have sent their lists wait for arriving
// particles and append them.
struct exchange {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, memory m, int step) const {
    const int me = ctx.my_pe();
    const int now = step % 2;
    counters& counted = m.counted[now];
    for (auto direction = static_cast<int>(block.block_rank()); direction < directions;
         direction += static_cast<int>(block.num_blocks())) {
      if (direction == 4) continue;
      const int pe = m.neighbour(me, direction);
      const particle* const list = m.lists + static_cast<count_t>(direction) * m.list_room;
      const count_t wanted = counted.leave[direction];
      const count_t count = wanted < m.list_room ? wanted : m.list_room;
      count_t first = 0;
      if (count != 0) {
        if (block.thread_rank() == 0) first = pgas::atomic_fetch_add(ctx, m.reserved + now, count, pe);
        first = block.broadcast(first);
      }
      const count_t room = first < m.inbox_room ? m.inbox_room - first : 0;
      const count_t fit = count < room ? count : room;
      pgas::put_signal(ctx, block, m.inbox[now] + (fit != 0 ? first : 0), list, fit, m.arrived + now,
                       (signal_t{1} << 32) + fit, pgas::signal_op::add, pe);
      for (count_t i = fit + block.thread_rank(); i < count; i += block.size()) keep(ctx, m, step, list + i, 1);
      if (block.thread_rank() == 0) {
        pgas::atomic_add(ctx, m.sums + sent, fit, me);
        pgas::atomic_add(ctx, m.sums + late, wanted - fit, me);
      }
    }
    pgas::wait_until(ctx, block, m.arrived + now, pgas::cmp::ge, signal_t{neighbours} << 32);
    const count_t came = pgas::signal_fetch(ctx, block, m.arrived + now) & 0xffffffffU;
    in_batches(block, came, [&](count_t first, count_t apart, int count) {
      particle some[batch];
      for (int i = 0; i < count; ++i) some[i] = m.inbox[now][first + static_cast<count_t>(i) * apart];
      keep(ctx, m, step, some, count);
    });
    if (block.block_rank() == 0 && block.thread_rank() == 0) m.counted[(step + 1) % 2] = counters{};
  }
};

// Creates the particles at the start.
struct create {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, memory m, count_t particles) const {
    in_batches(block, particles, [&](count_t first, count_t apart, int count) {
      particle mine[batch];
      int kept = 0;
      for (int i = 0; i < count; ++i) {
        const particle p = m.box.first(first + static_cast<count_t>(i) * apart);
        if (m.box.owner(p) == ctx.my_pe()) mine[kept++] = p;
      }
      keep(ctx, m, 1, mine, kept);  // counts as step 1
    });
  }
};

struct tally {
  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, memory m, int step, count_t moves) const {
    count_t mine[looked_at] = {};
    in_batches(block, m.counted[step % 2].stay, [&](count_t first, count_t apart, int count) {
      for (int i = 0; i < count; ++i) {
        const particle p = m.here[(step + 1) % 2][first + static_cast<count_t>(i) * apart];
        mine[number] += 1;
        mine[momentum_x] += static_cast<count_t>(std::int64_t{p.vx});
        mine[momentum_y] += static_cast<count_t>(std::int64_t{p.vy});
        mine[names] += examples::shuffled(p.id);
        mine[wrong] += m.box.is_right(p, moves) ? 0U : 1U;
        mine[away] += m.box.owner(p) == ctx.my_pe() ? 0U : 1U;
      }
    });
    for (int i = 0; i < looked_at; ++i) pgas::atomic_add(ctx, m.sums + i, mine[i], ctx.my_pe());
  }
};

struct options {
  int particles = 400000, steps = 100, report = 0, inbox = 0, blocks = 0;
  std::array<int, 2> cells{64, 64}, pes{0, 0};
  bool csv = false;
};

// The division into n rectangles with the shortest borders; 0 x 0 if there are not enough cells.
std::array<int, 2> arrange(int n, const std::array<int, 2>& cells) {
  std::array<int, 2> best{0, 0};
  double least = 0;
  for (int x = 1; x <= n; ++x) {
    if (n % x != 0 || x > cells[0] || n / x > cells[1]) continue;
    const double border = static_cast<double>(cells[0]) / x + static_cast<double>(cells[1]) * x / n;
    if (best[0] == 0 || border < least) best = {x, n / x};
    if (best[0] == x) least = border;
  }
  return best;
}

class simulation {
 public:
  simulation(pgas::world& world, const options& o) : world_(world), o_(o), blocks_(static_cast<unsigned>(o.blocks)) {
    m_.box = {o.cells[0], o.cells[1], o.pes[0], o.pes[1]};
    m_.room = static_cast<count_t>(o.particles);  // all particles can move to one PE
    m_.list_room = m_.inbox_room = static_cast<count_t>(o.inbox);
    const auto zero = pgas::initialize::zero;
    particles_ = world.allocate<particle>(2 * m_.room + (directions + 2) * m_.inbox_room);
    m_.here[0] = particles_.data();
    m_.here[1] = m_.here[0] + m_.room;
    m_.lists = m_.here[1] + m_.room;
    m_.inbox[0] = m_.lists + directions * m_.list_room;
    m_.inbox[1] = m_.inbox[0] + m_.inbox_room;
    counted_ = world.allocate<counters>(2, zero);
    m_.counted = counted_.data();
    sums_ = world.allocate<count_t>(all_sums, zero);
    m_.sums = sums_.data();
    words_ = world.allocate<count_t>(4, pgas::memory_hint::atomics_remote | pgas::memory_hint::signal_remote, zero);
    m_.reserved = words_.data();
    m_.arrived = words_.data() + 2;
    if (blocks_ == 0)
      blocks_ =
          world.heap() == pgas::heap_kind::host
              ? 1
              : std::min(pgas::max_resident_blocks(world, block_threads, 0, exchange{}, world.context(), m_, 0),
                         pgas::max_resident_blocks(world, block_threads, 0, move_all{}, world.context(), m_, 0, 0));
    start(create{}, m_.room);
    world.synchronize();
    world.barrier_all();
    begin_ = look();
  }

  // Makes one step. With `moves` 0, only exchanges late particles.
  void step(int moves) {
    start(move_all{}, ++step_, moves);
    start(exchange{}, step_);
    moved_ += static_cast<count_t>(moves);
  }

  // Sums over all PEs, after all of them have made the same steps. Includes the numbers of sent and of late particles.
  std::vector<count_t> look() {
    world_.synchronize();
    world_.barrier_all();
    const std::vector<count_t> nothing(looked_at, 0);
    pgas::put(world_, m_.sums, nothing.data(), nothing.size(), world_.my_pe());
    start(tally{}, step_, moved_);
    world_.synchronize();
    std::vector<count_t> sums(all_sums);
    pgas::get(world_, sums.data(), m_.sums, sums.size(), world_.my_pe());
    held_ = examples::gathered(world_, sums[number]);
    for (count_t& each : sums) each = examples::sum(world_, each);
    return sums;
  }

  // Whether no particle was lost, duplicated or changed.
  bool same(const std::vector<count_t>& now) const {
    return now[number] == static_cast<count_t>(o_.particles) && now[wrong] == 0 &&
           std::equal(begin_.begin(), begin_.begin() + wrong, now.begin());
  }

  // The particles of the fullest PE, relative to the average.
  double imbalance() const {
    const count_t most = *std::max_element(held_.begin(), held_.end());
    return static_cast<double>(most) * static_cast<double>(held_.size()) / static_cast<double>(o_.particles);
  }
  count_t fullest() const { return *std::max_element(held_.begin(), held_.end()); }
  count_t emptiest() const { return *std::min_element(held_.begin(), held_.end()); }

 private:
  template <class Kernel, class... Arguments>
  void start(const Kernel& kernel, Arguments... arguments) {
    pgas::launch(world_, {.blocks = blocks_, .threads = block_threads}, kernel, world_.context(), m_, arguments...);
  }

  pgas::world& world_;
  options o_;
  unsigned blocks_;
  memory m_{};
  pgas::symmetric<particle> particles_;
  pgas::symmetric<counters> counted_;
  pgas::symmetric<count_t> sums_, words_;
  std::vector<count_t> begin_, held_;
  int step_ = 1;  // the creation of particles counts as step 1, so the first step is 2
  count_t moved_ = 0;
};

}  // namespace

int main(int argc, char** argv) try {
  pgas::world world = pgas::world::join();
  const int n = world.n_pes();
  const bool speaks = world.my_pe() == 0;
  options o;
  examples::command_line line("23_particles", "Particles that leave to neighbours, whose number nobody knows before.",
                              "pgasrun -n 4 23_particles --particles 1000000 --cells 128,128");
  line.add("--particles", "COUNT", o.particles, 1, "of all PEs; each has room for all of them");
  line.add("--cells", "X,Y", o.cells, 1, "cells of the box; a particle moves by one at most in a step");
  line.add("--pes", "X,Y", o.pes, 0, "columns and rows of PEs, 0: chosen for short borders");
  line.add("--steps", "COUNT", o.steps, 1, "steps");
  line.add("--report", "STEPS", o.report, 0, "steps between two lines of the report, 0: a fifth of them");
  line.add("--inbox", "COUNT", o.inbox, 0, "particles that fit an inbox, and a list; 0: a quarter of a PE's share");
  line.add("--blocks", "COUNT", o.blocks, 0, "blocks of a launch, 0: 1 on the host heap, all that fit on a GPU");
  line.add("--csv", o.csv, "prints comma-separated values");
  if (const auto end = line.read(argc, argv, speaks)) return *end;
  const auto text = [](const std::array<int, 2>& pair) {
    return std::to_string(pair[0]) + " x " + std::to_string(pair[1]);
  };
  if (o.pes[0] == 0 || o.pes[1] == 0) o.pes = arrange(n, o.cells);
  if (o.pes[0] == 0)
    return line.refuse(text(o.cells) + " cells can't be divided among " + std::to_string(n) + " PEs", speaks);
  if (o.pes[0] * o.pes[1] != n)
    return line.refuse(text(o.pes) + " PEs are not the " + std::to_string(n) + " of this world", speaks);
  if (o.pes[0] > o.cells[0] || o.pes[1] > o.cells[1])
    return line.refuse(text(o.cells) + " cells are too few for " + text(o.pes) + " PEs", speaks);
  if (o.inbox == 0) o.inbox = std::max(o.particles / n / 4, 64);
  if (o.report == 0) o.report = std::max(o.steps / 5, 1);

  simulation all(world, o);
  if (speaks && !o.csv)
    std::printf("%d particles in %s cells on %s PEs\n  step   fewest     most  imbalance       sent     late\n",
                o.particles, text(o.cells).c_str(), text(o.pes).c_str());
  double seconds = 0;
  bool right = true;
  std::vector<count_t> now;
  for (int done = 0; done < o.steps;) {
    const int next = std::min(o.report, o.steps - done);
    seconds += examples::seconds_of(world, 0, next, [&](int) { all.step(1); });
    done += next;
    now = all.look();
    right = right && all.same(now);
    if (speaks && !o.csv)
      std::printf("%6d %8llu %8llu %10.2f %10llu %8llu\n", done, static_cast<unsigned long long>(all.emptiest()),
                  static_cast<unsigned long long>(all.fullest()), all.imbalance(),
                  static_cast<unsigned long long>(now[sent]), static_cast<unsigned long long>(now[late]));
    std::fflush(stdout);
  }
  const auto late_ones = static_cast<unsigned long long>(now[late]);
  int more = 0;  // exchanges without a step, which send late particles to their PEs
  for (; now[away] != 0 && right; ++more) {
    all.step(0);
    now = all.look();
    right = all.same(now);
  }
  const double us = seconds / o.steps * 1e6;
  const double in_a_step = static_cast<double>(now[sent]) / o.steps;
  if (speaks && o.csv) {
    std::printf(
        "particles,cells_x,cells_y,pes,steps,us_per_step,Mparticles_per_s,sent_per_step,late,imbalance,right\n");
    std::printf("%d,%d,%d,%d,%d,%.2f,%.3f,%.1f,%llu,%.3f,%d\n", o.particles, o.cells[0], o.cells[1], n, o.steps, us,
                o.particles / us, in_a_step, late_ones, all.imbalance(), right ? 1 : 0);
  } else if (speaks) {
    std::printf(
        "%.1f us a step, %.1f million particles a second, %.0f sent in a step; %d more exchanges for late ones\n", us,
        o.particles / us, in_a_step, more);
    std::printf(right ? "check: all %d particles are there, each where it has to be, and momentum is the same\n"
                      : "check: OF %d PARTICLES SOME ARE LOST, DOUBLED OR WRONG\n",
                o.particles);
  }
  return right ? 0 : 1;
} catch (const pgas::error& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
