/// @file
/// A world: processes (PEs) that share a symmetric heap. Worlds are objects; a process may have several, one after
/// another or at the same time.
#pragma once

#include "pgas/detail/names_begin.inc"

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pgas/bootstrap.hpp"
#include "pgas/config.hpp"
#include "pgas/detail/struct_members.hpp"
#include "pgas/device/direct_context.hpp"
#include "pgas/error.hpp"
#include "pgas/symmetric_memory.hpp"
#include "pgas/type_requirements.hpp"
#include "pgas/world_stats.hpp"

namespace pgas {

class stream;
class team;

namespace detail {
/// Implements the destructor of `world`. `exceptions` is the number of exceptions in flight on the calling thread.
PGAS_API void leave_or_abandon(world_state& world, int exceptions) noexcept;
}  // namespace detail

/// @brief The properties of a PE, for messages, logs and placement decisions.
struct pe_info {
  std::string host;          ///< host name
  int pid = 0;               ///< process id of the PE on that host
  int local_rank = 0;        ///< number among the PEs of its host
  std::string device;        ///< "NVIDIA H200", "host memory"
  std::string device_uuid;   ///< id of the device; equal for PEs that share a device
  bool direct = true;        ///< whether loads and stores reach the PE's heap (direct peer); if not, the proxy is used
  std::string route;         ///< for messages: "load and store", "proxy over ucx 1.16.0"
  bool time_sliced = false;  ///< whether the PE's GPU is shared between processes by time slices, without MPS
};

/// @brief A wait of this PE, as world::waits() reports it.
struct wait_info {
  std::string what;                    ///< the device operation, the operation of the proxy, or the host call
  bool in_kernel = false;              ///< whether a thread of a kernel waits; otherwise a host thread
  std::uint32_t block = 0;             ///< number of the block in its grid
  std::uint32_t thread = 0;            ///< number of the thread in its block
  int pe = -1;                         ///< the PE for which the wait waits; -1 if unknown
  std::uint64_t heap_offset = 0;       ///< context::offset() of the word that must change
  std::string compare;                 ///< the comparison, such as ">="; empty for calls that do not wait for a word
  std::uint64_t expected = 0;          ///< the value that the word is compared with
  std::uint64_t seen = 0;              ///< the current value of the word
  std::chrono::milliseconds lasted{};  ///< time since a query found the kernel's wait, or since the host call began
};

namespace detail {
template <>
struct [[gnu::visibility("hidden")]] members_of<wait_info>
    : member_list<&wait_info::what, &wait_info::in_kernel, &wait_info::block, &wait_info::thread, &wait_info::pe,
                  &wait_info::heap_offset, &wait_info::compare, &wait_info::expected, &wait_info::seen,
                  &wait_info::lasted> {
  static constexpr const char* name = "wait_info";
};
}  // namespace detail

/// @brief The threads of a PE that may call the library.
///
/// OpenSHMEM has the same names.
enum class thread_level {
  single,      ///< the process has one thread
  funneled,    ///< only the thread that joined calls the library
  serialized,  ///< any thread calls the library, but only one at a time
  multiple     ///< any number of threads call the library at the same time
};

/// @brief Membership in a world.
///
/// Joining and leaving are collective.
///
/// *Callers* any number of threads at the same time for the one-sided operations (rma.hpp, stream.hpp, lock.hpp),
/// launch(), queries, check() and abort(). Collective calls (join, leave, allocate, reallocate, free, barrier_all, the
/// destruction of a symmetric<T>, teams and their collectives) run one after another: any thread may make them, but all
/// PEs must make them in the same order. No other call except abort() may run during or after leave(). Different worlds
/// are independent. A child of fork() is not a member of its parent's worlds: in the child every call throws
/// forked_process, and the destructors of worlds, teams, streams and symmetric memory do nothing. A child of fork()
/// shares the symmetric memory, so all PEs see the stores of the child.
/// *Errors* every function throws pgas::error; after a PE has died or aborted, every call throws the first cause.
class PGAS_API world {
 public:
  /// @brief Joins the world of the launcher that started this process (pgasrun, mpirun, srun, torchrun's variables), or
  /// a world of one PE if there is no launcher.
  ///
  /// Settings come from the environment (`pgas-info --config` lists them).
  ///
  /// @throws error codes 1xx, 2xx, 5xx, 601, within config::join_timeout and on every PE that can be reached.
  /// bootstrap_timeout names the missing PE. version_mismatch if the settings contain a field that the library does not
  /// have.
  [[nodiscard, gnu::visibility("hidden")]] static world join() { return join(config::from_environment()); }
  /// @brief Joins the world of the launcher with the program's own settings.
  [[nodiscard, gnu::visibility("hidden")]] static world join(const config& settings) {
    return join_with(detail::give(settings), std::uncaught_exceptions());
  }
  /// @brief Joins a world of the processes that the program's own bootstrap `exchange` connects. `exchange` may connect
  /// any processes.
  [[nodiscard, gnu::visibility("hidden")]] static world join(std::unique_ptr<bootstrap> exchange,
                                                             const config& settings = config::from_environment()) {
    return join_with(std::move(exchange), detail::give(settings), std::uncaught_exceptions());
  }

  /// @brief Moves the membership.
  ///
  /// `other` is empty afterwards, and its functions throw not_joined.
  world(world&& other) noexcept;
  /// @brief Leaves the current world as the destructor does, then moves the membership.
  [[gnu::visibility("hidden")]] world& operator=(world&& other) noexcept {
    world moved(std::move(other));
    state_.swap(moved.state_);
    return *this;
  }
  world(const world&) = delete;
  world& operator=(const world&) = delete;
  /// @brief Leaves.
  ///
  /// If an exception unwinds this PE, the destructor aborts the world and does not wait for other PEs.
  [[gnu::visibility("hidden")]] ~world() {
    if (state_) detail::leave_or_abandon(*state_, std::uncaught_exceptions());
  }

  /// @brief Collective: waits for all PEs, and for the work on the streams that the program has created in this world,
  /// then releases all resources.
  ///
  /// A second call has no effect.
  ///
  /// @throws error asymmetric_call if a PE is in another collective call; wait_timeout if the work on streams continues
  /// for PGAS_JOIN_TIMEOUT after all PEs have called leave(). If PGAS_WAIT_TIMEOUT is set, also wait_timeout if a PE
  /// does not call leave() in this time, or does not continue within the sum of PGAS_WAIT_TIMEOUT and
  /// PGAS_JOIN_TIMEOUT. After an error of leave(), the world has failed on all PEs.
  void leave();
  /// @brief Aborts the world on all PEs: waits end, and every later call on any PE throws code::aborted with this
  /// reason.
  ///
  /// abort() also reports the failure to the launcher by bootstrap::abort(), and the launcher ends the job. (pgasrun
  /// ends the job after its --grace-period.) Launchers with PMIx and MPI may end all processes, including this process,
  /// before this call returns.
  ///
  /// *Callers* any thread.
  void abort(std::string_view reason) noexcept;
  /// @brief Throws the first failure of this world, if any: a PE died or aborted, or a kernel of this PE ended with an
  /// error.
  ///
  /// Does not wait.
  ///
  /// *Callers* any thread.
  void check() const;
  /// @brief The current waits of this PE: of its host calls, and of up to 128 threads of its kernels, which report
  /// their waits while they poll.
  ///
  /// `pgas-why` queries all PEs and finds the root cause.
  ///
  /// *Callers* any thread, also while another thread is in a call that does not end. The query takes about 15 ms.
  ///
  /// @throws error not_joined.
  [[nodiscard, gnu::visibility("hidden")]] std::vector<wait_info> waits() const {
    std::vector<wait_info> found;
    list_waits(detail::want(found));
    return found;
  }
  /// @brief The statistics of this PE since it joined: operations and bytes by target and route, time in calls that
  /// wait, use of the heap, heartbeats, errors.
  ///
  /// `pgas-info --serve` serves the same figures to monitoring systems (docs/metrics.md).
  ///
  /// *Callers* any thread, also while another thread is in a call that does not end. The call does not wait and takes
  /// some microseconds.
  ///
  /// @throws error not_joined.
  [[nodiscard, gnu::visibility("hidden")]] world_stats stats() const {
    world_stats collected;
    collect_stats(detail::want(collected), detail::want(collected.peers), detail::want(collected.calls));
    return collected;
  }

  /// @brief This PE's number.
  ///
  /// *Callers* any thread.
  [[nodiscard]] int my_pe() const;
  /// @brief The number of PEs.
  ///
  /// *Callers* any thread.
  [[nodiscard]] int n_pes() const;
  /// @brief The properties of a PE.
  ///
  /// *Callers* any thread.
  ///
  /// @throws error pe_out_of_range.
  [[nodiscard]] const pe_info& pe(int number) const;
  /// @brief The kind of the heap: heap_kind::cuda or heap_kind::host.
  [[nodiscard]] heap_kind heap() const;
  /// @brief The number of this PE's GPU for cudaSetDevice() in this process; -1 on the host heap.
  ///
  /// Joining does not change the calling thread's current device.
  ///
  /// *Callers* any thread.
  [[nodiscard]] int device() const;
  /// @brief The settings of join().
  [[nodiscard]] const config& settings() const;

  /// @brief The context.
  ///
  /// Kernels take the context by value.
  ///
  /// @throws error version_mismatch if the layout of contexts differs between the program's headers and the library.
  [[nodiscard, gnu::visibility("hidden")]] pgas::context context() const {
    pgas::context result;
    fill_context(result, detail::context_layout, false);
    return result;
  }
  /// @brief The context for kernels that need only loads and stores.
  ///
  /// With this context, kernels compile to fewer instructions.
  ///
  /// @throws error peer_unreachable, naming a PE: loads and stores do not reach all PEs at evenly spaced addresses.
  /// version_mismatch as context().
  [[nodiscard, gnu::visibility("hidden")]] pgas::direct_context direct_context() const {
    pgas::context result;
    fill_context(result, detail::context_layout, true);
    return pgas::direct_context(result);
  }

  /// @brief The team of all PEs.
  ///
  /// The world owns this team, domain_team() and host_team(); the program does not destroy these teams.
  ///
  /// *Callers* any thread.
  [[nodiscard]] const pgas::team& team() const;
  /// @brief The team of this PE's domain: this PE and its direct peers.
  [[nodiscard]] const pgas::team& domain_team() const;
  /// @brief The team of all PEs of this host, including proxied peers.
  [[nodiscard]] const pgas::team& host_team() const;

  /// @brief Allocates `count` objects of T on every PE, at the same offset.
  ///
  /// Collective.
  ///
  /// *Memory* alignment at least 16 bytes; 512 bytes for allocations of 512 bytes and more, 2 MiB for allocations of 2
  /// MiB and more; or the requested alignment (a power of two, at most PGAS_HEAP_STRIDE, and at most the alignment of
  /// the address range that the system provides).
  /// *On return* every PE may access the memory of all PEs; with initialize::zero all of the memory is zero.
  ///
  /// @throws error out_of_memory (no PE has allocated anything), invalid_argument, asymmetric_call (if checks are on).
  template <rma_type T>
  [[nodiscard]] symmetric<T> allocate(std::size_t count, initialize how = initialize::no,
                                      std::size_t alignment = alignof(T)) {
    T* data = static_cast<T*>(allocate_bytes(count, sizeof(T), alignment, how));
    return symmetric<T>(state_, data, data != nullptr ? count : 0);
  }
  /// @brief Like allocate(), but without an owner: the program calls free().
  ///
  /// Null for 0 bytes.
  [[nodiscard]] void* allocate_bytes(std::size_t count, std::size_t size = 1, std::size_t alignment = 16,
                                     initialize how = initialize::no);
  /// @brief Like allocate(), but with separate cache lines, see memory_hint.
  template <rma_type T>
  [[nodiscard]] symmetric<T> allocate(std::size_t count, memory_hint hint, initialize how = initialize::no) {
    T* data = static_cast<T*>(allocate_bytes(count, sizeof(T), hint, how));
    return symmetric<T>(state_, data, data != nullptr ? count : 0);
  }
  /// @brief Like allocate_bytes(), but with separate cache lines, see memory_hint.
  [[nodiscard]] void* allocate_bytes(std::size_t count, std::size_t size, memory_hint hint,
                                     initialize how = initialize::no);
  /// @brief Changes the size of an allocation.
  ///
  /// Collective. The contents are kept up to the smaller size; the rest is not initialised. With a null pointer, the
  /// call allocates. With a size of 0, the call frees the allocation and returns null.
  ///
  /// *Memory* the old address is invalid afterwards, unless the call returns it. *Order* as barrier_all().
  ///
  /// @throws error out_of_memory, asymmetric_call (with and without checks), invalid_free (not the start of an
  /// allocation), invalid_argument: the same on all PEs. After an error, the old allocation is unchanged and valid on
  /// all PEs.
  [[nodiscard]] void* reallocate_bytes(void* pointer, std::size_t count, std::size_t size = 1,
                                       std::size_t alignment = 16);
  /// @brief Frees an allocation of allocate_bytes().
  ///
  /// Collective. Null has no effect.
  ///
  /// @throws error invalid_free (freed twice, not an allocation); after an error, the heap is unchanged.
  void free(void* pointer);
  /// @brief The use of this PE's part of the heap.
  ///
  /// *Callers* any thread. The call waits for an allocation in progress.
  [[nodiscard, gnu::visibility("hidden")]] heap_usage usage() const {
    heap_usage now;
    fill_usage(detail::want(now));
    return now;
  }
  /// @brief The addresses of the heap.
  ///
  /// *Callers* any thread.
  [[nodiscard, gnu::visibility("hidden")]] heap_layout layout() const {
    heap_layout found;
    fill_layout(detail::want(found));
    return found;
  }

  /// @brief The address of PE `pe`'s copy of `local`, for loads and stores. On the host heap, this process can use the
  /// address. On a GPU heap, kernels can use the address.
  ///
  /// Null if PE `pe` does not exist or is a proxied peer, or if `local` is not symmetric.
  ///
  /// *Callers* any thread.
  template <class T>
  [[nodiscard]] T* ptr(T* local, int pe) const {
    return static_cast<T*>(const_cast<void*>(address_at(local, pe)));
  }
  /// @brief Whether operations can reach PE `pe`.
  ///
  /// Returns true for every PE of the world.
  ///
  /// *Callers* any thread.
  [[nodiscard]] bool accessible(int pe) const;
  /// @brief Whether operations on `pointer` can reach PE `pe`: whether `pointer` is symmetric memory of that PE.
  ///
  /// *Callers* any thread.
  [[nodiscard]] bool accessible(const void* pointer, int pe) const;

  /// @brief The thread level of every world: thread_level::multiple. See
  ///
  /// *Callers* above.
  [[nodiscard]] static constexpr pgas::thread_level thread_level() { return pgas::thread_level::multiple; }

  /// @brief Returns when every PE has called barrier_all() and all earlier host operations are complete on all PEs.
  ///
  /// Collective.
  ///
  /// *Order* the barrier does not wait for work on streams, including CUDA's default streams: synchronise the streams
  /// first, or use the overload that takes a stream. For example, cudaMemset() returns before the memory is set, so
  /// cudaMemset() can overwrite data that a peer's kernel sends after the barrier. allocate(), free() and the one-sided
  /// operations do not wait for work on streams either.
  void barrier_all();

  /// @brief The default stream of launch().
  ///
  /// This stream is independent of CUDA's default stream.
  [[nodiscard]] pgas::stream& stream();
  /// @brief Waits for stream().
  ///
  /// @throws error failures in its kernels: peer_lost, aborted, wait_timeout (the message names the word and the
  /// expected value). If checks are on, also wrong arguments of device operations.
  void synchronize();

  /// @brief The implementation, for functions of the library.
  [[nodiscard]] detail::world_state& state() const;

 private:
  explicit world(std::shared_ptr<detail::world_state> state);
  // Each copy of the C++ runtime counts its exceptions in flight separately. If the program and the library have
  // different copies, the count of the library never falls after the program has caught an exception of the library.
  // Therefore the functions that count are inline and hidden: the program and each library use only their own copies
  // of these functions.
  [[nodiscard]] static world join_with(const detail::given<config>& settings, int exceptions);
  [[nodiscard]] static world join_with(std::unique_ptr<bootstrap> exchange, const detail::given<config>& settings,
                                       int exceptions);
  // The library's part of inline functions. `layout` is detail::context_layout of the program's headers.
  void list_waits(const detail::wanted_list<wait_info>& found) const;
  void collect_stats(const detail::wanted<world_stats>& stats, const detail::wanted_list<peer_stats>& peers,
                     const detail::wanted_list<call_stats>& calls) const;
  void fill_context(pgas::context& result, std::uint32_t layout, bool direct) const;
  void fill_usage(const detail::wanted<heap_usage>& usage) const;
  void fill_layout(const detail::wanted<heap_layout>& layout) const;
  [[nodiscard]] const void* address_at(const volatile void* local, int pe) const;
  std::shared_ptr<detail::world_state> state_;
};

namespace detail {
/// Like world::abort(), but does not notify the launcher, for a PE that ends its process with an exit status of its
/// own. Logs the reason at `level`.
PGAS_API void end_world(world& joined, std::string_view reason, log_level level = log_level::error) noexcept;
}  // namespace detail

}  // namespace pgas

#include "pgas/detail/names_end.inc"
