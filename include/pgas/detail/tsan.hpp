/// @file
/// Emulates fences for ThreadSanitizer. ThreadSanitizer models releasing and acquiring *operations* but no stand-alone
/// fences, and GCC rejects fences under `-fsanitize=thread`. If every relaxed operation were an acquire and a release,
/// the sanitizer could not find missing fences. This file therefore keeps a state for each thread:
///
/// * a release fence marks the thread. Later relaxed stores of the thread are releases, until the thread writes bulk
///   data again;
/// * relaxed loads record their address; an acquire fence acquires what was released to the recorded addresses.
///
/// Used by `ptx_memory.hpp` and `ptx_atomic.hpp` only, and empty without the sanitizer.
#pragma once

#include "pgas/detail/compiler.hpp"

#if defined(__SANITIZE_THREAD__)
#define PGAS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PGAS_TSAN 1
#endif
#endif

#if defined(PGAS_TSAN)
extern "C" {  // functions of the sanitizer's run time; not every compiler has their header
void __tsan_acquire(void* address);
void __tsan_atomic_thread_fence(int order);
}
#endif

#if !defined(__CUDACC__)
namespace pgas::detail {

#if defined(PGAS_TSAN)

/// The state of one thread's fences.
struct tsan_state {
  static constexpr unsigned capacity = 64;
  bool released = false;  ///< the thread has written no bulk data since its last release fence
  unsigned count = 0;     ///< the number of addresses, at most capacity
  unsigned next = 0;      ///< the index for the next address
  void* loaded[capacity] = {};
};

inline thread_local tsan_state tsan_thread;

inline void tsan_note_load(const void* p) {
  tsan_state& t = tsan_thread;
  void* const address = const_cast<void*>(p);
  for (unsigned i = 0; i < t.count; ++i) {
    if (t.loaded[i] == address) return;
  }
  if (t.count == tsan_state::capacity) {
    __tsan_acquire(t.loaded[t.next]);  // the entry is overwritten next, so its address is acquired now
  } else {
    ++t.count;
  }
  t.loaded[t.next] = address;
  t.next = (t.next + 1) % tsan_state::capacity;
}

inline void tsan_note_data() { tsan_thread.released = false; }
[[nodiscard]] inline bool tsan_released() { return tsan_thread.released; }
inline void tsan_fence_release() { tsan_thread.released = true; }

inline void tsan_fence_acquire() {
  tsan_state& t = tsan_thread;
  for (unsigned i = 0; i < t.count; ++i) __tsan_acquire(t.loaded[i]);
  t.count = 0;
  t.next = 0;
}

inline void tsan_fence_sc() {
  tsan_fence_release();
  tsan_fence_acquire();
  __tsan_atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#else

inline void tsan_note_load(const void*) {}
inline void tsan_note_data() {}
[[nodiscard]] inline constexpr bool tsan_released() { return false; }

#endif

}  // namespace pgas::detail
#endif
