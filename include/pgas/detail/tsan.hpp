/// @file
/// Fences as ThreadSanitizer can follow them. It models releasing and acquiring *operations*, not stand-alone fences,
/// and GCC rejects the latter under `-fsanitize=thread`. Making every relaxed operation acquire and release would hide
/// exactly the bugs that it should find, a missing fence, so this file keeps the fences' meaning per thread instead:
///
/// * a release fence marks the thread; its later relaxed stores are releases, until it writes bulk data again;
/// * relaxed loads note their address; an acquire fence acquires what was released to the noted addresses.
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
extern "C" {  // of the sanitizer's run time; not every compiler ships their header
void __tsan_acquire(void* address);
void __tsan_atomic_thread_fence(int order);
}
#endif

#if !defined(__CUDACC__)
namespace pgas::detail {

#if defined(PGAS_TSAN)

/// What one thread's fences have to know.
struct tsan_state {
  static constexpr unsigned capacity = 64;
  bool released = false;  ///< a release fence came, and no bulk data since
  unsigned count = 0;     ///< addresses noted, at most capacity
  unsigned next = 0;      ///< where the next address goes
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
    __tsan_acquire(t.loaded[t.next]);  // forgotten from here on: acquire it early rather than never
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
