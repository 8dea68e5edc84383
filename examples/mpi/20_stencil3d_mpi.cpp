// 20_stencil3d with MPI: the same grid, the same division, the same boxes in the same order, and the same code for a
// box. Only the halo exchange differs. The boundary is computed first, and is packed and sent by MPI_Isend. The
// interior is computed during the transfer. MPI_Waitall and unpacking follow.
#include <mpi.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <utility>
#include <vector>

#include "../common/decomposition.hpp"
#include "../common/options.hpp"
#include "../common/stencil.hpp"

namespace {

using examples::box;
using examples::decomposition;
using examples::neighbour;
using examples::text_of;
using examples::triple;

constexpr pgas::this_thread single{};  // one thread computes

struct options {
  triple size{64, 64, 64};
  triple pes{};
  int points = 0;  // number of points of the stencil
  int boundary = 0;
  int iterations = 100;
  int fields = 1;
  bool csv = false;

  [[nodiscard]] bool corners() const { return points == 1; }
  [[nodiscard]] bool periodic() const { return boundary == 1; }
};

template <class Points>
class heat {
 public:
  heat(const options& o, const triple& pes, int rank)
      : o_(o), mine_(examples::divide(o.size, pes, o.periodic(), o.corners(), rank)) {
    n_boundary_ = list_items(mine_, {mine_.most, mine_.most, mine_.most}, mine_.most, items_);
    for (auto& box : boxes_) box.resize(mine_.message_points * static_cast<std::size_t>(o.fields));
    for (int f = 0; f < o.fields; ++f) {
      const std::vector<float> start = examples::initial_grid(mine_, f);
      for (auto& grid : grids_) grid.insert(grid.end(), start.begin(), start.end());
    }
    exchange(grids_[0]);  // a periodic halo must be filled at the start, like a fixed halo
    wait(grids_[0]);
  }

  // Runs all iterations. Returns the seconds.
  double run() {
    MPI_Barrier(MPI_COMM_WORLD);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < o_.iterations; ++i) {
      std::vector<float>& in = grids_[static_cast<std::size_t>(i % 2)];
      std::vector<float>& out = grids_[static_cast<std::size_t>((i + 1) % 2)];
      compute(in, out, 0, n_boundary_);
      exchange(out);
      compute(in, out, n_boundary_, items_.size());
      wait(out);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  [[nodiscard]] std::vector<float> field(int f) const {
    const auto& grid = grids_[static_cast<std::size_t>(o_.iterations % 2)];
    const auto begin = grid.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(f) * mine_.grid_points);
    return {begin, begin + static_cast<std::ptrdiff_t>(mine_.grid_points)};
  }
  [[nodiscard]] const decomposition& mine() const { return mine_; }

 private:
  // The start of a field's grid: its point 0, 0, 0.
  float* origin(std::vector<float>& grids, int f) const {
    return grids.data() + static_cast<std::size_t>(f) * mine_.grid_points + decomposition::lead;
  }

  void compute(std::vector<float>& in, std::vector<float>& out, std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i)
      for (int f = 0; f < o_.fields; ++f)
        examples::relax<Points>(single, items_[i].at, origin(in, f), origin(out, f), mine_.pitch, mine_.plane);
  }

  // Calls copy(index in the grid, index in the message) for the points of a message.
  template <class Copy>
  void for_message(const box& b, const Copy& copy) const {
    const std::int64_t width = b.hi[0] - b.lo[0], rows = b.hi[1] - b.lo[1];
    examples::for_each_point(single, b, [&, pitch = mine_.pitch, plane = mine_.plane](int x, int y, int z) {
      copy(x + pitch * y + plane * z, (x - b.lo[0]) + width * ((y - b.lo[1]) + rows * (z - b.lo[2])));
    });
  }

  float* message(int which, int direction, int f) {
    const neighbour& peer = mine_.to[static_cast<std::size_t>(direction)];
    return boxes_[static_cast<std::size_t>(which)].data() + peer.message * o_.fields +
           f * static_cast<std::int64_t>(volume(peer.points));
  }

  // Starts to send the boundary of `out`, and to receive its halo.
  void exchange(std::vector<float>& out) {
    n_requests_ = 0;
    for (int d = 0; d < examples::n_directions; ++d) {
      const neighbour& peer = mine_.to[static_cast<std::size_t>(d)];
      if (peer.pe >= 0)
        MPI_Irecv(message(1, d, 0), o_.fields * static_cast<int>(volume(peer.points)), MPI_FLOAT, peer.pe,
                  examples::opposite(d), MPI_COMM_WORLD, &requests_[n_requests_++]);
    }
    for (int d = 0; d < examples::n_directions; ++d) {
      const neighbour& peer = mine_.to[static_cast<std::size_t>(d)];
      if (peer.pe < 0) continue;
      for (int f = 0; f < o_.fields; ++f)
        for_message(peer.points, [to = message(0, d, f), from = origin(out, f)](std::int64_t at, std::int64_t i) {
          to[i] = from[at];
        });
      MPI_Isend(message(0, d, 0), o_.fields * static_cast<int>(volume(peer.points)), MPI_FLOAT, peer.pe, d,
                MPI_COMM_WORLD, &requests_[n_requests_++]);
    }
  }

  void wait(std::vector<float>& out) {
    MPI_Waitall(static_cast<int>(n_requests_), requests_.data(), MPI_STATUSES_IGNORE);
    for (int d = 0; d < examples::n_directions; ++d) {
      const neighbour& peer = mine_.to[static_cast<std::size_t>(d)];
      for (int f = 0; f < o_.fields && peer.pe >= 0; ++f)
        for_message(peer.halo, [to = origin(out, f), from = message(1, d, f)](std::int64_t at, std::int64_t i) {
          to[at] = from[i];
        });
    }
  }

  options o_;
  decomposition mine_;
  std::vector<examples::item> items_;
  std::size_t n_boundary_ = 0;
  std::vector<float> grids_[2];
  std::vector<float> boxes_[2];  // send and receive buffers
  std::array<MPI_Request, std::size_t{2} * examples::n_directions> requests_{};
  std::size_t n_requests_ = 0;
};

template <class Points>
int solve(const options& o, const triple& pes, int rank, int n) {
  const double points = static_cast<double>(o.size[0]) * o.size[1] * o.size[2] * o.fields;
  const bool plain = points * o.iterations <= (o.corners() ? 2e8 : 1e9);
  heat<Points> mine(o, pes, rank);
  const double each = mine.run() / o.iterations;

  long long here = 0, different = 0;
  for (int f = 0; f < o.fields && plain; ++f) {
    std::vector<float> expected(static_cast<std::size_t>(points / o.fields));
    if (rank == 0) expected = examples::serial<Points>(o.size, o.periodic(), f, o.iterations);
    MPI_Bcast(expected.data(), static_cast<int>(expected.size()), MPI_FLOAT, 0, MPI_COMM_WORLD);
    here += examples::count_different(mine.mine(), mine.field(f), expected);
  }
  MPI_Allreduce(&here, &different, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && o.csv) {
    std::printf("nx,ny,nz,points,periodic,fields,iterations,pes,px,py,pz,us_per_iteration,different\n");
    std::printf("%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%.2f,%lld\n", o.size[0], o.size[1], o.size[2], o.corners() ? 27 : 7,
                o.periodic() ? 1 : 0, o.fields, o.iterations, n, pes[0], pes[1], pes[2], each * 1e6, different);
  } else if (rank == 0) {
    std::printf("%d ranks of MPI as %s: %.1f us per iteration\n", n, text_of(pes).c_str(), each * 1e6);
    if (different > 0)
      std::printf("check: %lld POINTS DIFFER from the serial result\n", different);
    else
      std::printf(plain ? "check: all %.0f points equal the serial result bit for bit\n"
                        : "check: none, %.0f points are too many for the serial program\n",
                  points);
  }
  return different == 0 ? 0 : 1;
}

int run(int argc, char** argv) {
  options o;
  examples::command_line line("20_stencil3d_mpi", "20_stencil3d by MPI.",
                              "mpirun -n 4 20_stencil3d_mpi --size 128,128,64 --points 27");
  line.add("--size", "X,Y,Z", o.size, 1, "points of the grid");
  line.add("--pes", "X,Y,Z", o.pes, 1, "ranks on each axis; without it as makes the faces smallest");
  line.add("--points", o.points, {"7", "27"}, "of the stencil");
  line.add("--boundary", o.boundary, {"fixed", "periodic"}, "what lies beyond the grid");
  line.add("--fields", "N", o.fields, 1, "grids, sent together");
  line.add("--iterations", "N", o.iterations, 1, "steps in time");
  line.add("--csv", o.csv, "prints two lines of comma-separated values");
  int rank = 0, n = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  if (const auto end = line.read(argc, argv, rank == 0)) return *end;
  const triple pes = o.pes != triple{} ? o.pes : examples::smallest_surface(o.size, n, o.periodic());
  if (const std::string why = examples::impossible(o.size, pes, n); !why.empty()) return line.refuse(why, rank == 0);
  return o.corners() ? solve<examples::points_27>(o, pes, rank, n) : solve<examples::points_7>(o, pes, rank, n);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = run(argc, argv);
  MPI_Finalize();
  return status;
}
