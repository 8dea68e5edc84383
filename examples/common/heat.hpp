/// @file
/// Shared by the programs for the heat equation: their options, and the grids of one PE with their halos. The programs
/// and halo.hpp describe how iterations are started and when data is sent.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "decomposition.hpp"
#include "halo.hpp"
#include "options.hpp"
#include "pgas/pgas.hpp"
#include "stencil.hpp"

namespace examples {

struct heat_options {
  triple size{64, 64, 64};
  triple pes{};
  int points = 0;  ///< number of points of the stencil
  int boundary = 0;
  int iterations = 100;
  int fields = 1;
  int blocks = 0;
  faces how = faces::remote;
  bool csv = false;

  [[nodiscard]] bool corners() const { return points == 1; }
  [[nodiscard]] bool periodic() const { return boundary == 1; }
  [[nodiscard]] const char* faces_name() const {
    constexpr const char* names[] = {"pack", "iput", "remote", "packets"};
    return names[static_cast<int>(how)];
  }
  [[nodiscard]] double all_points() const { return static_cast<double>(size[0]) * size[1] * size[2] * fields; }
  /// Whether one CPU thread can compute the reference for this number of iterations.
  [[nodiscard]] bool serial_is_quick(double steps) const { return all_points() * steps <= (corners() ? 2e8 : 1e9); }

  void add_to(command_line& line) {
    line.add("--size", "X,Y,Z", size, 1, "points of the grid");
    line.add("--pes", "X,Y,Z", pes, 1, "PEs on each axis; without it as makes the faces smallest");
    line.add("--points", points, {"7", "27"}, "of the stencil");
    line.add("--boundary", boundary, {"fixed", "periodic"}, "what lies beyond the grid");
    line.add("--faces", how, {"pack", "iput", "remote", "packets"}, "how faces are sent");
    line.add("--fields", "N", fields, 1, "grids, sent together");
    line.add("--iterations", "N", iterations, 1, "steps in time");
    line.add("--blocks", "N", blocks, 0, "of the kernel; 0: all that a GPU holds, one of a CPU");
    line.add("--csv", csv, "prints lines of comma-separated values");
  }
  /// Chooses the division if none is given. Returns the reason if the division is impossible, and an empty string if it
  /// is possible.
  [[nodiscard]] std::string choose_pes(int n) {
    if (pes == triple{}) pes = smallest_surface(size, n, periodic());
    return impossible(size, pes, n);
  }
};

/// Threads of a block.
inline constexpr unsigned heat_threads = 256;

/// The grids of one PE on one world. *Callers* construction and destruction are collective.
class heat_grids {
 public:
  /// @param pes the division; differs from the options if a single PE computes everything
  heat_grids(pgas::world& world, const heat_options& o, const triple& pes)
      : world_(world),
        o_(o),
        mine_(divide(o.size, pes, o.periodic(), o.corners(), world.my_pe())),
        halo_(world, mine_, o.fields, o.how),
        grids_{world.allocate<float>(mine_.grid_points * static_cast<std::size_t>(o.fields)),
               world.allocate<float>(mine_.grid_points * static_cast<std::size_t>(o.fields))} {
    for (int f = 0; f < o.fields; ++f) {
      const std::vector<float> start = initial_grid(mine_, f);
      for (auto& grid : grids_)  // both grids, because no iteration writes a fixed halo
        pgas::put(world_, grid.data() + static_cast<std::size_t>(f) * mine_.grid_points, start.data(), start.size(),
                  world_.my_pe());
    }
    world_.barrier_all();
  }

  /// The launch configuration of `kernel` with these arguments: one block on a CPU; on a GPU all blocks that fit and
  /// have work, or the number in the options.
  template <class Kernel, class... Arguments>
  [[nodiscard]] pgas::launch_config shape(const Kernel& kernel, const Arguments&... arguments) {
    pgas::launch_config all{.blocks = 1, .threads = heat_threads};
    if (!on_host())
      all.blocks = std::min(pgas::max_resident_blocks(world_, all.threads, 0, kernel, arguments...),
                            static_cast<unsigned>(halo().n_unpacks + halo().n_items));
    if (o_.blocks > 0) all.blocks = static_cast<unsigned>(o_.blocks);
    return all;
  }

  /// The point 0, 0, 0 of the grid that holds this generation.
  [[nodiscard]] float* grid(std::uint64_t generation) { return grids_[generation % 2].data() + decomposition::lead; }
  [[nodiscard]] const exchange<float>& halo() const { return halo_.view(); }
  [[nodiscard]] const decomposition& mine() const { return mine_; }
  [[nodiscard]] bool on_host() const { return world_.heap() == pgas::heap_kind::host; }

  /// One field of PE `pe`, in its layout.
  [[nodiscard]] std::vector<float> grid_of(int pe, int field, std::uint64_t generation) {
    std::vector<float> grid(mine_.grid_points);
    pgas::get(world_, grid.data(), grids_[generation % 2].data() + static_cast<std::size_t>(field) * grid.size(),
              grid.size(), pe);
    return grid;
  }
  /// The number of points of all PEs that differ from the points of a whole grid.
  [[nodiscard]] long long count_different(int field, std::uint64_t generation, const std::vector<float>& whole) {
    long long different = 0;
    for (int pe = 0; pe < world_.n_pes(); ++pe)
      different += examples::count_different(divide(o_.size, mine_.pes, o_.periodic(), o_.corners(), pe),
                                             grid_of(pe, field, generation), whole);
    return different;
  }

 private:
  pgas::world& world_;
  heat_options o_;
  decomposition mine_;
  examples::halo<float> halo_;
  pgas::symmetric<float> grids_[2];
};

/// A world of this PE alone, on the same kind of heap.
[[nodiscard]] inline pgas::world join_alone(const pgas::world& as) {
  pgas::config settings = as.settings();
  settings.heap = as.heap();
  pgas::bootstrap_options no_launcher;
  no_launcher.method = "singleton";
  return pgas::world::join(pgas::make_bootstrap(no_launcher).exchange, settings);
}

}  // namespace examples
