/// @file
/// The PEs of a program, their memory, and timed kernels. All rows_*.cu use it.
#pragma once

#include <cuda_runtime.h>

#include "data.hpp"
#include "kernel_arguments.hpp"
#include "report.hpp"

namespace side_by_side {

/// The cost of joining on this PE.
struct joined {
  double milliseconds;  ///< the time from the call to the end of the first kernel
  double mebibytes;     ///< the decrease of free GPU memory from the call to the end of the first kernel
  double with_first;    ///< the decrease of free GPU memory from the call to the end of the first allocation
};

/// How a kernel is run, and the expected data. If there are no words to check, the kernel itself counts errors.
struct kernel {
  const void* function;
  int blocks;
  int threads;
  std::size_t words;               ///< the number of words for arguments::words
  std::size_t words_to_check = 0;  ///< the number of words of arguments::dest
  expected as{};
  bool only_on = false;  ///< checked on PE `checked_pe` only
  int checked_pe = 0;
};

class bench : public together {
 public:
  /// Joins as PE `rank` of `size`, by a unique id that is exchanged through a file.
  /// @param share whether PEs may share GPUs
  bench(const char* id_file, int rank, int size, bool share);
  ~bench() override;
  bench(const bench&) = delete;
  bench& operator=(const bench&) = delete;

  int me() const override { return me_; }
  int n() const { return n_; }
  const joined& how_joined() const { return joined_; }
  double largest(double mine) override;
  std::uint64_t total(std::uint64_t mine) override;
  void barrier() override;

  /// Allocates memory. The memory begins with a symmetric array of random words and a symmetric array that receives
  /// words. The first call is collective.
  void allocate(std::size_t bytes);
  std::uint64_t* source() { return source_; }
  std::uint64_t* dest() { return dest_; }
  std::size_t bytes() const { return bytes_; }
  cudaStream_t stream() { return stream_; }
  std::uint64_t seed() const { return 20; }
  /// The other PE of rows that use two PEs. All further PEs are idle.
  int peer() const { return me_ == 0 ? 1 : 0; }

  /// Measures a row. All PEs run its kernel.
  void measure(report& to, const row& kernel_row, const kernel& what);
  /// Runs the kernel. Returns the seconds on this PE.
  double run(const kernel& what, int iterations);
  /// The arguments of the kernel.
  arguments arguments_for(const kernel& what, int iterations);
  /// Fills the destination with random data, so that it contains nothing of an earlier run, and sets signals to zero.
  void prepare(std::size_t dest_bytes);
  /// The number of errors that the kernels of the last run have counted.
  std::uint64_t counted_wrong();

 private:
  /// Reduces one word of each PE.
  template <typename Reduce>
  std::uint64_t vote(std::uint64_t mine, Reduce reduce);

  int me_;
  int n_;
  joined joined_{};
  cudaStream_t stream_ = nullptr;
  std::uint64_t* votes_ = nullptr;    // symmetric
  std::uint64_t* signals_ = nullptr;  // symmetric
  std::uint64_t* source_ = nullptr;
  std::uint64_t* dest_ = nullptr;
  std::size_t bytes_ = 0;
  span* times_ = nullptr;
  unsigned long long* wrong_ = nullptr;
};

/// The rows of a file. Groups run in the order of their numbers.
struct group {
  int number;
  void (*rows)(bench& pes, report& to);
};
std::vector<group>& groups();

/// Registers the rows of a file.
struct registration {
  registration(int number, void (*rows)(bench& pes, report& to)) { groups().push_back({number, rows}); }
};

/// Launches the first kernel that uses the library. Defined in rows_setup.cu.
void first_kernel(cudaStream_t stream);
/// Makes the driver load the code of the program, without calling the library.
void load_code();

/// The address at which hand-written kernels access memory of another PE.
std::uint64_t* mapped(std::uint64_t* symmetric, int pe);

}  // namespace side_by_side
