// 22_cg with MPI: the standard method on the same grid, with the same division, boxes and arithmetic; only halos and
// sums differ. The new direction's boundary is packed and sent by MPI_Isend. During the transfer, the interior of the
// direction and of A times the direction is computed. Sums use MPI_Allreduce. With --method pipelined, sums use
// MPI_Iallreduce, and A times a vector is computed at the same time.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "../common/cg_steps.hpp"
#include "../common/decomposition.hpp"
#include "../common/options.hpp"

namespace {

using examples::box;
using examples::decomposition;
using examples::neighbour;
using examples::sums;
using examples::text_of;
using examples::triple;

constexpr pgas::this_thread single{};  // one thread computes

class cg {
 public:
  cg(const triple& size, const triple& pes, int rank)
      : mine_(examples::divide(size, pes, false, false, rank)), right_hand_side_(examples::right_hand_side(mine_)) {
    n_boundary_ = list_items(mine_, {mine_.most, mine_.most, mine_.most}, mine_.most, items_);
    at_ = {mine_.pitch, mine_.plane};
    for (auto& box : boxes_) box.resize(mine_.message_points);
    for (auto& each : vectors_) each.resize(mine_.grid_points);
  }

  // Solves the problem again from the start. Returns the values of (r, r) after each iteration.
  std::vector<double> run(bool pipelined, double tolerance, int most) {
    vectors_[2].assign(mine_.grid_points, 0);
    vectors_[3] = right_hand_side_;
    return pipelined ? run_pipelined(tolerance, most) : run_standard(tolerance, most);
  }

  [[nodiscard]] double error() const {
    const double here = examples::squared_error(mine_, vectors_[2]);
    double sum = 0;
    MPI_Allreduce(&here, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return std::sqrt(sum);
  }

 private:
  double* vector(std::size_t which) { return vectors_[which].data() + decomposition::lead; }
  double* direction(std::size_t generation) { return vector(generation % 2); }

  static double total(double here) {
    double sum = 0;
    MPI_Allreduce(&here, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
  }

  std::vector<double> run_standard(double tolerance, int most) {
    double *const u = vector(2), *const r = vector(3), *const q = vector(4);
    double rr = total(both(r).a), beta = 0;
    const double goal = tolerance * tolerance * rr;
    std::vector<double> history{rr};
    std::size_t g = 0;
    for (int k = 0; k < most && rr > goal; ++k) {
      ++g;
      combine(r, beta, g);
      const double alpha = rr / total(multiply(direction(g), q));
      double here = 0;
      for (const auto& each : items_) here += examples::descend(single, at_, each.at, alpha, direction(g), q, u, r);
      const double next = total(here);
      beta = next / rr;
      rr = next;
      history.push_back(rr);
    }
    return history;
  }

  std::vector<double> run_pipelined(double tolerance, int most) {
    const examples::pipelined_vectors v{vector(2), vector(3), vector(5), vector(6), vector(7)};
    double* const q = vector(4);
    std::size_t g = 0;
    combine(v.r, 0, ++g);
    static_cast<void>(multiply(direction(g), q));
    combine(q, 0, ++g);
    sums here = both(direction(g));
    double goal = 0, alpha = 0, rr = 0;
    std::vector<double> history;
    for (int k = 0;; ++k, ++g) {
      sums sum{};
      MPI_Request reduction{};
      MPI_Iallreduce(&here.a, &sum.a, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &reduction);
      static_cast<void>(multiply(direction(g), q));
      MPI_Wait(&reduction, MPI_STATUS_IGNORE);
      const double beta = k == 0 ? 0 : sum.a / rr;
      rr = sum.a;
      if (k == 0) goal = tolerance * tolerance * rr;
      history.push_back(rr);
      if (k == most || rr <= goal) return history;
      alpha = rr / (k == 0 ? sum.b : sum.b - beta * rr / alpha);
      here = {0, 0};
      for (std::size_t i = 0; i < items_.size(); ++i) {
        const sums more =
            examples::descend_pipelined(single, at_, items_[i].at, alpha, beta, v, q, direction(g), direction(g + 1));
        here = {here.a + more.a, here.b + more.b};
        if (i + 1 == n_boundary_) send(direction(g + 1));
      }
    }
  }

  // The direction of generation g; its boundary is in flight on return.
  void combine(const double* from, double beta, std::size_t g) {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      examples::combine(single, at_, items_[i].at, from, beta, direction(g - 1), direction(g));
      if (i + 1 == n_boundary_) send(direction(g));
    }
  }

  // q = A v, while v's halo is in flight.
  double multiply(double* v, double* q) {
    double sum = 0;
    for (std::size_t i = n_boundary_; i < items_.size(); ++i)
      sum += examples::multiply(single, at_, items_[i].at, v, q);
    receive(v);
    for (std::size_t i = 0; i < n_boundary_; ++i) sum += examples::multiply(single, at_, items_[i].at, v, q);
    return sum;
  }

  sums both(const double* w) {
    sums sum{0, 0};
    for (const auto& each : items_) {
      const sums more = examples::multiply_both(single, at_, each.at, vector(3), w);
      sum = {sum.a + more.a, sum.b + more.b};
    }
    return sum;
  }

  // Calls copy(index in the grid, index in the message) for the points of a message.
  template <class Copy>
  void for_message(const box& b, const Copy& copy) const {
    const std::int64_t width = b.hi[0] - b.lo[0], rows = b.hi[1] - b.lo[1];
    examples::for_each_point(single, b, [&, at = at_](int x, int y, int z) {
      copy(at.index(x, y, z), (x - b.lo[0]) + width * ((y - b.lo[1]) + rows * (z - b.lo[2])));
    });
  }

  void send(const double* v) {
    n_requests_ = 0;
    for (int d = 0; d < examples::n_directions; ++d)
      if (const neighbour& peer = mine_.to[static_cast<std::size_t>(d)]; peer.pe >= 0)
        MPI_Irecv(boxes_[1].data() + peer.message, static_cast<int>(volume(peer.halo)), MPI_DOUBLE, peer.pe,
                  examples::opposite(d), MPI_COMM_WORLD, &requests_[n_requests_++]);
    for (int d = 0; d < examples::n_directions; ++d)
      if (const neighbour& peer = mine_.to[static_cast<std::size_t>(d)]; peer.pe >= 0) {
        double* const message = boxes_[0].data() + peer.message;
        for_message(peer.points, [=](std::int64_t at, std::int64_t i) { message[i] = v[at]; });
        MPI_Isend(message, static_cast<int>(volume(peer.points)), MPI_DOUBLE, peer.pe, d, MPI_COMM_WORLD,
                  &requests_[n_requests_++]);
      }
  }

  void receive(double* v) {
    MPI_Waitall(static_cast<int>(n_requests_), requests_.data(), MPI_STATUSES_IGNORE);
    n_requests_ = 0;
    for (const neighbour& peer : mine_.to)
      if (peer.pe >= 0) {
        const double* const message = boxes_[1].data() + peer.message;
        for_message(peer.halo, [=](std::int64_t at, std::int64_t i) { v[at] = message[i]; });
      }
  }

  decomposition mine_;
  std::vector<double> right_hand_side_;
  std::vector<examples::item> items_;
  std::size_t n_boundary_ = 0;
  examples::strides at_{};
  std::vector<double> vectors_[8];  // two directions, u, r, q; p, s, z
  std::vector<double> boxes_[2];    // send and receive buffers
  std::array<MPI_Request, std::size_t{2} * examples::n_directions> requests_{};
  std::size_t n_requests_ = 0;
};

int run(int argc, char** argv) {
  triple size{48, 48, 48}, pes{};
  int method = 0, most = 1000, rounds = 2;
  double tolerance = 1e-8;
  bool csv = false;
  examples::command_line line("22_cg_mpi", "22_cg by MPI.", "mpirun -n 4 22_cg_mpi --size 64");
  line.add("--size", "X,Y,Z", size, 1, "points of the grid");
  line.add("--pes", "X,Y,Z", pes, 1, "ranks on each axis; without it as makes the faces smallest");
  line.add("--method", method, {"standard", "pipelined"}, "two reductions an iteration, or one that is hidden");
  line.add("--tolerance", "T", tolerance, "of the residual, relative to the right-hand side");
  line.add("--most", "N", most, 1, "iterations");
  line.add("--rounds", "N", rounds, 1, "of the whole solution; the fastest counts");
  line.add("--csv", csv, "prints two lines of comma-separated values");
  int rank = 0, n = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  if (const auto end = line.read(argc, argv, rank == 0)) return *end;
  if (pes == triple{}) pes = examples::smallest_surface(size, n, false);
  if (const std::string why = examples::impossible(size, pes, n); !why.empty()) return line.refuse(why, rank == 0);

  cg mine(size, pes, rank);
  double least = 1e9;
  std::vector<double> rr;
  for (int round = 0; round < rounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    const auto begin = std::chrono::steady_clock::now();
    rr = mine.run(method == 1, tolerance, most);
    MPI_Barrier(MPI_COMM_WORLD);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    least = std::min(least, seconds / static_cast<double>(std::max<std::size_t>(rr.size() - 1, 1)));
  }
  const double scale = std::sqrt(static_cast<double>(size[0]) * size[1] * size[2]);
  const double error = mine.error(), bound = examples::error_bound(size, std::sqrt(rr.back()), std::sqrt(rr.front()));
  const bool good = error <= bound && rr.back() <= tolerance * tolerance * rr.front();
  if (rank == 0 && csv)
    std::printf(
        "nx,ny,nz,pes,px,py,pz,way,iterations,us_per_iteration,rms_error,allowed\n"
        "%d,%d,%d,%d,%d,%d,%d,%s,%zu,%.2f,%.3e,%.3e\n",
        size[0], size[1], size[2], n, pes[0], pes[1], pes[2], method == 1 ? "pipelined" : "standard", rr.size() - 1,
        least * 1e6, error / scale, bound / scale);
  else if (rank == 0)
    std::printf(
        "%d ranks of MPI as %s: %zu iterations, %.2f us each, root mean square error %.2e of at most %.2e\n"
        "check: %s\n",
        n, text_of(pes).c_str(), rr.size() - 1, least * 1e6, error / scale, bound / scale,
        good ? "the known solution is found" : "THE SOLUTION IS WRONG");
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = run(argc, argv);
  MPI_Finalize();
  return status;
}
