/// @file
/// The sizes of the library's kernels, and the structs that only these kernels and their launches share. The library
/// finds a kernel by its name in the machine code, so kernels have C linkage. The GPU can set up a kernel before the
/// previous kernel of the stream has ended. So each kernel first waits for the previous kernel
/// (wait_for_predecessor()).
#pragma once

#include "pgas/detail/compiler.hpp"
#include "pgas/detail/isa/ptx_warp.hpp"

namespace pgas::detail::cuda {

/// The largest number of threads in a block of a single operation.
inline constexpr unsigned max_operation_threads = 256;

/// The number of threads in a block of a list of copies.
inline constexpr unsigned max_list_threads = 512;

/// The largest number of threads in a block of a collective. With more threads, each thread would have too few
/// registers.
inline constexpr unsigned max_collective_threads = 512;

/// The launch bound of a kernel for blocks of at most `threads` threads. The bound limits the registers to the number
/// with which one and a half blocks fit on a multiprocessor. The other registers are for kernels that run at the same
/// time. By default the compiler limits the registers to the number with which two blocks fit. The compiler then spills
/// values. After each wait, spilled values come from L2, because a wait empties L1.
[[nodiscard]] constexpr unsigned launch_bound(unsigned threads) { return threads * 3 / 2; }

/// The stack size of a thread, as large as CUDA's default limit.
inline constexpr unsigned used_stack_bytes = 1024;

/// Words in mapped memory, by which the host requests readings of the clock from a kernel.
struct clock_rounds {
  std::uint32_t asked = 0;
  std::uint32_t answered = 0;
  std::uint64_t time = 0;
};

}  // namespace pgas::detail::cuda
