/// @file
/// The halo exchange of the stencil programs, in device code: for each direction with a neighbour one message with the
/// points of all fields, and one signal word that counts generations of the grid.
///
/// Without any barrier, nothing is lost, and nothing is read too early or too late:
/// * An item reads the halo of those directions in which it also has points to send, because halo and message are on
///   the same side. Before the item is computed, await() waits for these directions' signals of this generation.
/// * The message of the next generation is complete when the last item with points for it is computed. By then all
///   items that read the halo of that direction have read it, and the signal of the message also tells this to the
///   neighbour. A block that sends a part of the message adds its share of `whole_message` to the word; all shares of a
///   generation add up to `whole_message`.
/// * There are two of each halo, outbox, inbox and word: generation g uses number g % 2. A PE stores generation g + 2
///   into a neighbour's halo after it has received the neighbour's generation g + 1, which the neighbour sent after
///   reading generation g. Words are doubled because a block can send its part of a message before another block has
///   sent its part of the previous message.
#pragma once

#include <algorithm>
#include <vector>

#include "decomposition.hpp"
#include "pgas/device.hpp"
#include "pgas/pgas.hpp"
#include "stencil.hpp"

namespace examples {

/// The way in which points get into a neighbour's halo.
enum class faces {
  pack,    ///< copied into one piece, put, and unpacked by the receiver
  iput,    ///< sent by a strided put, without packing
  remote,  ///< stored by the kernel that computes the points; sent by iput if the neighbour is proxied
  packets  ///< stored one by one with their generation, which is the signal; by iput if the neighbour is proxied
};

/// The sum of the signal values of all parts of a message.
inline constexpr std::uint64_t whole_message = std::uint64_t{1} << 32;
/// The value that one of `parts` parts adds to the word. All values are equal, except that the part with the message's
/// first point also adds the remainder.
[[nodiscard]] PGAS_HD constexpr std::uint64_t share(int parts, bool first) {
  const auto others = static_cast<std::uint32_t>(parts) - 1;
  const std::uint32_t each = ~std::uint32_t{0} / (others + 1);  // in 32 bits, because divisions of 64 bits are slow
  return first ? whole_message - std::uint64_t{each} * others : each;
}

/// The word of a direction for this generation: there are separate words for even and odd generations.
template <class Word>
[[nodiscard]] PGAS_FN Word* word_of(Word* words, int direction, std::uint64_t generation) {
  return words + direction + static_cast<int>(generation % 2) * n_directions;
}
/// The number of messages that the word has counted when the message of this generation is complete. Generation 0 has
/// no message.
[[nodiscard]] PGAS_FN std::uint64_t messages(std::uint64_t generation) { return (generation + 1) / 2; }

/// A word with a point of a message in the lower half, and the point's generation in the upper half.
template <class T>
[[nodiscard]] PGAS_FN std::uint64_t packet_of(T value, std::uint64_t generation) {
  std::uint32_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return generation << 32 | bits;
}
template <class T>
[[nodiscard]] PGAS_FN T value_of(std::uint64_t packet) {
  const auto bits = static_cast<std::uint32_t>(packet);
  T value{};
  __builtin_memcpy(&value, &bits, sizeof bits);
  return value;
}
/// The index of a point in a message that consists of the points of `all`.
[[nodiscard]] PGAS_FN std::int64_t place_in(const box& all, int i, int j, int k) {
  const int width = all.hi[0] - all.lo[0], rows = all.hi[1] - all.lo[1];
  return (i - all.lo[0]) + width * ((j - all.lo[1]) + static_cast<std::int64_t>(rows) * (k - all.lo[2]));
}

/// The exchange of points of type T as kernels see it. Words of signals and counts are found by word_of().
template <class T>
struct exchange {
  faces how;
  int fields;
  std::int64_t pitch, plane;
  std::int64_t field_points;  ///< the distance from one field's grid to the next
  const neighbour* to;
  const item* items;
  int n_boundary, n_items;     ///< boundary items come first
  T* outbox;                   ///< for `pack`
  T* inbox;                    ///< for `pack`; written by neighbours
  std::int64_t box_points;     ///< the distance from the box of even generations to the box of odd generations
  pgas::signal_t* arrived;     ///< `whole_message` for each complete message of a neighbour
  pgas::signal_t* unpacked;    ///< for `pack`: `whole_message` for each message that has been copied into the halo
  pgas::signal_t* computed;    ///< for each direction: how many items with points for it have been computed so far
  const unpack_item* unpacks;  ///< for `pack`: the parts of messages that blocks unpack before they compute items
  std::uint64_t* packets;      ///< for `packets`: two boxes, like `inbox`; written by neighbours
  bool corners;                ///< whether points need their diagonal neighbours
  int n_unpacks;
};

// The following functions are out of line and take arguments by value, because the kernel that computes the interior
// does most of the work and needs all registers for this work.

/// Copies a part of a message into the halo of `in`. *Callers* a block. Other blocks can wait for this copy.
template <class T, pgas::block_group Block>
PGAS_OUTLINE void unpack(pgas::context ctx, Block block, exchange<T> x, T* in, unpack_item entry,
                         std::uint64_t generation) {
  if (generation == 0) return;
  const neighbour& from = x.to[entry.direction];
  pgas::wait_until(ctx, block, word_of(x.arrived, entry.direction, generation), pgas::cmp::ge,
                   whole_message * messages(generation));
  const box halo = from.halo;
  const auto points = static_cast<std::int64_t>(volume(halo));
  for (int f = 0; f < x.fields; ++f) {
    const T* const message =
        x.inbox + static_cast<std::int64_t>(generation % 2) * x.box_points + from.message * x.fields + f * points;
    T* const grid = in + f * x.field_points;
    for_each_point(block, entry.at, [=](int i, int j, int k) {
      grid[i + x.pitch * j + x.plane * k] = message[place_in(halo, i, j, k)];
    });
  }
  bool first = true;
  for (int a = 0; a < 3; ++a) first = first && entry.at.lo[a] == halo.lo[a];
  pgas::put_signal(ctx, block, x.unpacked, x.unpacked, 0, word_of(x.unpacked, entry.direction, generation),
                   share(entry.parts, first), pgas::signal_op::add, ctx.my_pe());
}

/// Copies the packets of the halo that the item reads in one direction, after they have arrived.
template <class T, pgas::block_group Block>
PGAS_FN void await_packets(const pgas::context& ctx, const Block& block, const exchange<T>& x, const item& entry, T* in,
                           int direction, std::uint64_t generation) {
  const neighbour& from = x.to[direction];
  box around = entry.at;
  for (int a = 0; a < 3; ++a) {
    around.lo[a] -= x.corners || along(direction, a) < 0;
    around.hi[a] += x.corners || along(direction, a) > 0;
  }
  const box halo = from.halo;
  const auto points = static_cast<std::int64_t>(volume(halo));
  for (int f = 0; f < x.fields; ++f) {
    const std::uint64_t* const message =
        x.packets + static_cast<std::int64_t>(generation % 2) * x.box_points + from.message * x.fields + f * points;
    T* const grid = in + f * x.field_points;
    for_each_point(block, intersection(around, halo), [&](int i, int j, int k) {
      const std::uint64_t seen =
          pgas::wait_until(ctx, message + place_in(halo, i, j, k), pgas::cmp::ge, generation << 32);
      grid[i + x.pitch * j + x.plane * k] = value_of<T>(seen);
    });
  }
}

/// Whether messages of this neighbour are packets.
template <class T>
[[nodiscard]] PGAS_FN bool by_packets(const pgas::context& ctx, const exchange<T>& x, const neighbour& peer) {
  return sizeof(T) == sizeof(std::uint32_t) && x.how == faces::packets && ctx.remote(x.packets, peer.pe) != nullptr;
}

/// Returns when the halo that the item reads belongs to this generation. Called only for items with directions.
template <class T, pgas::block_group Block>
PGAS_OUTLINE void await(pgas::context ctx, Block block, exchange<T> x, item entry, T* in, std::uint64_t generation) {
  const pgas::signal_t* const ready = x.how == faces::pack ? x.unpacked : x.arrived;
  if (generation == 0) return;
  each_direction(entry, [&](int direction) {
    if (x.how == faces::packets && by_packets(ctx, x, x.to[direction]))
      await_packets(ctx, block, x, entry, in, direction, generation);
    else
      pgas::wait_until(ctx, block, word_of(ready, direction, generation), pgas::cmp::ge,
                       whole_message * messages(generation));
  });
  if (x.how == faces::packets) block.sync();
}

/// One step for all fields of an item. *Callers* a block.
template <class Points, pgas::block_group Block>
PGAS_FN void relax(const Block& block, const exchange<float>& x, const item& entry, const float* in, float* out) {
  for (int f = 0; f < x.fields; ++f)
    relax<Points>(block, entry.at, in + f * x.field_points, out + f * x.field_points, x.pitch, x.plane);
}

/// Whether this block has computed the last item of a direction. If so, this block also sees the stores of the other
/// blocks.
template <class T, pgas::block_group Block>
PGAS_FN bool is_last(const pgas::context& ctx, const Block& block, const exchange<T>& x, int direction,
                     std::uint64_t generation) {
  const auto items = static_cast<std::uint64_t>(x.to[direction].items);
  if (items == 1) return true;
  pgas::fence(ctx, block, ctx.my_pe());
  pgas::signal_t* const computed = word_of(x.computed, direction, generation);
  const bool last =
      block.any(block.thread_rank() == 0 && pgas::atomic_fetch_add(ctx, computed, std::uint64_t{1}, ctx.my_pe()) + 1 ==
                                                items * messages(generation));
  if (last) pgas::wait_until(ctx, block, computed, pgas::cmp::ge, items * messages(generation));
  return last;
}

/// Puts the points of one field's message directly into the neighbour's halo.
template <class T, pgas::block_group Block>
PGAS_FN void put_strided(const pgas::context& ctx, const Block& block, const exchange<T>& x, T* grid,
                         const neighbour& peer) {
  const box& all = peer.points;
  const auto width = static_cast<std::size_t>(all.hi[0] - all.lo[0]);
  const int rows = all.hi[1] - all.lo[1], layers = all.hi[2] - all.lo[2];
  const bool by_layer = rows == 1;  // one call copies all layers
  const std::int64_t stride = by_layer ? x.plane : x.pitch;
  const auto count = static_cast<std::size_t>(by_layer ? layers : rows);
  for (int k = 0; k < (by_layer ? 1 : layers); ++k) {
    T* const from = grid + all.lo[0] + x.pitch * all.lo[1] + x.plane * (all.lo[2] + k);
    T* const to = from + peer.shift;  // the address of the neighbour's halo in this PE's heap
    if (width == 1)
      pgas::iput_nbi(ctx, block, to, from, stride, stride, count, peer.pe);
    else
      pgas::ibput_nbi(ctx, block, to, from, stride, stride, width, count, peer.pe);
  }
}

/// An item's share of the message.
[[nodiscard]] PGAS_FN std::uint64_t share_of(const neighbour& peer, const item& entry) {
  const box& all = peer.points;
  bool first = true;
  for (int a = 0; a < 3; ++a) first = first && entry.at.lo[a] <= all.lo[a];
  return share(peer.items, first);
}

/// Sends the points of an item that neighbours need, after the block has computed it. `out` is the array for this
/// `generation` of the grid, which is at least 1. Called only for items with directions.
template <class T, pgas::block_group Block>
PGAS_OUTLINE void send(pgas::context ctx, Block block, exchange<T> x, item entry, T* out, std::uint64_t generation) {
  block.sync();
  each_direction(entry, [&](int direction) {
    const neighbour peer = x.to[direction];  // a copy, so that the whole item is read in one step
    const box all = peer.points, mine = intersection(entry.at, all);
    const auto points = static_cast<std::int64_t>(volume(all));
    const std::int64_t box = static_cast<std::int64_t>(generation % 2) * x.box_points;
    T* const message = x.how == faces::pack ? x.outbox + box + peer.message * x.fields : nullptr;
    const std::int64_t shift = peer.shift;
    T* const halo = x.how == faces::remote ? ctx.remote(out, peer.pe) : nullptr;
    const int back = opposite(direction);  // the direction from the neighbour to this PE
    pgas::signal_t* const arrived = word_of(x.arrived, back, generation);

    if (by_packets(ctx, x, peer)) {
      std::uint64_t* const first = x.packets + box + x.to[back].message * x.fields;
      for (int f = 0; f < x.fields; ++f)
        for_each_point(block, mine, [&](int i, int j, int k) {
          const T value = out[f * x.field_points + i + x.pitch * j + x.plane * k];
          pgas::p(ctx, first + f * points + place_in(all, i, j, k), packet_of(value, generation), peer.pe);
        });
      return;
    }

    for (int f = 0; f < x.fields && (x.how == faces::pack || halo != nullptr); ++f) {
      const T* const grid = out + f * x.field_points;
      T* const to = halo != nullptr ? halo + f * x.field_points : message + f * points;
      if (halo != nullptr)
        for_each_point(block, mine, [=](int i, int j, int k) {
          const std::int64_t at = i + x.pitch * j + x.plane * k;
          to[at + shift] = grid[at];
        });
      else
        for_each_point(block, mine,
                       [=](int i, int j, int k) { to[place_in(all, i, j, k)] = grid[i + x.pitch * j + x.plane * k]; });
    }
    if (halo != nullptr) {
      pgas::put_signal(ctx, block, arrived, arrived, 0, arrived, share_of(peer, entry), pgas::signal_op::add, peer.pe);
      return;
    }
    if (!is_last(ctx, block, x, direction, generation)) return;

    if (x.how == faces::pack) {
      pgas::put_signal(ctx, block, x.inbox + box + x.to[back].message * x.fields, message,
                       static_cast<std::size_t>(points * x.fields), arrived, whole_message, pgas::signal_op::add,
                       peer.pe);
      return;
    }
    for (int f = 0; f < x.fields; ++f) put_strided(ctx, block, x, out + f * x.field_points, peer);
    pgas::put_signal(ctx, block, arrived, arrived, 0, arrived, whole_message, pgas::signal_op::add, peer.pe);
  });
}

/// The sizes of items: of the boundary that is thin in x, in y and in z, and of the interior. On a CPU one thread takes
/// all items. A GPU has many blocks and needs many items, even on a small grid. On a large grid items are deep, so that
/// planes are read once.
struct tiles {
  std::array<triple, 3> boundary;
  triple interior;
  std::size_t unpacked;  ///< maximum points of a message that a block unpacks
};
/// Whether a PE has so many points that the GPU's memory bandwidth determines the time of an iteration.
[[nodiscard]] inline bool is_large(const decomposition& d) { return d.grid_points >= (std::size_t{1} << 23); }
/// Whether the interior takes long enough for a separate kernel.
[[nodiscard]] inline bool has_long_interior(const decomposition& d) { return d.grid_points >= (std::size_t{1} << 19); }
[[nodiscard]] inline tiles tiles_for(const pgas::world& world, const decomposition& d) {
  if (world.heap() == pgas::heap_kind::host) return {{d.most, d.most, d.most}, d.most, 1024};
  if (!is_large(d)) return {{{{1, 16, 16}, {64, 1, 4}, {64, 4, 1}}}, {64, 8, 4}, 2048};
  const int across = d.n[0] >= 512 ? 512 : 64;  // whole long rows; short rows are divided further
  return {{{{1, 64, 32}, {across, 1, 32}, {across, 32, 1}}}, {128, 8, 8}, 4096};
}

/// The memory of an exchange, and of the work list of this PE. *Callers* construction and destruction are collective.
template <class T>
class halo {
 public:
  halo(pgas::world& world, decomposition& d, int fields, faces how)
      : words_(
            world.allocate<pgas::signal_t>(6 * n_directions, pgas::memory_hint::signal_remote, pgas::initialize::zero)),
        to_(world.allocate<neighbour>(n_directions)),
        items_(world.allocate<item>(most_items(d, tiles_for(world, d)))) {
    const tiles size = tiles_for(world, d);
    std::vector<item> items;
    view_.n_boundary = static_cast<int>(list_items(d, size.boundary, size.interior, items));
    view_.n_items = static_cast<int>(items.size());
    pgas::put(world, items_.data(), items.data(), items.size(), world.my_pe());
    pgas::put(world, to_.data(), d.to.data(), d.to.size(), world.my_pe());
    if (how == faces::pack) {
      const std::vector<unpack_item> unpacks = list_unpacks(d, size.unpacked);
      unpacks_ = world.allocate<unpack_item>(most_unpacks(d, size.unpacked));
      pgas::put(world, unpacks_.data(), unpacks.data(), unpacks.size(), world.my_pe());
      view_.unpacks = unpacks_.data();
      view_.n_unpacks = static_cast<int>(unpacks.size());
      view_.box_points = static_cast<std::int64_t>(d.message_points) * fields;
      boxes_ = world.allocate<T>(4 * static_cast<std::size_t>(view_.box_points));
      view_.outbox = boxes_.data();
      view_.inbox = boxes_.data() + 2 * view_.box_points;
    }
    if (how == faces::packets) {
      view_.box_points = static_cast<std::int64_t>(d.message_points) * fields;
      packets_ = world.allocate<std::uint64_t>(2 * static_cast<std::size_t>(view_.box_points), pgas::initialize::zero);
      view_.packets = packets_.data();
    }
    view_.corners = d.corners;
    view_.how = how;
    view_.fields = fields;
    view_.pitch = d.pitch;
    view_.plane = d.plane;
    view_.field_points = static_cast<std::int64_t>(d.grid_points);
    view_.to = to_.data();
    view_.items = items_.data();
    view_.arrived = words_.data();
    view_.unpacked = words_.data() + 2 * n_directions;
    view_.computed = words_.data() + 4 * n_directions;
  }

  [[nodiscard]] const exchange<T>& view() const { return view_; }

 private:
  /// The maximum over all PEs, because allocations have the same size on all of them.
  static std::size_t most_items(const decomposition& d, const tiles& size) {
    const auto number = [&d](const triple& tile, int thin) {
      std::size_t n = 1;
      for (int a = 0; a < 3; ++a) {
        const auto i = static_cast<std::size_t>(a);
        n *= a == thin ? 1 : static_cast<std::size_t>((d.most[i] + tile[i] - 1) / tile[i]);
      }
      return n;
    };
    return 2 * (number(size.boundary[0], 0) + number(size.boundary[1], 1) + number(size.boundary[2], 2)) +
           number(size.interior, 3);
  }
  static std::size_t most_unpacks(const decomposition& d, std::size_t most_points) {
    std::size_t n = 0;
    for (int direction = 0; direction < n_directions; ++direction) {
      triple extent = d.most;
      for (int a = 0; a < 3; ++a)
        if (along(direction, a) != 0) extent[static_cast<std::size_t>(a)] = 1;
      n += static_cast<std::size_t>(cut_of(extent, most_points).parts);
    }
    return n;
  }

  pgas::symmetric<pgas::signal_t> words_;
  pgas::symmetric<neighbour> to_;
  pgas::symmetric<item> items_;
  pgas::symmetric<unpack_item> unpacks_;
  pgas::symmetric<T> boxes_;
  pgas::symmetric<std::uint64_t> packets_;
  exchange<T> view_{};
};

}  // namespace examples
