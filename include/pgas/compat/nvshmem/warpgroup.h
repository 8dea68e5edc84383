/// @file
/// Four neighbouring warps of a block as a group.
#pragma once

#include "pgas/compat/nvshmem/host_device.h"

#if defined(PGAS_NVSHMEM_ON_DEVICE)

/// The 128 threads of the block with the same rank / 128 as the caller. Each warpgroup has a hardware barrier, counted
/// down from 15, as programs and libraries take the first ones.
class pgas_nvshmem_warpgroup {
 public:
  PGAS_NVSHMEM_DEVICE_FN static uint32_t thread_rank() { return pgas::block::thread_rank() % 128; }
  PGAS_NVSHMEM_DEVICE_FN static constexpr uint32_t size() { return 128; }
  PGAS_NVSHMEM_DEVICE_FN static void sync() { __barrier_sync_count(15 - number(), size()); }

  /// The vote: whether `yes` holds on any thread. Also a sync().
  PGAS_NVSHMEM_DEVICE_FN static bool any(bool yes) {
    __shared__ uint32_t votes[8];
    if (thread_rank() == 0) votes[number()] = 0;
    sync();
    if (yes) votes[number()] = 1;
    sync();
    const bool all = votes[number()] != 0;
    sync();
    return all;
  }
  /// The value of the thread with rank 0, on all threads. Also a sync().
  template <class T>
  PGAS_NVSHMEM_DEVICE_FN static T broadcast(T value) {
    __shared__ T values[8];
    if (thread_rank() == 0) values[number()] = value;
    sync();
    const T all = values[number()];
    sync();
    return all;
  }

 private:
  /// Which of the eight in the block.
  PGAS_NVSHMEM_DEVICE_FN static uint32_t number() { return pgas::block::thread_rank() / 128; }
};

#define PGAS_NVSHMEM_GROUP_warpgroup pgas_nvshmem_warpgroup()

#endif
