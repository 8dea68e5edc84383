/// @file
/// The heat equation's step on a box of points, u' = u + (neighbours' mean difference), for 7 and 27 points; shared by
/// the programs with pgas and with MPI, and the serial program that both are compared with.
///
/// All weights are powers of two, so products with them are exact, and compilers can't round a point differently,
/// whether or not they fuse multiplications and additions. The result equals the serial result bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "decomposition.hpp"
#include "pgas/device/group.hpp"

namespace examples {

/// (6 neighbours + 2 u) / 8.
struct points_7 {
  static constexpr bool in_fours = true;
  PGAS_HD static float at(const float* u, std::int64_t pitch, std::int64_t plane) {
    return 0.125F * (((u[-1] + u[1]) + (u[-pitch] + u[pitch])) + ((u[-plane] + u[plane]) + 2.0F * u[0]));
  }
};

/// The weights are the product of (1, 2, 1) / 4 on each axis.
struct points_27 {
  static constexpr bool in_fours = false;
  PGAS_HD static float row(const float* u) { return (u[-1] + u[1]) + 2.0F * u[0]; }
  PGAS_HD static float layer(const float* u, std::int64_t pitch) {
    return (row(u - pitch) + row(u + pitch)) + 2.0F * row(u);
  }
  PGAS_HD static float at(const float* u, std::int64_t pitch, std::int64_t plane) {
    return 0.015625F * ((layer(u - plane, pitch) + layer(u + plane, pitch)) + 2.0F * layer(u, pitch));
  }
};

/// Calls f(x, y, z, n) so that the calls cover each point of a box once. A call is for n points from (x, y, z) on, in
/// the direction of z; n is at most `Most`. The threads of a group share the calls. On a GPU, neighbouring threads make
/// calls for neighbouring values of x. If the box is thin in x, its points are numbered, and thread k makes calls for
/// the single points k, k + size and so on. On a CPU, one thread makes all calls for a row along x, so that the
/// compiler can vectorize the loop over x.
template <int Most, pgas::group Group, class F>
PGAS_FN void for_each_column(const Group& g, const box& b, const F& f) {
  const int size = static_cast<int>(g.size()), rank = static_cast<int>(g.thread_rank());
  const int width = b.hi[0] - b.lo[0], rows = b.hi[1] - b.lo[1], layers = b.hi[2] - b.lo[2];
  if (size < 32) {
    for (int z = b.lo[2]; z < b.hi[2]; ++z)
      for (int y = b.lo[1] + rank; y < b.hi[1]; y += size)
        for (int x = b.lo[0]; x < b.hi[0]; ++x) f(x, y, z, 1);
  } else if (width < 32 || size % 64 != 0) {
    for (int i = rank; i < width * rows * layers; i += size)
      f(b.lo[0] + i % width, b.lo[1] + i / width % rows, b.lo[2] + i / width / rows, 1);
  } else {
    const int across = width < 64 ? 32 : 64;
    for (int x = b.lo[0] + rank % across; x < b.hi[0]; x += across)
      for (int y = b.lo[1] + rank / across; y < b.hi[1]; y += size / across)
        for (int z = b.lo[2]; z < b.hi[2]; z += Most) f(x, y, z, z + Most < b.hi[2] ? Most : b.hi[2] - z);
  }
}

/// Like for_each_column(), but with one point per call.
template <pgas::group Group, class F>
PGAS_FN void for_each_point(const Group& g, const box& b, const F& f) {
  for_each_column<1>(g, b, [&f](int x, int y, int z, int) { f(x, y, z); });
}

/// Four points in a row, which a GPU thread reads and writes in one step. The first point has x = 1, 5, 9 ...
struct alignas(16) four {
  float at[4];
};

/// Computes a step for four adjacent points in each of `Layers` layers. All loads come before the first store, so that
/// many loads are in flight. The expression for a point is the same as in points_7.
template <int Layers>
PGAS_FN void relax_fours(const float* in, float* out, std::int64_t pitch, std::int64_t plane) {
  const auto read = [=](std::int64_t i) { return *reinterpret_cast<const four*>(in + i); };
  constexpr std::size_t layers = Layers;
  four column[layers + 2], next[layers];
  for (int k = 0; k < Layers + 2; ++k) column[k] = read((k - 1) * plane);
  for (int k = 0; k < Layers; ++k) {
    const four below = read(k * plane - pitch), above = read(k * plane + pitch);
    const four &u = column[k + 1], &back = column[k], &front = column[k + 2];
    const float left = in[k * plane - 1], right = in[k * plane + 4];
    for (int j = 0; j < 4; ++j)
      next[k].at[j] =
          0.125F * ((((j == 0 ? left : u.at[j - 1]) + (j == 3 ? right : u.at[j + 1])) + (below.at[j] + above.at[j])) +
                    ((back.at[j] + front.at[j]) + 2.0F * u.at[j]));
  }
  for (int k = 0; k < Layers; ++k) *reinterpret_cast<four*>(out + k * plane) = next[k];
}

/// out = a step from `in`, for the points of a box, by a block of a GPU. Each thread computes four points in a row, so
/// 32 neighbouring threads compute a row of 128 points. In a narrow box, 16 threads compute a row of 64 points. The
/// threads cover as many rows as possible, and then layers.
template <class Points, pgas::group Group>
PGAS_FN void relax_by_fours(const Group& g, const box& b, const float* in, float* out, std::int64_t pitch,
                            std::int64_t plane) {
  constexpr int most = 4;
  const int across = b.hi[0] - b.lo[0] > 64 ? 32 : 16;
  const int size = static_cast<int>(g.size()), rank = static_cast<int>(g.thread_rank());
  const int rows = b.hi[1] - b.lo[1], high = size / across;
  const int beside = rows < high ? high / rows : 1;  // layers that are computed at the same time
  const int own = b.hi[2] - b.lo[2] < beside * most ? 1 : most;
  const int row = rank / across % (beside > 1 ? rows : high), part = beside > 1 ? rank / across / rows : 0;
  if (part >= beside) return;
  for (int x = b.lo[0] - (b.lo[0] - 1) % 4 + rank % across * 4; x < b.hi[0]; x += across * 4)
    for (int y = b.lo[1] + row; y < b.hi[1]; y += high)
      for (int z = b.lo[2] + part * own; z < b.hi[2]; z += beside * own) {
        const std::int64_t i = x + pitch * y + plane * z;
        const int n = own < b.hi[2] - z ? own : b.hi[2] - z;
        if (x >= b.lo[0] && x + 4 <= b.hi[0]) {
          if (n == most)
            relax_fours<most>(in + i, out + i, pitch, plane);
          else
            for (int k = 0; k < n; ++k) relax_fours<1>(in + i + k * plane, out + i + k * plane, pitch, plane);
        } else {
          for (int k = 0; k < n; ++k)
            for (int j = 0; j < 4; ++j)
              if (x + j >= b.lo[0] && x + j < b.hi[0])
                out[i + k * plane + j] = Points::at(in + i + k * plane + j, pitch, plane);
        }
      }
}

/// out = a step from `in`, for the points of a box.
template <class Points, pgas::group Group>
PGAS_FN void relax(const Group& g, const box& b, const float* in, float* out, std::int64_t pitch, std::int64_t plane) {
  if constexpr (Points::in_fours)
    if (g.size() >= 64 && g.size() % 32 == 0 && b.hi[0] - b.lo[0] >= 32)
      return relax_by_fours<Points>(g, b, in, out, pitch, plane);
  constexpr int most = 8;
  for_each_column<most>(g, b, [=](int x, int y, int z, int n) {
    const std::int64_t i = x + pitch * y + plane * z;
    if (n == most) {  // all loads before the first store, so that many are in flight on a GPU
      float next[most];
      for (int k = 0; k < most; ++k) next[k] = Points::at(in + i + k * plane, pitch, plane);
      for (int k = 0; k < most; ++k) out[i + k * plane] = next[k];
    } else {
      for (int k = 0; k < n; ++k) out[i + k * plane] = Points::at(in + i + k * plane, pitch, plane);
    }
  });
}

/// The value of a point at the start: noise, so that a point at a wrong index is detected. In a fixed halo, whose
/// indices are -1 and `size`, the points keep this value. The value is a multiple of 2^-24 between 0 and 1.
[[nodiscard]] inline float initial(const triple& size, int field, int x, int y, int z) {
  std::uint64_t h = static_cast<std::uint64_t>(field + 1) * 0x9e3779b97f4a7c15U;
  const int at[] = {x, y, z};
  for (std::size_t a = 0; a < 3; ++a) {
    h = (h ^ static_cast<std::uint64_t>(at[a] + 1)) * 0xbf58476d1ce4e5b9U + static_cast<std::uint64_t>(size[a]);
    h ^= h >> 29;
  }
  return static_cast<float>(h >> 40) * 0x1p-24F;
}

/// All points of a PE at the start, halo included, in the layout of a grid.
[[nodiscard]] inline std::vector<float> initial_grid(const decomposition& d, int field) {
  std::vector<float> grid(d.grid_points);
  const auto wrapped = [&d](int i, std::size_t axis) {
    const int whole = d.first[axis] + i - 1;
    return d.periodic ? (whole + d.size[axis]) % d.size[axis] : whole;
  };
  for (int z = 0; z <= d.n[2] + 1; ++z)
    for (int y = 0; y <= d.n[1] + 1; ++y)
      for (int x = 0; x <= d.n[0] + 1; ++x)
        grid[d.index(x, y, z)] = initial(d.size, field, wrapped(x, 0), wrapped(y, 1), wrapped(z, 2));
  return grid;
}

/// A PE's points without halo, x fastest. @param grid in the PE's layout
[[nodiscard]] inline std::vector<float> points_of(const decomposition& d, const std::vector<float>& grid) {
  std::vector<float> points;
  for (int z = 1; z <= d.n[2]; ++z)
    for (int y = 1; y <= d.n[1]; ++y) {
      const float* const row = grid.data() + d.index(1, y, z);
      points.insert(points.end(), row, row + d.n[0]);
    }
  return points;
}

/// The whole grid after some iterations, x fastest, computed by simple loops of one thread.
template <class Points>
[[nodiscard]] std::vector<float> serial(const triple& size, bool periodic, int field, int iterations) {
  const decomposition d = divide(size, {1, 1, 1}, periodic, true, 0);
  std::vector<float> in = initial_grid(d, field);
  std::vector<float> out = in;
  for (int i = 0; i < iterations; ++i) {
    // the halo beyond an edge contains the points of the opposite edge
    for (int way = 0; periodic && way < n_directions; ++way) {
      const neighbour& peer = d.to[static_cast<std::size_t>(way)];
      for (int z = peer.points.lo[2]; z < peer.points.hi[2] && peer.pe >= 0; ++z)
        for (int y = peer.points.lo[1]; y < peer.points.hi[1]; ++y)
          for (int x = peer.points.lo[0]; x < peer.points.hi[0]; ++x)
            in[static_cast<std::size_t>(static_cast<std::int64_t>(d.index(x, y, z)) + peer.shift)] =
                in[d.index(x, y, z)];
    }
    for (int z = 1; z <= size[2]; ++z)
      for (int y = 1; y <= size[1]; ++y)
        for (int x = 1; x <= size[0]; ++x) {
          const std::size_t at = d.index(x, y, z);
          out[at] = Points::at(in.data() + at, d.pitch, d.plane);
        }
    in.swap(out);
  }
  return points_of(d, in);
}

/// The number of a PE's points that differ from the points of a whole grid. @param grid in the PE's layout
[[nodiscard]] inline long long count_different(const decomposition& d, const std::vector<float>& grid,
                                               const std::vector<float>& whole) {
  long long different = 0;
  for (int z = 1; z <= d.n[2]; ++z)
    for (int y = 1; y <= d.n[1]; ++y) {
      const auto row = static_cast<std::size_t>(d.first[2] + z - 1) * static_cast<std::size_t>(d.size[1]) +
                       static_cast<std::size_t>(d.first[1] + y - 1);
      const float* const should =
          whole.data() + row * static_cast<std::size_t>(d.size[0]) + static_cast<std::size_t>(d.first[0]);
      for (int x = 1; x <= d.n[0]; ++x)
        different += std::memcmp(&grid[d.index(x, y, z)], should + x - 1, sizeof(float)) != 0;
    }
  return different;
}

}  // namespace examples
