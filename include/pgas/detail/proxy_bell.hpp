/// @file
/// Wakeups between the proxy and threads of the host: threads sleep until the proxy has made progress, and the proxy
/// sleeps until a command arrives. GPU threads poll, and can't wake a thread of the host.
#pragma once

#include "pgas/detail/isa/ptx_memory.hpp"

#if !defined(__CUDACC__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace pgas::detail {

/// The words for wakeups. The control block of each PE has one proxy_bell. *Memory* initially zero; without a proxy the
/// words stay zero.
struct proxy_bell {
  std::uint32_t rung;              ///< a futex; the proxy changes it whenever it has made progress
  mutable std::uint32_t sleepers;  ///< the number of threads that sleep until `rung` changes
  std::uint32_t proxy_sleeps;      ///< 1: the proxy sleeps, or is about to sleep, until a command arrives
  void (*wake)(void* proxy);
  void* proxy;
};

#if !defined(__CUDACC__)

/// Sleeps until `word` differs from `seen`, the word's owner wakes the thread, or `limit_ns` have passed. A futex wait
/// is not a cancellation point of POSIX threads. No wait of the library is a cancellation point.
inline void sleep_on(const std::uint32_t& word, std::uint32_t seen, std::uint64_t limit_ns) noexcept {
  const timespec limit{static_cast<time_t>(limit_ns / 1'000'000'000u), static_cast<long>(limit_ns % 1'000'000'000u)};
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, &limit, nullptr, 0);
}

[[nodiscard]] inline std::uint32_t times_rung(const proxy_bell& bell) noexcept {
  return __atomic_load_n(&bell.rung, __ATOMIC_ACQUIRE);
}

/// Sleeps until the proxy has made progress since times_rung() returned `seen`, or `limit_ns` have passed. The thread
/// polls its condition between times_rung() and this call, so the thread misses no wakeup.
inline void sleep_until_rung(const proxy_bell& bell, std::uint32_t seen, std::uint64_t limit_ns) noexcept {
  __atomic_fetch_add(&bell.sleepers, 1, __ATOMIC_SEQ_CST);
  sleep_on(bell.rung, seen, limit_ns);
  __atomic_fetch_sub(&bell.sleepers, 1, __ATOMIC_RELAXED);
}

/// Wakes the sleeping threads. *Callers* the proxy, after it has published its answers.
inline void ring_bell(proxy_bell& bell) noexcept {
  __atomic_fetch_add(&bell.rung, 1, __ATOMIC_SEQ_CST);  // either this thread sees `sleepers`, or a sleeper sees `rung`
  if (__atomic_load_n(&bell.sleepers, __ATOMIC_SEQ_CST) != 0)
    ::syscall(SYS_futex, &bell.rung, FUTEX_WAKE_PRIVATE, 0x7fffffff, nullptr, nullptr, 0);
}

/// Announces that the proxy is about to sleep. The proxy must look for commands again after this call.
inline void announce_sleep(proxy_bell& bell) noexcept { __atomic_exchange_n(&bell.proxy_sleeps, 1, __ATOMIC_SEQ_CST); }
/// An exchange, because a store would end the release sequence of a producer's addition in wake_proxy(): the proxy
/// would not be sure to see the command of that producer before its next sleep.
inline void end_sleep(proxy_bell& bell) noexcept { __atomic_exchange_n(&bell.proxy_sleeps, 0, __ATOMIC_ACQUIRE); }

#endif

/// Wakes the proxy if it sleeps. *Callers* producers, after a command. Has no effect on GPU threads.
PGAS_FN void wake_proxy([[maybe_unused]] proxy_bell& bell) {
#if !defined(__CUDACC__)
  // The addition of 0 is a modification of the word. The later of two modifications of a word sees all accesses that
  // precede the earlier modification, so this thread and the proxy can't miss each other.
  if (__atomic_fetch_add(&bell.proxy_sleeps, 0, __ATOMIC_SEQ_CST) != 0 &&
      __atomic_exchange_n(&bell.proxy_sleeps, 0, __ATOMIC_RELAXED) != 0)
    bell.wake(bell.proxy);
#endif
}

}  // namespace pgas::detail
