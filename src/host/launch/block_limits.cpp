#include "host/launch/block_limits.hpp"

#include <algorithm>
#include <cstdlib>

#include "pgas/detail/isa/ptx_warp.hpp"
#include "pgas/detail/team_state_layout.hpp"

namespace pgas::detail {

unsigned concurrent_pes(std::span<const device_user> users, std::size_t me) {
  const device_user& self = users[me];
  const device_properties& mine = self.info.properties;
  unsigned sharers = 0;
  unsigned smallest = mine.multiprocessors;
  for (const device_user& other : users) {
    const device_properties& theirs = other.info.properties;
    if (theirs.uuid != mine.uuid || other.host != self.host) continue;
    if (other.process != self.process && !mine.runs_processes_at_once) continue;
    ++sharers;
    smallest = std::min(smallest, theirs.multiprocessors);
  }
  // It is possible that the PEs run on the same multiprocessors. Therefore the blocks of all PEs must fit on the
  // multiprocessors of the PE that has the fewest multiprocessors.
  return smallest == 0 ? sharers : (sharers * mine.multiprocessors + smallest - 1) / smallest;
}

bool time_sliced(std::span<const device_user> users, std::size_t me) {
  const device_user& self = users[me];
  const device_properties& mine = self.info.properties;
  if (mine.kind == heap_kind::host || mine.runs_processes_at_once) return false;
  return std::any_of(users.begin(), users.end(), [&](const device_user& other) {
    return other.info.properties.uuid == mine.uuid && other.host == self.host && other.process != self.process;
  });
}

unsigned max_collective_blocks(std::span<const device_user> users) {
  unsigned blocks = team_state_layout::most_blocks;
  for (std::size_t pe = 0; pe < users.size(); ++pe) {
    const unsigned has = users[pe].info.properties.multiprocessors;
    if (has != 0) blocks = std::min(blocks, std::max(1u, has / (2 * concurrent_pes(users, pe))));
  }
  return blocks;
}

namespace {

constexpr unsigned partitions = 4;  // partitions of a multiprocessor; the registers of a warp are in one partition

unsigned registers_of_warp(unsigned each_thread) {
  constexpr unsigned unit = 256;
  return (each_thread * warp_size + unit - 1) / unit * unit;
}

}  // namespace

unsigned blocks_beside_proxy(const resident_kernel& kernel, const device_properties& gpu) {
  if (kernel.each == 0) return 0;
  // The proxy's kernel is one warp without shared memory. A multiprocessor with one block fewer has room for this warp,
  // unless it has too few registers.
  const unsigned warps = (kernel.threads + warp_size - 1) / warp_size;
  const auto fits_beside = [&](unsigned blocks) {
    const unsigned most_warps = (blocks * warps + partitions - 1) / partitions;
    return most_warps * registers_of_warp(kernel.registers) + registers_of_warp(gpu.proxy_registers) <=
           gpu.registers / partitions;
  };
  unsigned blocks = kernel.each - 1;
  while (blocks > 0 && !fits_beside(blocks)) --blocks;
  // In a grid of the returned size, at least one multiprocessor has at most `blocks` blocks (pigeonhole principle).
  return (blocks + 1) * kernel.multiprocessors - 1;
}

bool lacks_queue_for_proxy(const device_properties& gpu, const std::optional<std::string>& connections) {
  constexpr int enough = 4;  // enough hardware queues for two waiting streams
  return gpu.runs_processes_at_once && (!connections || std::atoi(connections->c_str()) < enough);
}

}  // namespace pgas::detail
