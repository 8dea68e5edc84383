/// @file
/// The options of the command line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "benchmark_list.hpp"

namespace pgas::perf {

struct options {
  std::vector<std::string> rows = {"*"};
  std::size_t least_bytes = 8;
  std::size_t most_bytes = std::size_t{16} << 20;
  std::size_t factor = 8;
  std::uint32_t iterations = 0;  ///< 0: the number of iterations that take `milliseconds`
  std::uint32_t warmup = 5;
  std::uint32_t repeats = 5;
  double milliseconds = 10;
  std::vector<scope> scopes;     ///< empty: all scopes of the heap
  std::vector<unsigned> blocks;  ///< empty: 1, 4 and 32 blocks on GPUs, 1 block on host heaps
  unsigned threads = 0;  ///< the threads of a block; 0: 1024 or 512 on GPUs, PGAS_HOST_BLOCK_THREADS on host heaps
  std::vector<int> pair = {0, 1};
  bool check = true;
  bool list = false;
  bool markdown = false;
  std::string json;  ///< a file; empty: none; "-": standard output, without a table
};

}  // namespace pgas::perf
