/// @file
/// Makes operator new fail, for a program that consists of one file.
#pragma once

#include <cstdlib>
#include <new>

/// While this is set, the calling thread cannot allocate memory.
thread_local bool no_memory = false;

// Not inlined, because otherwise the compiler would see only one of operator new and operator delete, and warn of a
// mismatch.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* const memory = no_memory ? nullptr : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return no_memory ? nullptr : std::malloc(bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
