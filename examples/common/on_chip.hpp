/// @file
/// The heat equation with the grid on chip. Each block of one kernel keeps a tile of the PE's points, and the halo
/// around the tile, in its shared memory for all iterations. Only points at the surface of tiles are sent, to the
/// blocks with the neighbouring tiles, on this PE or on another PE in the same way: as packets, which are words of a
/// point and the number of its generation. A block has an inbox with a word for each point of its tile's halo.
///
/// Without any fence, counter or sync of the grid, nothing is lost, and nothing is read too early or too late:
/// * A block computes generation g + 1 when the packets of generation g are in its tile's halo. The number in a packet
///   is the generation, and the point is in the same word, so no other memory has to be ordered.
/// * Inboxes are double: generation g is in inbox g % 2. A block sends generation g + 1 to its neighbour after it has
///   received the neighbour's generation g. The neighbour sent that generation after it had taken generation g - 1 out
///   of its inbox, whose words are now overwritten. Two blocks send to each other, or neither sends.
/// * The tile has two copies, for even and odd generations. The threads that write a copy have passed the same sync of
///   the block as all readers of its previous contents: a thread takes packets into the halo of one copy while another
///   thread still computes points of the same copy. No thread reads these points before the next sync.
/// * The last generation is not sent. The next kernel begins by sending it.
/// * All blocks run at the same time, which launch() ensures.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "block_memory.hpp"
#include "heat.hpp"
#include "world_tools.hpp"

namespace examples {

/// A point of a tile's surface: its index in the tile, and its word in the neighbour's inboxes.
struct leaving {
  std::int32_t point, word, pe;
};
/// A point of a tile's halo, and its word in this PE's inboxes.
struct coming {
  std::int32_t point, word;
};
/// The tile of a block.
struct tile_of_block {
  box at;  ///< the points of the PE's grid that the tile contains
  int n_leaving, n_coming;
};

/// The tiles of a PE, for the kernel. A tile has the layout of a grid, with a layer of halo around it.
struct tiles_on_chip {
  const tile_of_block* tiles;
  const leaving* out;         ///< `capacity` for each tile
  const coming* in;           ///< as in `out`
  std::uint64_t* packets;     ///< the inboxes of even generations, then the inboxes of odd generations
  std::int32_t inboxes;       ///< the number of words of all inboxes of a generation
  std::int32_t capacity;      ///< the number of words of an inbox
  std::int32_t pitch, plane;  ///< of a tile, in points
  std::int32_t volume;        ///< the distance from one field to the next in a tile
  int fields;
  std::int64_t grid_points;  ///< the distance from one field to the next in the grid
  strides grid;
  int n[3];             ///< the extent of the PE's points
  std::byte* rooms;     ///< on a CPU, in place of shared memory
  std::int32_t room;    ///< the bytes of a block
  std::int32_t points;  ///< the largest number of points in a tile, of all fields
};

/// The iterations from generation `step` to generation `end`, at least one, for the tile of each block. Reads a grid at
/// the start and writes a grid at the end.
template <class Points>
struct iterate_on_chip {
  static constexpr unsigned max_threads = 512;
  static constexpr unsigned min_blocks = 2;  // blocks on a multiprocessor

  template <pgas::block_group Block>
  PGAS_FN void operator()(Block block, pgas::context ctx, tiles_on_chip x, const float* from, float* to,
                          std::uint64_t step, std::uint64_t end) const {
    const int rank = static_cast<int>(block.thread_rank()), size = static_cast<int>(block.size());
    const auto me = static_cast<int>(block.block_rank());
    const tile_of_block mine = x.tiles[me];
    const int width = mine.at.hi[0] - mine.at.lo[0], rows = mine.at.hi[1] - mine.at.lo[1];
    const int layers = mine.at.hi[2] - mine.at.lo[2], points = x.fields * width * rows * layers;

    // The block's memory: two copies of the tile, then three lists: the points of the tile, the points to send, and the
    // points to receive.
    float* const copies = reinterpret_cast<float*>(memory_of(block, x.rooms, static_cast<std::size_t>(x.room)));
    auto* const own = reinterpret_cast<std::int32_t*>(copies + 2 * x.fields * x.volume);
    auto* const out = reinterpret_cast<leaving*>(own + x.points);
    auto* const in = reinterpret_cast<coming*>(out + x.capacity);
    const auto copy_of = [=](std::uint64_t generation) {
      return copies + static_cast<int>(generation % 2) * x.fields * x.volume;
    };
    // Each thread reads only the entries that it writes here, so the lists need no sync.
    for (int i = rank; i < points; i += size)
      own[i] = i / (width * rows * layers) * x.volume + 1 + i % width + x.pitch * (1 + i / width % rows) +
               x.plane * (1 + i / (width * rows) % layers);
    for (int i = rank; i < mine.n_leaving; i += size) out[i] = x.out[me * x.capacity + i];
    for (int i = rank; i < mine.n_coming; i += size) in[i] = x.in[me * x.capacity + i];

    // Copies the points of this tile, and the points beyond the PE's grid. Points beyond the grid that no block sends
    // do not change.
    const auto beyond = [&](int at, int axis) { return at < 1 || at > x.n[axis]; };
    for (int f = 0; f < x.fields; ++f)
      for (int i = rank; i < (width + 2) * (rows + 2) * (layers + 2); i += size) {
        const int dx = i % (width + 2), dy = i / (width + 2) % (rows + 2), dz = i / (width + 2) / (rows + 2);
        const int px = mine.at.lo[0] - 1 + dx, py = mine.at.lo[1] - 1 + dy, pz = mine.at.lo[2] - 1 + dz;
        const bool inside = dx > 0 && dx <= width && dy > 0 && dy <= rows && dz > 0 && dz <= layers;
        if (!inside && !beyond(px, 0) && !beyond(py, 1) && !beyond(pz, 2)) continue;
        const float value = from[f * x.grid_points + x.grid.index(px, py, pz)];
        for (int copy = 0; copy < 2; ++copy)
          copies[(copy * x.fields + f) * x.volume + dx + x.pitch * dy + x.plane * dz] = value;
      }
    block.sync();

    const auto send = [&](std::uint64_t generation, const auto& value_of_point) {
      std::uint64_t* const inboxes = x.packets + static_cast<std::int64_t>(generation % 2) * x.inboxes;
      for (int i = rank; i < mine.n_leaving; i += size) {
        const leaving each = out[i];
        pgas::p(ctx, inboxes + each.word, packet_of(value_of_point(each.point), generation + 1), each.pe);
      }
    };
    const auto receive = [&](std::uint64_t generation, float* tile) {
      const std::uint64_t* const inboxes = x.packets + static_cast<std::int64_t>(generation % 2) * x.inboxes;
      for (int i = rank; i < mine.n_coming; i += size)
        tile[in[i].point] =
            value_of<float>(pgas::wait_until(ctx, inboxes + in[i].word, pgas::cmp::ge, (generation + 1) << 32));
    };

    send(step, [&](int point) { return copy_of(step)[point]; });
    for (; step < end; ++step) {
      float* const now = copy_of(step);
      float* const next = copy_of(step + 1);
      receive(step, now);
      block.sync();
      // The thread that sends a point also computes it. The points to send are therefore in flight before the other
      // points are computed.
      if (step + 1 < end) send(step + 1, [=](int point) { return Points::at(now + point, x.pitch, x.plane); });
      for (int i = rank; i < points; i += size) next[own[i]] = Points::at(now + own[i], x.pitch, x.plane);
    }
    block.sync();
    for (int f = 0; f < x.fields; ++f)
      for (int i = rank; i < width * rows * layers; i += size) {
        const int dx = i % width, dy = i / width % rows, dz = i / width / rows;
        to[f * x.grid_points + x.grid.index(mine.at.lo[0] + dx, mine.at.lo[1] + dy, mine.at.lo[2] + dz)] =
            copy_of(end)[own[f * width * rows * layers + i]];
      }
  }
};

/// Solves the equation on chip, in separate grids. *Callers* all functions are collective unless stated otherwise.
template <class Points>
class grid_on_chip {
 public:
  grid_on_chip(pgas::world& world, const heat_options& o) : world_(world), o_(o), grids_(world, o, o.pes) {
    bool direct = true;
    for (int pe = 0; pe < world.n_pes(); ++pe) direct = direct && (pe == world.my_pe() || world.pe(pe).direct);
    if (least(world, direct ? 1 : 0) == 0) {
      why_not_ = "PEs do not reach one another by load and store";
      return;
    }
    // There are as many tiles as resident blocks. If the memory of the tiles limits the number of blocks, tiles are
    // fewer and larger.
    int limit = o.blocks > 0 ? o.blocks : grids_.on_host() ? 1 : most_blocks(0);
    for (limit = least(world, limit); limit > 0; --limit) {
      lay_out(limit);
      const int fit = most_blocks(static_cast<std::size_t>(view_.room));
      if (least(world, fit) >= n_tiles()) break;
      limit = std::min(limit, n_tiles());
    }
    if (limit == 0) {
      why_not_ = "a block would need " + std::to_string(view_.room) +
                 " bytes of shared memory, so that not all would run together: take more PEs or a smaller grid";
      return;
    }
    make_lists();
  }

  /// The reason why the grid cannot be kept on chip. Empty if it can. Not collective.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  [[nodiscard]] int n_tiles() const { return tiles_[0] * tiles_[1] * tiles_[2]; }
  [[nodiscard]] const triple& tile() const { return most_; }
  [[nodiscard]] std::uint64_t steps() const { return step_; }
  [[nodiscard]] heat_grids& grids() { return grids_; }

  /// Enqueues `steps` iterations. Not collective, but all PEs must call it.
  void run(std::uint64_t steps) {
    pgas::launch(world_,
                 {.blocks = static_cast<unsigned>(n_tiles()),
                  .threads = iterate_on_chip<Points>::max_threads,
                  .shared_bytes = grids_.on_host() ? 0 : static_cast<std::size_t>(view_.room)},
                 iterate_on_chip<Points>{}, world_.context(), view_, grid(step_), grids_.grid(step_ + steps), step_,
                 step_ + steps);
    step_ += steps;
  }

 private:
  [[nodiscard]] const float* grid(std::uint64_t generation) { return grids_.grid(generation); }
  [[nodiscard]] int most_blocks(std::size_t room) {
    return static_cast<int>(pgas::max_resident_blocks(world_, iterate_on_chip<Points>::max_threads,
                                                      grids_.on_host() ? 0 : room, iterate_on_chip<Points>{},
                                                      world_.context(), view_, grid(0), grids_.grid(0), step_, step_));
  }
  /// Whether points travel in this direction.
  [[nodiscard]] bool travel(int direction) const {
    const int axes = (along(direction, 0) != 0) + (along(direction, 1) != 0) + (along(direction, 2) != 0);
    return axes == 1 || (axes > 1 && o_.corners());
  }
  /// The points that a tile of the given extent sends in one direction.
  [[nodiscard]] static int face(const triple& extent, int direction) {
    return (along(direction, 0) == 0 ? extent[0] : 1) * (along(direction, 1) == 0 ? extent[1] : 1) *
           (along(direction, 2) == 0 ? extent[2] : 1);
  }
  [[nodiscard]] int all_faces(const triple& extent) const {
    int points = 0;
    for (int direction = 0; direction < n_directions; ++direction)
      if (travel(direction)) points += face(extent, direction);
    return points;
  }

  /// Chooses the number of tiles on each axis: the division with the least work and communication per block, in which
  /// no tile is empty. There are at most `limit` tiles, and all PEs choose the same division. Also computes the sizes
  /// that follow from the division.
  void lay_out(int limit) {
    const decomposition& d = grids_.mine();
    triple most_tiles{};
    for (std::size_t a = 0; a < 3; ++a) most_tiles[a] = split(d.size[a], d.pes[a], d.pes[a] - 1).count;
    int least_work = 0;
    for (int x = 1; x <= std::min(limit, most_tiles[0]); ++x)
      for (int y = 1; y <= std::min(limit / x, most_tiles[1]); ++y)
        for (int z = 1; z <= std::min(limit / x / y, most_tiles[2]); ++z) {
          const triple extent{(d.most[0] + x - 1) / x, (d.most[1] + y - 1) / y, (d.most[2] + z - 1) / z};
          const int work = extent[0] * extent[1] * extent[2] + 2 * all_faces(extent);
          if (least_work != 0 && work >= least_work) continue;
          least_work = work;
          tiles_ = {x, y, z};
          most_ = extent;
        }
    view_.fields = o_.fields;
    view_.pitch = most_[0] + 2;
    view_.plane = view_.pitch * (most_[1] + 2);
    view_.volume = view_.plane * (most_[2] + 2);
    view_.capacity = all_faces(most_) * o_.fields;
    view_.points = most_[0] * most_[1] * most_[2] * o_.fields;
    view_.inboxes = n_tiles() * view_.capacity;
    view_.room = 2 * o_.fields * view_.volume * static_cast<int>(sizeof(float)) + view_.points * 4 +
                 view_.capacity * static_cast<int>(sizeof(leaving) + sizeof(coming));
    view_.room = (view_.room + 15) / 16 * 16;
  }

  /// The neighbour of tile `t` of this PE in one direction.
  struct beside {
    int pe, tile;  ///< -1: the grid ends in this direction
  };
  [[nodiscard]] beside neighbour_of(const triple& t, int direction) const {
    const decomposition& d = grids_.mine();
    triple tile{}, pe{};
    for (int a = 0; a < 3; ++a) {
      const auto i = static_cast<std::size_t>(a);
      const int at = d.at[i] * tiles_[i] + t[i] + along(direction, a), all = d.pes[i] * tiles_[i];
      if (!d.periodic && (at < 0 || at >= all)) return {-1, -1};
      tile[i] = (at + all) % all % tiles_[i];
      pe[i] = (at + all) % all / tiles_[i];
    }
    return {pe[0] + d.pes[0] * (pe[1] + d.pes[1] * pe[2]), tile[0] + tiles_[0] * (tile[1] + tiles_[1] * tile[2])};
  }

  /// The points of one tile to send and to receive. Neighbouring tiles have faces of the same extent, because all PEs
  /// are divided in the same way.
  void list_tile(int number, tile_of_block& tile, std::vector<leaving>& out, std::vector<coming>& in) const {
    const decomposition& d = grids_.mine();
    const triple t{number % tiles_[0], number / tiles_[0] % tiles_[1], number / tiles_[0] / tiles_[1]};
    triple n{};
    for (std::size_t a = 0; a < 3; ++a) {
      const part points = split(d.n[a], tiles_[a], t[a]);
      n[a] = points.count;
      tile.at.lo[a] = 1 + points.first;
      tile.at.hi[a] = tile.at.lo[a] + points.count;
    }
    std::vector<int> first(n_directions);  // the first word of an inbox for each direction from which points arrive
    for (int direction = 0, words = 0; direction < n_directions; ++direction) {
      first[static_cast<std::size_t>(direction)] = words;
      if (travel(direction)) words += face(most_, direction) * o_.fields;
    }
    for (int direction = 0; direction < n_directions; ++direction) {
      if (!travel(direction)) continue;
      const beside remote = neighbour_of(t, direction);
      if (remote.pe < 0) continue;
      int mine = number * view_.capacity + first[static_cast<std::size_t>(direction)];
      int theirs = remote.tile * view_.capacity + first[static_cast<std::size_t>(opposite(direction))];
      for (int f = 0; f < o_.fields; ++f)
        for (int i = 0; i < face(n, direction); ++i) {
          int point = f * view_.volume, halo = point, left = i;
          for (int a = 0; a < 3; ++a) {
            const int extent = n[static_cast<std::size_t>(a)], step = along(direction, a);
            const int stride = a == 0 ? 1 : a == 1 ? view_.pitch : view_.plane;
            point += stride * (step < 0 ? 1 : step > 0 ? extent : 1 + left % extent);
            halo += stride * (step < 0 ? 0 : step > 0 ? extent + 1 : 1 + left % extent);
            if (step == 0) left /= extent;
          }
          out.push_back({point, theirs++, remote.pe});
          in.push_back({halo, mine++});
          ++tile.n_leaving;
          ++tile.n_coming;
        }
    }
  }

  void make_lists() {
    const auto tiles = static_cast<std::size_t>(n_tiles()), capacity = static_cast<std::size_t>(view_.capacity);
    parts_ = world_.allocate<tile_of_block>(tiles);
    out_ = world_.allocate<leaving>(std::max<std::size_t>(1, tiles * capacity));
    in_ = world_.allocate<coming>(std::max<std::size_t>(1, tiles * capacity));
    packets_ = world_.allocate<std::uint64_t>(2 * std::max<std::size_t>(1, tiles * capacity), pgas::initialize::zero);
    if (grids_.on_host()) rooms_ = world_.allocate<std::byte>(tiles * static_cast<std::size_t>(view_.room));
    for (std::size_t t = 0; t < tiles; ++t) {
      tile_of_block tile{};
      std::vector<leaving> out;
      std::vector<coming> in;
      list_tile(static_cast<int>(t), tile, out, in);
      pgas::put(world_, parts_.data() + t, &tile, 1, world_.my_pe());
      pgas::put(world_, out_.data() + t * capacity, out.data(), out.size(), world_.my_pe());
      pgas::put(world_, in_.data() + t * capacity, in.data(), in.size(), world_.my_pe());
    }
    const decomposition& d = grids_.mine();
    view_.tiles = parts_.data();
    view_.out = out_.data();
    view_.in = in_.data();
    view_.packets = packets_.data();
    view_.rooms = grids_.on_host() ? rooms_.data() : nullptr;
    view_.grid_points = static_cast<std::int64_t>(d.grid_points);
    view_.grid = {d.pitch, d.plane};
    for (std::size_t a = 0; a < 3; ++a) view_.n[a] = d.n[a];
    world_.barrier_all();
  }

  pgas::world& world_;
  heat_options o_;
  heat_grids grids_;
  std::string why_not_;
  triple tiles_{1, 1, 1}, most_{};
  std::uint64_t step_ = 0;
  tiles_on_chip view_{};
  pgas::symmetric<tile_of_block> parts_;
  pgas::symmetric<leaving> out_;
  pgas::symmetric<coming> in_;
  pgas::symmetric<std::uint64_t> packets_;
  pgas::symmetric<std::byte> rooms_;
};

}  // namespace examples
