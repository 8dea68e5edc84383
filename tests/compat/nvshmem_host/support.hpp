/// @file
/// What the tests of NVSHMEM's host side share. They are built as C++17 and as C++20.
#pragma once

#include <gtest/gtest.h>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <stdexcept>
#include <string>

/// A program with NVSHMEM initialized. All PEs run all tests in the same order.
class Nvshmem : public testing::Test {
 protected:
  void SetUp() override {
    nvshmem_init();
    me = nvshmem_my_pe();
    n = nvshmem_n_pes();
  }
  void TearDown() override { nvshmem_finalize(); }

  int me = -1;
  int n = 0;
};

/// The code that `call` throws, such as "E0301"; fails the test when it throws nothing. Functions that return nothing
/// throw what the library throws, whose text begins with its code.
template <class Call>
std::string thrown_by(Call&& call) {
  try {
    call();
  } catch (const std::runtime_error& error) {
    const std::string text = error.what();
    return text.substr(text.find('E'), 5);
  }
  ADD_FAILURE() << "expected an error";
  return "";
}

inline const char* const not_joined = "E0305";
inline const char* const pe_out_of_range = "E0301";
inline const char* const outside_heap = "E0302";
inline const char* const misaligned = "E0303";
inline const char* const invalid_argument = "E0304";
inline const char* const invalid_free = "E0206";

/// Symmetric memory of one type, given back at the end of the scope.
template <class T>
class Symmetric {
 public:
  explicit Symmetric(size_t count) : at_(static_cast<T*>(nvshmem_calloc(count, sizeof(T)))) {}
  ~Symmetric() { nvshmem_free(at_); }
  Symmetric(const Symmetric&) = delete;
  Symmetric& operator=(const Symmetric&) = delete;
  operator T*() const { return at_; }

 private:
  T* at_;
};
