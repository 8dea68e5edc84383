/// @file
/// The division of a 3-D grid among PEs, the messages between them, and the pieces in which each PE computes. Plain
/// arithmetic without communication, so the MPI versions of the programs divide the same grid in the same way.
///
/// A PE has n[0] x n[1] x n[2] points, x fastest, with one layer of halo around them: points have the indices 1 to n on
/// each axis, the halo 0 and n + 1. Strides are the same on all PEs, so the index of a point in a neighbour's halo is
/// the point's own index plus a constant.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pgas/detail/compiler.hpp"

namespace examples {

using triple = std::array<int, 3>;

/// The points with lo <= index < hi on each axis.
struct box {
  int lo[3];
  int hi[3];
};

/// A part of the PE's points that is computed in one piece. The bits of `directions` are the directions in which a
/// neighbour needs some points of the item. The item reads the halos in the same directions.
struct item {
  box at;
  std::uint32_t directions;
};

/// Calls f(direction) for each of an item's directions.
template <class F>
PGAS_FN void each_direction(const item& entry, const F& f) {
  for (std::uint32_t left = entry.directions; left != 0; left &= left - 1) {
#if defined(__CUDA_ARCH__)
    f(__ffs(static_cast<int>(left)) - 1);
#else
    f(__builtin_ctz(left));
#endif
  }
}

/// The distances of points that are neighbours in y and in z, in points.
struct strides {
  std::int64_t pitch, plane;
  [[nodiscard]] PGAS_HD std::int64_t index(int x, int y, int z) const { return x + pitch * y + plane * z; }
};

/// Direction (x, y, z), each -1, 0 or 1, has the number x + 1 + 3 * (y + 1) + 9 * (z + 1); 13 is the PE itself.
inline constexpr int n_directions = 27;
[[nodiscard]] PGAS_HD constexpr int along(int direction, int axis) {
  return (axis == 0 ? direction : axis == 1 ? direction / 3 : direction / 9) % 3 - 1;
}
/// The opposite direction: from the PE in this direction back to this PE.
[[nodiscard]] PGAS_HD constexpr int opposite(int direction) { return n_directions - 1 - direction; }

/// The neighbour in one direction.
struct neighbour {
  int pe;                ///< -1: no neighbour
  int items;             ///< the number of items with points for the neighbour
  std::int64_t shift;    ///< the offset of a point in the neighbour's halo minus its offset in this PE's grid
  std::int64_t message;  ///< start of the message in this direction in a buffer for all messages, in points
  box points;            ///< the points that the neighbour needs
  box halo;              ///< the halo that the neighbour sends
};

struct part {
  int first;
  int count;
};
/// Part `which` if `total` points are divided into `parts` parts. The first parts have one more point if necessary.
[[nodiscard]] constexpr part split(int total, int parts, int which) {
  const int larger = total % parts;
  return {which * (total / parts) + (which < larger ? which : larger), total / parts + (which < larger ? 1 : 0)};
}

[[nodiscard]] PGAS_HD constexpr std::size_t volume(const box& region) {
  std::size_t points = 1;
  for (int a = 0; a < 3; ++a)
    points *= region.hi[a] > region.lo[a] ? static_cast<std::size_t>(region.hi[a] - region.lo[a]) : std::size_t{0};
  return points;
}
[[nodiscard]] PGAS_HD constexpr box intersection(const box& a, const box& b) {
  box both{};
  for (int i = 0; i < 3; ++i) {
    both.lo[i] = a.lo[i] > b.lo[i] ? a.lo[i] : b.lo[i];
    both.hi[i] = a.hi[i] < b.hi[i] ? a.hi[i] : b.hi[i];
  }
  return both;
}

[[nodiscard]] inline std::string text_of(const triple& extents) {
  return std::to_string(extents[0]) + " x " + std::to_string(extents[1]) + " x " + std::to_string(extents[2]);
}

/// The numbers of PEs on the three axes, so that the surface between the PEs is smallest; {0, 0, 0} if n PEs can't
/// divide the grid.
[[nodiscard]] inline triple smallest_surface(const triple& size, int n, bool periodic) {
  triple best{};
  double least = 0;
  for (int z = 1; z <= n; ++z)
    for (int y = 1; n % z == 0 && y <= n / z; ++y) {
      const triple pes{n / z / y, y, z};
      if (n / z % y != 0 || pes[0] > size[0] || pes[1] > size[1] || pes[2] > size[2]) continue;
      double surface = 0;
      for (int a = 0; a < 3; ++a) {
        const int cuts =
            pes[static_cast<std::size_t>(a)] > 1 ? pes[static_cast<std::size_t>(a)] - (periodic ? 0 : 1) : 0;
        surface += static_cast<double>(cuts) * size[static_cast<std::size_t>((a + 1) % 3)] *
                   size[static_cast<std::size_t>((a + 2) % 3)];
      }
      // Among divisions with equal surface, the one that cuts the slowest axis is chosen, because its faces are
      // contiguous.
      if (best[0] == 0 || surface <= least) {
        best = pes;
        least = surface;
      }
    }
  return best;
}

/// A grid divided among PEs, as one PE sees it.
struct decomposition {
  triple size{};  ///< the size of the whole grid
  triple pes{};   ///< the PEs on each axis; PE 0 is at the origin, and x is fastest
  bool periodic = false;
  bool corners = false;  ///< whether points need their diagonal neighbours
  triple at{};           ///< this PE's place
  triple first{};        ///< this PE's first point in the whole grid
  triple n{};            ///< the number of this PE's points on each axis
  triple most{};         ///< the largest n of any PE
  std::int64_t pitch = 0, plane = 0;
  std::array<neighbour, n_directions> to{};

  /// The number of elements of one grid, and of the messages of one field in all directions.
  std::size_t grid_points = 0, message_points = 0;

  [[nodiscard]] std::size_t index(int x, int y, int z) const {
    return static_cast<std::size_t>(lead + x + pitch * y + plane * z);
  }
  static constexpr int line = 32;        // the floats of a GPU's cache line
  static constexpr int lead = line - 1;  // elements before the first point, so that x = 1 begins a line in every row
};

/// The reason why this division is impossible; empty if it is possible.
[[nodiscard]] inline std::string impossible(const triple& size, const triple& pes, int n) {
  if (pes[0] == 0)
    return "a grid of " + text_of(size) + " points can't be divided among " + std::to_string(n) +
           " PEs: every PE needs a box of its own; take another number of PEs, or more points";
  if (static_cast<long long>(pes[0]) * pes[1] * pes[2] != n)
    return "--pes " + text_of(pes) + " is a division for " +
           std::to_string(static_cast<long long>(pes[0]) * pes[1] * pes[2]) + " PEs, and there are " +
           std::to_string(n);
  for (std::size_t a = 0; a < 3; ++a)
    if (pes[a] > size[a])
      return std::string("axis ") + "xyz"[a] + " has " + std::to_string(size[a]) + " points, too few for " +
             std::to_string(pes[a]) + " PEs";
  return {};
}

/// The division from the point of view of PE `pe`. The division must be possible.
[[nodiscard]] inline decomposition divide(const triple& size, const triple& pes, bool periodic, bool corners, int pe) {
  decomposition d{size, pes, periodic, corners};
  d.at = {pe % pes[0], pe / pes[0] % pes[1], pe / pes[0] / pes[1]};
  for (std::size_t a = 0; a < 3; ++a) {
    const part mine = split(size[a], pes[a], d.at[a]);
    d.first[a] = mine.first;
    d.n[a] = mine.count;
    d.most[a] = split(size[a], pes[a], 0).count;
  }
  d.pitch = (d.most[0] + 2 + d.line - 1) / d.line * d.line;
  d.plane = d.pitch * (d.most[1] + 2);
  d.grid_points = static_cast<std::size_t>(d.plane * (d.most[2] + 2) + d.line);
  std::int64_t messages = 0;
  for (int way = 0; way < n_directions; ++way) {
    neighbour& peer = d.to[static_cast<std::size_t>(way)];
    peer = {-1, 0, 0, messages, {}, {}};
    triple place{}, theirs{};
    std::int64_t points = 1;
    int axes = 0;
    bool exists = true;
    for (int a = 0; a < 3; ++a) {
      const auto i = static_cast<std::size_t>(a);
      const int step = along(way, a);
      place[i] = (d.at[i] + step + pes[i]) % pes[i];
      theirs[i] = split(size[i], pes[i], place[i]).count;
      exists = exists && (periodic || (d.at[i] + step >= 0 && d.at[i] + step < pes[i]));
      axes += step != 0;
      points *= step == 0 ? d.most[i] : 1;
      const int n = d.n[i];
      peer.points.lo[a] = step > 0 ? n : 1;
      peer.points.hi[a] = step < 0 ? 2 : n + 1;
      peer.halo.lo[a] = step < 0 ? 0 : step > 0 ? n + 1 : 1;
      peer.halo.hi[a] = step < 0 ? 1 : n + (step > 0 ? 2 : 1);
      peer.shift += (step < 0 ? theirs[i] : step > 0 ? -n : 0) * (a == 0 ? 1 : a == 1 ? d.pitch : d.plane);
    }
    if (axes == 0 || (axes > 1 && !corners)) continue;
    messages += points;
    if (exists) peer.pe = place[0] + pes[0] * (place[1] + pes[1] * place[2]);
  }
  d.message_points = static_cast<std::size_t>(messages);
  return d;
}

/// Divides a box into tiles of at most the given size.
inline void cut(const decomposition& d, const box& whole, const triple& tile, std::vector<item>& into) {
  for (int z = whole.lo[2]; z < whole.hi[2]; z += tile[2])
    for (int y = whole.lo[1]; y < whole.hi[1]; y += tile[1])
      for (int x = whole.lo[0]; x < whole.hi[0]; x += tile[0]) {
        item next{intersection(whole, {{x, y, z}, {x + tile[0], y + tile[1], z + tile[2]}}), 0};
        for (int way = 0; way < n_directions; ++way) {
          const neighbour& peer = d.to[static_cast<std::size_t>(way)];
          if (peer.pe >= 0 && volume(intersection(next.at, peer.points)) > 0) next.directions |= 1U << way;
        }
        into.push_back(next);
      }
}

/// The PE's points that no neighbour needs, and that need no point of a neighbour.
[[nodiscard]] inline box interior_of(const decomposition& d) {
  box inner{{1, 1, 1}, {d.n[0] + 1, d.n[1] + 1, d.n[2] + 1}};
  for (int a = 0; a < 3; ++a) {
    const int step = a == 0 ? 1 : a == 1 ? 3 : 9;
    inner.lo[a] += d.to[static_cast<std::size_t>(13 - step)].pe >= 0;
    inner.hi[a] -= d.to[static_cast<std::size_t>(13 + step)].pe >= 0 && inner.hi[a] > inner.lo[a];
  }
  return inner;
}

/// The PE's points as items: first the boundary, which neighbours need, then the interior. No point is in two items.
/// Fills in neighbour::items. @param boundary the sizes of boundary items: for each axis, the size of the items that
/// are thin along this axis @param interior the size of interior items @return The number of boundary items.
[[nodiscard]] inline std::size_t list_items(decomposition& d, const std::array<triple, 3>& boundary,
                                            const triple& interior, std::vector<item>& items) {
  const box inner = interior_of(d);
  box rest{{1, 1, 1}, {d.n[0] + 1, d.n[1] + 1, d.n[2] + 1}};
  for (int a = 2; a >= 0; --a) {
    box low = rest, high = rest;
    low.hi[a] = rest.lo[a] = inner.lo[a];
    high.lo[a] = rest.hi[a] = inner.hi[a];
    cut(d, low, boundary[static_cast<std::size_t>(a)], items);
    cut(d, high, boundary[static_cast<std::size_t>(a)], items);
  }
  const std::size_t n_boundary = items.size();
  for (int way = 0; way < n_directions; ++way)
    for (const item& each : items) d.to[static_cast<std::size_t>(way)].items += (each.directions >> way & 1) != 0;
  cut(d, inner, interior, items);
  return n_boundary;
}

/// The part of a message that one block copies into the halo. The message is divided into `parts` parts.
struct unpack_item {
  int direction, parts;
  box at;
};

/// The division of a message of `extent` for unpacking: along the last axis on which the message has more than one
/// point.
struct message_cut {
  int axis, layers, parts;
};
[[nodiscard]] inline message_cut cut_of(const triple& extent, std::size_t most_points) {
  const int axis = extent[2] > 1 ? 2 : extent[1] > 1 ? 1 : 0;
  std::size_t layer = 1;
  for (int a = 0; a < axis; ++a) layer *= static_cast<std::size_t>(extent[static_cast<std::size_t>(a)]);
  const int length = extent[static_cast<std::size_t>(axis)];
  const auto layers =
      static_cast<int>(std::clamp<std::size_t>(most_points / layer, 1, static_cast<std::size_t>(length)));
  return {axis, layers, (length + layers - 1) / layers};
}

/// The parts of all messages that this PE unpacks.
[[nodiscard]] inline std::vector<unpack_item> list_unpacks(const decomposition& d, std::size_t most_points) {
  std::vector<unpack_item> all;
  for (int direction = 0; direction < n_directions; ++direction) {
    const neighbour& from = d.to[static_cast<std::size_t>(direction)];
    if (from.pe < 0) continue;
    const box& halo = from.halo;
    const message_cut by =
        cut_of({halo.hi[0] - halo.lo[0], halo.hi[1] - halo.lo[1], halo.hi[2] - halo.lo[2]}, most_points);
    for (int i = 0; i < by.parts; ++i) {
      box at = halo;
      at.lo[by.axis] += i * by.layers;
      at.hi[by.axis] = std::min(halo.hi[by.axis], at.lo[by.axis] + by.layers);
      all.push_back({direction, by.parts, at});
    }
  }
  return all;
}

}  // namespace examples
