#include "host/team/grid_limit.hpp"

namespace pgas::detail {

namespace {

constexpr unsigned warp = 32;
constexpr unsigned partitions = 4;  // of a multiprocessor; a warp's registers are in one of them

unsigned registers_of_warp(unsigned each_thread) {
  constexpr unsigned unit = 256;
  return (each_thread * warp + unit - 1) / unit * unit;
}

}  // namespace

unsigned blocks_beside_proxy(const resident_kernel& kernel, const device_properties& gpu) {
  if (kernel.each == 0) return 0;
  // The proxy's kernel is one warp without shared memory. Where one block fewer runs, a multiprocessor has room for it
  // in all but perhaps registers.
  const unsigned warps = (kernel.threads + warp - 1) / warp;
  const auto fits_beside = [&](unsigned blocks) {
    const unsigned most_warps = (blocks * warps + partitions - 1) / partitions;
    return most_warps * registers_of_warp(kernel.registers) + registers_of_warp(gpu.proxy_registers) <=
           gpu.registers / partitions;
  };
  unsigned blocks = kernel.each - 1;
  while (blocks > 0 && !fits_beside(blocks)) --blocks;
  // By the pigeonhole principle one multiprocessor then has at most `blocks`.
  return (blocks + 1) * kernel.multiprocessors - 1;
}

}  // namespace pgas::detail
