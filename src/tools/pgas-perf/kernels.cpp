// All rows with kernels of the side that this is compiled for. A new file of rows is added here.
#include "kernel_rows.hpp"

namespace pgas::perf::PGAS_PERF_SIDE {

std::vector<row> kernel_rows();

std::vector<row> kernel_rows() {
  std::vector<row> all;
  for (const auto family : {copy_rows, ping_pong_rows, atomic_rows, collective_rows, halo_rows}) {
    for (row& each : family()) all.push_back(std::move(each));
  }
  return all;
}

}  // namespace pgas::perf::PGAS_PERF_SIDE
