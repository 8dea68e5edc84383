/// @file
/// A few PEs in one process, on the CPU or on GPUs, with the same interface. The compiler chooses the side:
///
///     pe_set pes(n, {.heap_bytes = ..., .checks = ...});
///     auto word = pes.allocate<int>(1);      // symmetric, zeroed
///     pes.write(pe, word, &value, 1);  pes.read(pe, word, &value, 1);
///     pes.run({blocks, threads}, body);      // body(block, context) on all PEs together; no wait of a PE may fail
///     pes.run_out({...}, body);              // as run(), but waits may fail; returns the PEs with failed waits
///     pes.control(pe).record                 // the record of a PE whose wait failed
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "body_tools.hpp"
#include "plans.hpp"

namespace pgas_test {

struct pe_options {
  std::size_t heap_bytes = std::size_t{4} << 20;
  bool checks = false;
  int domain = 0;  ///< the size of a domain; 0: the size that `--domain` sets, or all PEs
  std::chrono::milliseconds timeout{60'000};
};

/// `--rounds=N` of the command line; 0 if the option is missing. Sets the rounds of the stress test and the maximum of
/// other tests. The option is for sanitizers, with which a kernel runs a thousand times slower.
inline std::uint64_t& asked_rounds() {
  static std::uint64_t value = 0;
  return value;
}
/// `--domain=N` of the command line: the size of domains if a test does not set the size; 0: one domain of all PEs. PEs
/// of different domains are proxied. With `--faulty` or `--faulty=SEED`, the network holds messages back and reorders
/// them.
inline int& asked_domain() {
  static int value = 0;
  return value;
}
/// `--scattered` of the command line: slots can lie anywhere, as if the device chose the addresses
/// (PGAS_MEM_HANDLE=cuda_ipc), and the table of routes has their distances.
inline bool& asked_scattered() {
  static bool value = false;
  return value;
}
/// The binary logarithm of the unit for distances of scattered slots, as in the library: 2 MiB.
inline constexpr std::uint16_t log2_scatter_unit = 21;
inline std::uint32_t& asked_fault_seed() {
  static std::uint32_t value = 0;
  return value;
}
inline int no_more_than_asked(int n) {
  return asked_rounds() != 0 && asked_rounds() < static_cast<std::uint64_t>(n) ? static_cast<int>(asked_rounds()) : n;
}

}  // namespace pgas_test

#if defined(__CUDACC__)
#include "harness_cuda.hpp"
#else
#include "harness_cpu.hpp"
#endif

namespace pgas_test {

/// Allocates the memory for findings.
inline findings make_findings(pe_set& pes) { return {pes.allocate<finding>(1)}; }

/// Fails the test for every PE that has found an error.
inline void expect_nothing_found(pe_set& pes, const findings& found) {
  for (int pe = 0; pe < pes.n_pes(); ++pe) {
    finding f{};
    pes.read(pe, found.place, &f, 1);
    EXPECT_EQ(f.count, 0u) << "PE " << pe << ": check " << f.where << " expected " << f.expected << ", saw " << f.seen;
  }
}

}  // namespace pgas_test
