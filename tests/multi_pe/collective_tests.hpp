/// @file
/// Used by all tests of collectives that the host calls.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "pgas/pgas.hpp"

namespace pgas_test {

/// One world for all tests of this process, because joining takes longer than the tests.
inline pgas::world* shared_world = nullptr;
inline pgas::world& world() { return *shared_world; }

inline std::uint32_t mix(std::uint32_t a, std::uint32_t b) {
  std::uint32_t x = a * 0x9e3779b1u + b * 0x85ebca77u + 0x27d4eb2fu;
  x ^= x >> 15;
  x *= 0x2c1b3c6du;
  return x ^ x >> 12;
}

/// Symmetric memory as the host of this PE accesses it.
template <class T>
class array {
 public:
  explicit array(std::size_t count) : memory_(world().allocate<T>(count)) {}
  [[nodiscard]] T* data() { return memory_.data(); }
  void write(const std::vector<T>& values) {
    pgas::put(world(), data(), values.data(), values.size(), world().my_pe());
  }
  [[nodiscard]] std::vector<T> read(std::size_t count) {
    std::vector<T> values(count);
    pgas::get(world(), values.data(), data(), count, world().my_pe());
    return values;
  }

 private:
  pgas::symmetric<T> memory_;
};

template <class T>
std::vector<T> numbers(int member, std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<T>(mix(static_cast<std::uint32_t>(member), static_cast<std::uint32_t>(i)));
  return values;
}

/// The forms of a call: nullptr for the blocking form, or a stream.
template <class Call>
void both_ways(Call&& call) {
  call([](auto&& run) { run(); }, static_cast<const pgas::stream*>(nullptr));
  pgas::stream on(world());
  call(
      [&](auto&& run) {
        run();
        on.synchronize();
      },
      &on);
}

}  // namespace pgas_test
