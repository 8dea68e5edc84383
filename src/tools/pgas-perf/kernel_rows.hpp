/// @file
/// The files with kernels, each with its rows. Included by all of them, and by the list of all.
#pragma once

#include <vector>

#include "kernel.hpp"

namespace pgas::perf::PGAS_PERF_SIDE {

[[nodiscard]] std::vector<row> copy_rows();
[[nodiscard]] std::vector<row> ping_pong_rows();
[[nodiscard]] std::vector<row> atomic_rows();
[[nodiscard]] std::vector<row> collective_rows();
[[nodiscard]] std::vector<row> halo_rows();

}  // namespace pgas::perf::PGAS_PERF_SIDE
