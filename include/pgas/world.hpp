/// @file
/// A world: processes (PEs) that share a symmetric heap. Worlds are objects; a process may have several, one after
/// another or at once.
#pragma once

#include "pgas/detail/names_begin.inc"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pgas/bootstrap.hpp"
#include "pgas/config.hpp"
#include "pgas/device/direct_context.hpp"
#include "pgas/error.hpp"
#include "pgas/symmetric_memory.hpp"
#include "pgas/type_requirements.hpp"
#include "pgas/world_stats.hpp"

namespace pgas {

class stream;
class team;

/// The properties of a PE, for messages, logs and placement decisions.
struct pe_info {
  std::string host;          ///< host name
  int pid = 0;               ///< of its process there
  int local_rank = 0;        ///< among the PEs of its host
  std::string device;        ///< "NVIDIA H200", "host memory"
  std::string device_uuid;   ///< equal for PEs that share a device
  bool direct = true;        ///< direct peer: its heap is reached by load and store; else by the proxy
  std::string route;         ///< for messages: "load and store", "proxy over ucx 1.16.0"
  bool takes_turns = false;  ///< its GPU runs its kernels and those of other processes in turns, as no MPS is there
};

/// Something that this PE waits for, as world::waits() finds it.
struct wait_info {
  std::string what;                    ///< the device operation, the operation under way in the proxy, or the host call
  bool in_kernel = false;              ///< a thread of a kernel waits, else one of the host
  std::uint32_t block = 0;             ///< of that kernel
  std::uint32_t thread = 0;            ///< of that block
  int pe = -1;                         ///< waited for; -1 where the wait does not know
  std::uint64_t heap_offset = 0;       ///< of the word that has to change, as context::offset() gives it
  std::string compare;                 ///< how it is compared, ">="; empty for calls that wait for no word
  std::uint64_t expected = 0;          ///< what it is compared with
  std::uint64_t seen = 0;              ///< what it was
  std::chrono::milliseconds lasted{};  ///< since a wait of a kernel was first looked at, or since the call began
};

/// How many threads of a PE may call the library; the names are those of OpenSHMEM.
enum class thread_level {
  single,      ///< the process has one thread
  funneled,    ///< only the thread that joined
  serialized,  ///< one at a time
  multiple     ///< any, at once
};

/// Membership in a world. Joining and leaving are collective.
///
/// *Callers* any thread, any number at once, for the one-sided operations (rma.hpp, stream.hpp, lock.hpp), launch(),
/// queries, check() and abort(). Collective calls (join, leave, allocate, reallocate, free, barrier_all, the
/// destruction of a symmetric<T>, teams and their collectives) go one after another: two threads may make them, but all
/// PEs must make them in the same order, and nothing else may run during leave() or after it. Different worlds are
/// independent. A child of fork() is no member of its parent's worlds: every call throws forked_process there, and its
/// copies of worlds, teams, streams and symmetric memory do nothing when they are destroyed. The memory itself is
/// shared with the child, so all PEs see its stores. *Errors* every function throws pgas::error; after a PE has died or
/// aborted, every call throws the first cause.
class PGAS_API world {
 public:
  /// Joins the world of the launcher that started this process (pgasrun, mpirun, srun, torchrun's variables), or a
  /// world of one when there is none. Settings come from the environment (`pgas-info --config` lists them). *Errors*
  /// codes 1xx, 2xx, 5xx, 601; within config::join_timeout, on every PE that can be reached: bootstrap_timeout names
  /// the PE that was waited for.
  [[nodiscard]] static world join();
  /// The same with the program's own settings.
  [[nodiscard]] static world join(const config& settings);
  /// Joins the processes that `exchange` connects: a world of any subset, over the program's own bootstrap.
  [[nodiscard]] static world join(std::unique_ptr<bootstrap> exchange,
                                  const config& settings = config::from_environment());

  /// Takes over the membership; `other` is empty then, and its functions throw not_joined.
  world(world&& other) noexcept;
  /// The same, after leaving as the destructor does.
  world& operator=(world&& other) noexcept;
  world(const world&) = delete;
  world& operator=(const world&) = delete;
  /// Leaves. When an exception is unwinding this PE, aborts the world instead of waiting for the others.
  ~world();

  /// Collective: waits for all PEs, and for the work on the streams that the program has made in this world, then
  /// releases all resources. Does nothing the second time. *Errors* asymmetric_call where a PE is in another collective
  /// call; wait_timeout where that work lasts for PGAS_JOIN_TIMEOUT after all PEs have come, which fails the world.
  void leave();
  /// Ends the world for everyone: waits end, every later call on any PE throws code::aborted with this reason. The
  /// launcher is told after the PEs (bootstrap::abort()), and ends the job: pgasrun after its --grace-period; those of
  /// PMIx and MPI may end all processes, this one too, before this returns. *Callers* any thread.
  void abort(std::string_view reason) noexcept;
  /// Throws the first failure of this world, if there was one: a PE died or aborted, or a kernel of this PE gave up.
  /// Waits for nothing. *Callers* any thread.
  void check() const;
  /// What this PE waits for now: up to 128 threads of its kernels, which answer while they poll, and its host calls.
  /// `pgas-why` asks all PEs, and says which one is the root. *Callers* any thread, also while another one is in a call
  /// that does not end. Takes some 15 ms. *Errors* not_joined.
  [[nodiscard]] std::vector<wait_info> waits() const;
  /// What this PE has counted since it joined: operations and bytes by target and route, time in calls that wait, the
  /// use of the heap, heartbeats, errors. `PGAS_METRICS` serves the same to monitoring systems (docs/metrics.md).
  /// *Callers* any thread, also while another one is in a call that does not end. Waits for nothing, and takes some
  /// microseconds. *Errors* not_joined.
  [[nodiscard]] world_stats stats() const;

  /// This PE's number. *Callers* any thread.
  [[nodiscard]] int my_pe() const;
  /// How many PEs there are. *Callers* any thread.
  [[nodiscard]] int n_pes() const;
  /// The properties of a PE. *Callers* any thread. *Errors* pe_out_of_range.
  [[nodiscard]] const pe_info& pe(int number) const;
  /// heap_kind::cuda or heap_kind::host.
  [[nodiscard]] heap_kind heap() const;
  /// This PE's GPU as the CUDA runtime of this process counts, for cudaSetDevice(); -1 on the host heap. Joining leaves
  /// the calling thread's current device as it is. *Callers* any thread.
  [[nodiscard]] int device() const;
  /// The settings of join().
  [[nodiscard]] const config& settings() const;

  /// The context, which kernels take by value.
  [[nodiscard]] pgas::context context() const;
  /// The same for kernels that need no other route than load and store, which compile to less.
  /// *Errors* peer_unreachable, naming a PE: not all of them are reached by load and store, at evenly spaced addresses.
  [[nodiscard]] pgas::direct_context direct_context() const;

  /// All PEs, as a team. This and the next two are teams that the world has by itself: they end with it, and are not
  /// destroyed. *Callers* any thread.
  [[nodiscard]] const pgas::team& team() const;
  /// The domain: this PE and its direct peers.
  [[nodiscard]] const pgas::team& domain_team() const;
  /// All PEs of this host, proxied peers included.
  [[nodiscard]] const pgas::team& host_team() const;

  /// Collective: `count` objects of T on every PE, at the same offset.
  /// *Memory* alignment at least 16 bytes, 512 from 512 bytes on, 2 MiB from 2 MiB on, or as asked (a power of two,
  /// up to PGAS_HEAP_STRIDE where the system has such addresses). *On return* every PE may address the memory of all
  /// PEs; with initialize::zero all of it is zero. *Errors* out_of_memory (then nothing was allocated anywhere),
  /// invalid_argument, asymmetric_call with checks on.
  template <rma_type T>
  [[nodiscard]] symmetric<T> allocate(std::size_t count, initialize how = initialize::no,
                                      std::size_t alignment = alignof(T)) {
    T* data = static_cast<T*>(allocate_bytes(count, sizeof(T), alignment, how));
    return symmetric<T>(state_, data, data != nullptr ? count : 0);
  }
  /// allocate() without an owner: give it back with free(). Null for 0 bytes.
  [[nodiscard]] void* allocate_bytes(std::size_t count, std::size_t size = 1, std::size_t alignment = 16,
                                     initialize how = initialize::no);
  /// allocate() with cache lines of its own, see memory_hint.
  template <rma_type T>
  [[nodiscard]] symmetric<T> allocate(std::size_t count, memory_hint hint, initialize how = initialize::no) {
    T* data = static_cast<T*>(allocate_bytes(count, sizeof(T), hint, how));
    return symmetric<T>(state_, data, data != nullptr ? count : 0);
  }
  /// The same without an owner.
  [[nodiscard]] void* allocate_bytes(std::size_t count, std::size_t size, memory_hint hint,
                                     initialize how = initialize::no);
  /// Collective: changes the size of an allocation. Its bytes stay, up to the smaller size; the rest is not
  /// initialised. Null allocates; a size of 0 frees and gives null. *Memory* the old address is invalid afterwards,
  /// unless it is the one returned. *Order* as barrier_all(). *Errors* out_of_memory, asymmetric_call (always found,
  /// checks or not), invalid_free (not the start of an allocation), invalid_argument: the same on all PEs; the old
  /// allocation is then untouched and valid on all of them.
  [[nodiscard]] void* reallocate_bytes(void* pointer, std::size_t count, std::size_t size = 1,
                                       std::size_t alignment = 16);
  /// Collective: frees an allocation of allocate_bytes(). Null is ignored.
  /// *Errors* invalid_free (freed twice, not an allocation); the heap is then as it was.
  void free(void* pointer);
  /// The use of this PE's part of the heap. *Callers* any thread; waits for an allocation that is under way.
  [[nodiscard]] heap_usage usage() const;
  /// The addresses of the heap. *Callers* any thread.
  [[nodiscard]] heap_layout layout() const;

  /// The address of the memory of PE `pe` that this PE has at `local`, for loads and stores: on the host heap by this
  /// process, on a GPU heap by kernels. Null if there is no such PE, if it is a proxied peer, or if `local` is not
  /// symmetric. *Callers* any thread.
  template <class T>
  [[nodiscard]] T* ptr(T* local, int pe) const {
    return static_cast<T*>(const_cast<void*>(address_at(local, pe)));
  }
  /// Whether operations can reach PE `pe`: true for every PE of the world. *Callers* any thread.
  [[nodiscard]] bool accessible(int pe) const;
  /// Whether operations on `pointer` can reach PE `pe`: whether it is symmetric memory of that PE. *Callers* any
  /// thread.
  [[nodiscard]] bool accessible(const void* pointer, int pe) const;

  /// Every world supports thread_level::multiple, see *Callers* above.
  [[nodiscard]] static constexpr pgas::thread_level thread_level() { return pgas::thread_level::multiple; }

  /// Collective: returns when every PE has called it and all host operations before it are complete everywhere.
  /// *Order* work on streams is not waited for: synchronise them first, or use the overload that takes a stream. This
  /// holds for CUDA's default streams too: cudaMemset() returns before the memory is set, so it may overwrite the data
  /// that a peer's kernel sends after the barrier. It also holds for allocate(), free() and all other host calls.
  void barrier_all();

  /// The default stream of launch(). Independent of CUDA's default stream.
  [[nodiscard]] pgas::stream& stream();
  /// Waits for that stream. *Errors* failures in its kernels: peer_lost, aborted, wait_timeout with the word and the
  /// expected value, or with checks on a wrong argument of a device operation.
  void synchronize();

  /// For the library's own functions.
  [[nodiscard]] detail::world_state& state() const;

 private:
  explicit world(std::shared_ptr<detail::world_state> state);
  [[nodiscard]] const void* address_at(const volatile void* local, int pe) const;
  std::shared_ptr<detail::world_state> state_;
};

namespace detail {
/// world::abort() that does not tell the launcher, for a PE that ends its process with a status of its own. Logs the
/// reason at `level`.
PGAS_API void end_world(world& of, std::string_view reason, log_level level = log_level::error) noexcept;
}  // namespace detail

}  // namespace pgas

#include "pgas/detail/names_end.inc"
