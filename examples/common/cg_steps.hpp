/// @file
/// The arithmetic of conjugate gradients for the 3-D Poisson problem, on a box of points by a group of threads; shared
/// by the programs with pgas and with MPI. Vectors have the layout of decomposition.hpp. (v, w) is the inner product of
/// v and w. A is 6 on the diagonal and -1 for each of the 6 neighbours; values beyond the grid are 0.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "decomposition.hpp"
#include "ordered_sums.hpp"
#include "stencil.hpp"

namespace examples {

/// to = from + beta * old, the next search direction.
template <pgas::group Group>
PGAS_FN void combine(const Group& g, const strides& at, const box& b, const double* from, double beta,
                     const double* old, double* to) {
  for_each_point(g, b, [=](int x, int y, int z) {
    const std::int64_t i = at.index(x, y, z);
    to[i] = from[i] + beta * old[i];
  });
}

/// q = A v. Returns the thread's part of (v, q).
template <pgas::group Group>
[[nodiscard]] PGAS_FN double multiply(const Group& g, const strides& at, const box& b, const double* v, double* q) {
  double sum = 0;
  for_each_point(g, b, [=, &sum](int x, int y, int z) {
    const std::int64_t i = at.index(x, y, z);
    const double* const c = v + i;
    const double product =
        6.0 * c[0] - (((c[-1] + c[1]) + (c[-at.pitch] + c[at.pitch])) + (c[-at.plane] + c[at.plane]));
    q[i] = product;
    sum += product * c[0];
  });
  return sum;
}

/// u += alpha p, r -= alpha q. Returns the thread's part of (r, r).
template <pgas::group Group>
[[nodiscard]] PGAS_FN double descend(const Group& g, const strides& at, const box& b, double alpha, const double* p,
                                     const double* q, double* u, double* r) {
  double sum = 0;
  for_each_point(g, b, [=, &sum](int x, int y, int z) {
    const std::int64_t i = at.index(x, y, z);
    u[i] += alpha * p[i];
    const double rest = r[i] - alpha * q[i];
    r[i] = rest;
    sum += rest * rest;
  });
  return sum;
}

/// Returns the thread's part of (r, r) and of (r, w).
template <pgas::group Group>
[[nodiscard]] PGAS_FN sums multiply_both(const Group& g, const strides& at, const box& b, const double* r,
                                         const double* w) {
  sums sum{0, 0};
  for_each_point(g, b, [=, &sum](int x, int y, int z) {
    const std::int64_t i = at.index(x, y, z);
    sum.a += r[i] * r[i];
    sum.b += r[i] * w[i];
  });
  return sum;
}

/// The vectors of the pipelined variant (Ghysels and Vanroose 2014, without a preconditioner): w = A r, s = A p, z = A
/// s.
struct pipelined_vectors {
  double *u, *r, *p, *s, *z;
};
/// All recurrences of the pipelined variant in one pass. `q` is A w; the next w is stored to `to`. Returns the thread's
/// part of (r, r) and of (r, w).
template <pgas::group Group>
[[nodiscard]] PGAS_FN sums descend_pipelined(const Group& g, const strides& at, const box& b, double alpha, double beta,
                                             const pipelined_vectors& v, const double* q, const double* w, double* to) {
  sums sum{0, 0};
  for_each_point(g, b, [=, &sum](int x, int y, int z) {
    const std::int64_t i = at.index(x, y, z);
    const double next_z = q[i] + beta * v.z[i], next_s = w[i] + beta * v.s[i], next_p = v.r[i] + beta * v.p[i];
    v.z[i] = next_z;
    v.s[i] = next_s;
    v.p[i] = next_p;
    v.u[i] += alpha * next_p;
    const double rest = v.r[i] - alpha * next_s, next_w = w[i] - alpha * next_z;
    v.r[i] = rest;
    to[i] = next_w;
    sum.a += rest * rest;
    sum.b += rest * next_w;
  });
  return sum;
}

/// The solution of the problem: noise between -1 and 1, 0 beyond the grid.
[[nodiscard]] inline double known_solution(const triple& size, int x, int y, int z) {
  if (x < 0 || y < 0 || z < 0 || x >= size[0] || y >= size[1] || z >= size[2]) return 0;
  return 2.0 * static_cast<double>(initial(size, 0, x, y, z)) - 1.0;
}

/// A times the solution, for all points of a PE: the right-hand side, and the residual of u = 0.
[[nodiscard]] inline std::vector<double> right_hand_side(const decomposition& d) {
  std::vector<double> b(d.grid_points);
  for (int z = 1; z <= d.n[2]; ++z)
    for (int y = 1; y <= d.n[1]; ++y)
      for (int x = 1; x <= d.n[0]; ++x) {
        const int i = d.first[0] + x - 1, j = d.first[1] + y - 1, k = d.first[2] + z - 1;
        const auto u = [&](int a, int c, int e) { return known_solution(d.size, a, c, e); };
        b[d.index(x, y, z)] =
            6.0 * u(i, j, k) - (((u(i - 1, j, k) + u(i + 1, j, k)) + (u(i, j - 1, k) + u(i, j + 1, k))) +
                                (u(i, j, k - 1) + u(i, j, k + 1)));
      }
  return b;
}

/// The sum of squares of the difference to the solution, on one PE. @param u in the PE's layout
[[nodiscard]] inline double squared_error(const decomposition& d, const std::vector<double>& u) {
  double sum = 0;
  for (int z = 1; z <= d.n[2]; ++z)
    for (int y = 1; y <= d.n[1]; ++y)
      for (int x = 1; x <= d.n[0]; ++x) {
        const double off =
            u[d.index(x, y, z)] - known_solution(d.size, d.first[0] + x - 1, d.first[1] + y - 1, d.first[2] + z - 1);
        sum += off * off;
      }
  return sum;
}

/// The largest error for a residual of this norm: the norm divided by the smallest eigenvalue of A, plus an allowance
/// for rounding.
[[nodiscard]] inline double error_bound(const triple& size, double residual, double right_hand_side_norm) {
  double least = 0;
  for (const int n : size) {
    const double half = std::sin(std::acos(-1.0) / (2.0 * (n + 1)));
    least += 4.0 * half * half;
  }
  return (1.01 * residual + 1e-12 * right_hand_side_norm) / least;
}

}  // namespace examples
