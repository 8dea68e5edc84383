/// @file
/// Used by the tests of NVSHMEM's host side, which are built as C++17 and as C++20.
#pragma once

#include <gtest/gtest.h>
#include <nvshmem.h>
#include <nvshmemx.h>

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

/// Symmetric memory of one type, freed at the end of the scope.
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
