/// @file
/// The PEs of a program, their memory, and kernels that are timed: what all rows_*.cu have in common.
#pragma once

#include <cuda_runtime.h>

#include "data.hpp"
#include "kernel_arguments.hpp"
#include "report.hpp"

namespace side_by_side {

/// What joining cost this PE.
struct joined {
  double milliseconds;  ///< from the call to the end of the first kernel
  double mebibytes;     ///< of GPU memory, less by then
  double with_first;    ///< and after the first allocation
};

/// How a kernel is run and what it should leave behind. Without words to expect it counts itself what is wrong.
struct kernel {
  const void* function;
  int blocks;
  int threads;
  std::size_t words;               ///< arguments::words
  std::size_t words_to_check = 0;  ///< of arguments::dest
  expected as{};
  bool only_on = false;  ///< checked on PE `checked_pe` only
  int checked_pe = 0;
};

class bench : public together {
 public:
  /// Joins, as PE `rank` of `size`, by a unique id that goes through a file. @param share whether PEs may share GPUs
  bench(const char* id_file, int rank, int size, bool share);
  ~bench() override;
  bench(const bench&) = delete;
  bench& operator=(const bench&) = delete;

  int me() const override { return me_; }
  int n() const { return n_; }
  const joined& how_joined() const { return joined_; }
  double largest(double mine) override;
  std::uint64_t total(std::uint64_t mine) override;
  void meet() override;

  /// The first words of it are symmetric arrays of random words and of room for them. Collective the first time.
  void allocate(std::size_t bytes);
  std::uint64_t* source() { return source_; }
  std::uint64_t* dest() { return dest_; }
  std::size_t bytes() const { return bytes_; }
  cudaStream_t stream() { return stream_; }
  std::uint64_t seed() const { return 20; }
  /// The second PE of the rows between two PEs; the other PEs are idle.
  int peer() const { return me_ == 0 ? 1 : 0; }

  /// A row of a kernel that all PEs run.
  void measure(report& to, const row& of, const kernel& what);
  /// A run of it: seconds on this PE.
  double run(const kernel& what, int iterations);
  /// What a kernel is called with here.
  arguments arguments_for(const kernel& what, int iterations);
  /// A random destination has nothing of an earlier run, signals are zero.
  void prepare(std::size_t dest_bytes);
  /// What the last run's kernels have counted themselves.
  std::uint64_t counted_wrong();

 private:
  /// What a reduction over all PEs makes of a word of each.
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

/// A file's rows. Groups run by their number.
struct group {
  int number;
  void (*rows)(bench& pes, report& to);
};
std::vector<group>& groups();

/// Announces a file's rows.
struct registration {
  registration(int number, void (*rows)(bench& pes, report& to)) { groups().push_back({number, rows}); }
};

/// Launches one kernel that uses the library, before anything else; in rows_setup.cu.
void first_kernel(cudaStream_t stream);
/// Makes the driver load the code that is there, without a call of the library.
void load_code();

/// Where hand-written kernels find memory of another PE.
std::uint64_t* mapped(std::uint64_t* symmetric, int pe);

}  // namespace side_by_side
