/// @file
/// Used by all checks: buffers, random contents that every PE can compute for any PE, and the execution of a call.
#pragma once

#include <functional>

#include "call.hpp"

namespace conformance {

/// The PE's buffers. Buffers in the heap are device memory if there is a GPU.
class bench {
 public:
  static constexpr std::size_t bytes = 1 << 16;

  bench();
  ~bench();
  bench(const bench&) = delete;
  bench& operator=(const bench&) = delete;

  int me, n;
  bool gpu;
  unsigned char* dest;  ///< symmetric, like the next two members
  unsigned char* source;
  std::uint64_t* signal;
  unsigned char* host_dest;  ///< pinned memory, `bytes` bytes each
  unsigned char* host_source;
  std::uint64_t* numbers;  ///< pinned memory for further inputs and results of a call
  cudaStream_t stream = nullptr;
  nvshmem_team_t rows = NVSHMEM_TEAM_INVALID;  ///< the PE and its neighbour: a team of two PEs, or of one PE

  [[nodiscard]] int right() const { return (me + 1) % n; }
  [[nodiscard]] int left() const { return (me + n - 1) % n; }

  /// Returns arguments in which all members that do not depend on the function are set.
  [[nodiscard]] call prepare(const function& f) const;
  /// Copies to and from the heap.
  void write(void* to, const void* from, std::size_t count) const;
  [[nodiscard]] std::vector<unsigned char> read(const void* from, std::size_t count) const;
  /// Waits until all PEs have arrived and their memory does not change any more.
  void barrier() const;
  /// Makes the call between two barriers.
  void execute_operation(const family& calls, const call& c) const;

 private:
  [[nodiscard]] unsigned char* pinned(std::size_t count) const;
  void unpin(void* p) const;
};

/// Bytes that depend on the number of the call and on a PE. The result is the same on all PEs.
std::vector<unsigned char> random_bytes(std::uint64_t serial, int pe, std::size_t count);
std::uint64_t random_word(std::uint64_t serial, int pe, std::uint64_t index);
/// `bits`, truncated to the size of an element.
std::uint64_t cut(std::uint64_t bits, int element_bytes);

/// A check of one function. Returns "" or the failure. `serial` differs from call to call and is the same on all PEs.
using check = std::string (*)(bench&, const family&, const function&, std::uint64_t serial);
std::string check_copy(bench&, const family&, const function&, std::uint64_t serial);
std::string check_strided(bench&, const family&, const function&, std::uint64_t serial);
std::string check_single(bench&, const family&, const function&, std::uint64_t serial);
std::string check_put_signal(bench&, const family&, const function&, std::uint64_t serial);
std::string check_atomic(bench&, const family&, const function&, std::uint64_t serial);
std::string check_wait(bench&, const family&, const function&, std::uint64_t serial);
std::string check_test(bench&, const family&, const function&, std::uint64_t serial);
std::string check_move(bench&, const family&, const function&, std::uint64_t serial);
std::string check_reduce(bench&, const family&, const function&, std::uint64_t serial);

/// Describes the first difference of two byte strings; "" if they are equal.
std::string difference(const char* what, const std::vector<unsigned char>& got,
                       const std::vector<unsigned char>& wanted);

/// Keeps the first failure in `wrong`. The check continues after a failure, because the other PEs continue their
/// checks.
inline void note(std::string& wrong, const std::string& more) {
  if (wrong.empty()) wrong = more;
}

/// The linked-in checks of functions without types. Each prints a line for each function and returns the number of
/// failures.
std::vector<int (*)(bench&)>& extras();

}  // namespace conformance
