/// @file
/// Particles in a periodic box of cells, in whole numbers: the start, the motion and the owner of a particle, without
/// messages. A coordinate counts 2^-32 of the box and wraps around by itself; a velocity is the change of a coordinate
/// in a step. Sums over particles and their momenta are therefore exact in any order, and the position of a particle
/// after any number of steps is known in advance.
#pragma once

#include <cstdint>

#include "pgas/device.hpp"

namespace examples {

struct alignas(16) particle {
  std::uint32_t x, y;
  std::int32_t vx, vy;
  std::uint64_t id;
  std::uint64_t moves;  ///< the number of moves so far
};

PGAS_HD std::uint64_t shuffled(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
  return x ^ x >> 31;
}

/// The box: `cells_x` x `cells_y` cells, divided into rectangles for pes_x x pes_y PEs as evenly as possible.
struct particle_box {
  int cells_x, cells_y, pes_x, pes_y;

  /// The highest speed of a particle: a cell in a step.
  [[nodiscard]] PGAS_HD std::int64_t limit() const {
    return (std::int64_t{1} << 32) / (cells_x > cells_y ? cells_x : cells_y) - 1;
  }
  /// The column, or row, of PEs that contains the coordinate `at`.
  [[nodiscard]] static PGAS_HD int part_of(std::uint32_t at, int cells, int parts) {
    const auto cell = static_cast<std::int64_t>(std::uint64_t{at} * static_cast<std::uint64_t>(cells) >> 32);
    return static_cast<int>(((cell + 1) * parts - 1) / cells);
  }
  [[nodiscard]] PGAS_HD int column(const particle& p) const { return part_of(p.x, cells_x, pes_x); }
  [[nodiscard]] PGAS_HD int row(const particle& p) const { return part_of(p.y, cells_y, pes_y); }
  [[nodiscard]] PGAS_HD int owner(const particle& p) const { return row(p) * pes_x + column(p); }

  /// The direction from part `from` to part `to` in a ring of `parts` parts: -1, 0 or 1.
  [[nodiscard]] static PGAS_HD int way(int from, int to, int parts) {
    const int ahead = (to - from + parts) % parts;
    return ahead == 0 ? 0 : 2 * ahead <= parts ? 1 : -1;
  }

  /// Particle `id` before the first step. Three of four particles start in a cloud that expands.
  [[nodiscard]] PGAS_HD particle first(std::uint64_t id) const {
    const std::uint64_t a = shuffled(id * 2 + 1);
    const std::uint64_t b = shuffled(id * 2 + 2);
    particle p{};
    p.x = static_cast<std::uint32_t>(a);
    p.y = static_cast<std::uint32_t>(a >> 32);
    if ((b & 3) != 0) {  // the middle of a quarter of the box
      p.x = (p.x >> 3) + (static_cast<std::uint32_t>(b >> 8) >> 3);
      p.y = (p.y >> 3) + (static_cast<std::uint32_t>(b >> 32) >> 3);
    }
    const std::uint64_t c = shuffled(b);
    p.vx = static_cast<std::int32_t>(static_cast<std::int64_t>(c & 0xffffffU) * (2 * limit()) / 0xffffff - limit());
    p.vy = static_cast<std::int32_t>(static_cast<std::int64_t>(c >> 40) * (2 * limit()) / 0xffffff - limit());
    p.id = id;
    return p;
  }

  /// Whether a particle has the expected state after `steps` steps.
  [[nodiscard]] PGAS_HD bool is_right(const particle& p, std::uint64_t steps) const {
    const particle begin = first(p.id);
    return p.moves == steps && p.vx == begin.vx && p.vy == begin.vy &&
           p.x == begin.x + static_cast<std::uint32_t>(steps) * static_cast<std::uint32_t>(p.vx) &&
           p.y == begin.y + static_cast<std::uint32_t>(steps) * static_cast<std::uint32_t>(p.vy);
  }
};

PGAS_HD void move(particle& p) {
  p.x += static_cast<std::uint32_t>(p.vx);
  p.y += static_cast<std::uint32_t>(p.vy);
  ++p.moves;
}

}  // namespace examples
