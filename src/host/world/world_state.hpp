/// @file
/// The state of a pgas::world. The members are in the order in which joining makes them. Leaving releases the members
/// in the reverse order.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/fork_guard.hpp"
#include "device/device.hpp"
#include "device/owned_device_memory.hpp"
#include "host/exchange/control_plane.hpp"
#include "host/heap/group_offset_allocator.hpp"
#include "host/heap/heap.hpp"
#include "host/launch/grid_state_pool.hpp"
#include "host/log/logger.hpp"
#include "host/proxy/device_route_table.hpp"
#include "host/proxy/proxy_service.hpp"
#include "host/topology/domains.hpp"
#include "host/watch/calls_in_progress.hpp"
#include "host/watch/collect_stats.hpp"
#include "host/watch/operation_counter.hpp"
#include "host/watch/stream_log.hpp"
#include "host/watch/team_list.hpp"
#include "host/watch/trace_session.hpp"
#include "host/watch/wait_report.hpp"
#include "host/world/nonblocking_fetches.hpp"
#include "host/world/pe_list.hpp"
#include "pgas/detail/host/untyped_operations.hpp"
#include "pgas/stream.hpp"
#include "pgas/team.hpp"
#include "pgas/world.hpp"

namespace pgas::detail {

/// Shared by the world, its streams and its symmetric<T> objects. After the PE has left the world, only the destructor
/// and left() may be called.
class world_state : public std::enable_shared_from_this<world_state> {
 public:
  /// Executes all steps of joining. Collective. @param exceptions the number of exceptions in flight on this thread
  world_state(std::unique_ptr<bootstrap> exchange, const config& settings, const std::string& how, int exceptions);
  ~world_state();
  world_state(const world_state&) = delete;
  world_state& operator=(const world_state&) = delete;

  /// Waits until all PEs leave and the work on the program's streams is complete. Collective. leave() begins with this
  /// function. *Errors* asymmetric_call if a PE is in another collective call; wait_timeout if the work takes longer
  /// than PGAS_JOIN_TIMEOUT.
  void await_leave();
  /// Waits for all PEs, then releases heap, device and sockets. Collective, called once.
  void leave();
  /// Whether this process is not a member any more. A child of fork() never was a member.
  [[nodiscard]] bool left() const noexcept { return left_ || forked(); }
  /// Whether this process is a child of the process that joined. The child has no threads of the world and owns no part
  /// of it.
  [[nodiscard]] bool forked() const noexcept { return !process_.in_creator(); }
  /// Throws forked_process in a child of fork().
  void check_process() const;
  /// Whether the calling thread is being unwound by an exception that was thrown after the world was joined.
  /// @param exceptions the number of exceptions in flight on this thread, as the program's C++ runtime counts them
  [[nodiscard]] bool unwinding(int exceptions) const noexcept {
    return exceptions_in_flight(exceptions) > (std::this_thread::get_id() == joined_by_ ? exceptions_ : 0);
  }
  /// Calls `release` for an object whose destructor runs with this number of exceptions in flight. If an exception
  /// unwinds this PE, ends the world instead. Does nothing after leave().
  template <class Release>
  void destroy_object(int exceptions, Release release) noexcept {
    if (left()) return;
    try {
      if (unwinding(exceptions)) return abandon();
      release();
    } catch (const error&) {
      // The world has failed, and the failure is already logged. The memory is released when the PE leaves the world.
    } catch (const std::exception& why) {
      fail(why.what());  // out of host memory; ends the world, because the other PEs would wait
    }
  }
  /// Ends the world for all PEs. Logs the reason at `level`.
  void fail(std::string_view reason, log_level level = log_level::error) noexcept;
  /// Ends the world for all PEs, and tells the launcher.
  void abort(std::string_view reason) noexcept;
  /// Ends the world because an exception is unwinding this PE.
  void abandon() noexcept;
  /// The error of a wait that timed out. If a PE is stopped, the error names that PE.
  [[nodiscard]] error with_stopped_pe(const error& timed_out) const;

  /// Throws not_joined after leave(), and the first failure of the world.
  void check() const;
  /// If the cause of a device error is known, throws the cause: the record of a kernel, or the failure of the world.
  void rethrow_failure() const;
  /// Ends the world for all PEs if work on this PE's device has failed. Called before collective calls, because the
  /// other PEs would continue although this PE's work is missing. *Errors* the failure.
  void check_device();
  /// Throws pe_out_of_range if PE `pe` does not exist. The text of the error contains the name `what` of the caller.
  void check_pe(int pe, const char* what) const;
  /// Throws outside_heap unless [pointer, pointer + bytes) is mapped symmetric memory of this PE, and misaligned unless
  /// `pointer` is a multiple of `alignment`.
  void check_symmetric(const void* pointer, std::size_t bytes, std::size_t alignment, const char* what) const;

  /// Throws outside_heap if PE `pe` has no memory at `local`, because the memory belongs to a team without that PE.
  void check_peer_has(const void* local, int pe) const;
  /// The address of `local` on the direct peer `pe`. *Errors* as check_peer_has().
  [[nodiscard]] void* remote(const void* local, int pe) const;
  /// Waits for a stream. If a kernel has left a failure record, throws the record as an error.
  void synchronize(stream_handle stream);
  /// Executes a host operation. An operation on a proxied PE uses the host's ring and waits for the completion that the
  /// request asks for. Any other operation is enqueued on the device's internal queue. *Errors* those of synchronize().
  void execute_operation(const operation_request& request);
  /// Executes one atomic operation and returns the old bits. *Errors* those of synchronize().
  [[nodiscard]] std::uint64_t fetch(const operation_request& request);
  /// Starts an atomic operation. After the next quiet() the old bits are in `result`, which can be any host memory.
  void fetch_nonblocking(const operation_request& request, void* result);
  /// Completes all earlier host operations.
  void quiet();
  /// As quiet(), but without the results of nonblocking fetches.
  void complete();
  /// Waits for the operations of this PE's host threads, but not for the operations of its kernels.
  void await_host_operations();
  /// Throws error `capturing` if the stream is being captured. The text of the error contains the name `what` of the
  /// caller.
  void check_not_captured(stream_handle stream, const char* what) const;

  [[nodiscard]] const config& settings() const noexcept { return settings_; }
  [[nodiscard]] log::logger& log() noexcept { return log_; }
  [[nodiscard]] class device& device() noexcept { return *device_; }
  [[nodiscard]] class heap& heap() noexcept { return *heap_; }
  [[nodiscard]] const class heap& heap() const noexcept { return *heap_; }
  [[nodiscard]] class control_plane& control_plane() noexcept { return *control_plane_; }
  /// Allocates offsets in the slots. The states of teams lie at these offsets.
  [[nodiscard]] group_offset_allocator& team_states() noexcept { return *team_states_; }
  [[nodiscard]] const pgas::context& context() const noexcept { return context_; }
  /// The properties of a PE.
  [[nodiscard]] const pe_info& info(int pe) const { return pes_.at(pe); }
  [[nodiscard]] heap_kind kind() const noexcept { return device_->properties().kind; }
  [[nodiscard]] const team& world_team() const noexcept { return world_team_; }
  [[nodiscard]] const team& domain_team() const noexcept { return domain_team_; }
  [[nodiscard]] const team& host_team() const noexcept { return host_team_ ? host_team_ : domain_team_; }
  /// The direct and the proxied peers.
  [[nodiscard]] const class domains& domains() const noexcept { return heap_->domains(); }
  /// The functions of the same names in `block_limits.hpp`, applied to this PE.
  [[nodiscard]] unsigned concurrent_pes() const noexcept { return concurrent_pes_; }
  [[nodiscard]] unsigned max_collective_blocks() const noexcept { return max_collective_blocks_; }
  [[nodiscard]] grid_state_pool& grids() noexcept { return *grids_; }
  /// The stream of world::stream(), made at the first call.
  [[nodiscard]] pgas::stream& default_stream(world& w);

  /// Registers a stream of the program. The work of the stream uses the heap, so leaving waits for this work.
  void add_stream(stream_handle result);
  void remove_stream(stream_handle result) noexcept;

  /// The calls in progress of this PE's threads.
  [[nodiscard]] calls_in_progress& calls() noexcept { return calls_; }

  /// The teams of which this PE is a member.
  [[nodiscard]] team_list& teams() noexcept { return teams_; }
  /// The waits and writes that were last enqueued on streams.
  [[nodiscard]] stream_log& enqueued() noexcept { return *enqueued_; }

  /// The operations of host threads and streams.
  [[nodiscard]] operation_counter& operations() noexcept { return *operations_; }
  /// The events of the trace; null if no trace is recorded.
  [[nodiscard]] trace::recorder* events() noexcept { return trace_ ? &trace_->events() : nullptr; }
  /// The device that marks ranges for profilers; null without PGAS_NVTX.
  [[nodiscard]] detail::device* profiled_device() noexcept { return settings_.nvtx ? device_.get() : nullptr; }
  /// Null if all PEs are direct.
  [[nodiscard]] const proxy_thread* proxy() const noexcept { return proxied_ ? &proxied_->through() : nullptr; }

  /// The waits of this PE. The call lasts until the kernels have answered.
  [[nodiscard]] pe_waits waits() const;
  /// The counters of this PE.
  [[nodiscard]] world_stats stats() const;

  /// A host-side collective on the heap holds this lock. Allocation is deterministic only if one call runs at a time.
  std::mutex& collective_mutex() noexcept { return collective_; }

 private:
  /// The exceptions in flight on the calling thread, in the program and in the library. With one C++ runtime each
  /// exception counts twice. With two runtimes, the library's runtime counts the library's errors when the library
  /// throws them, and the program's runtime subtracts these errors when the program catches them. Modules
  /// of one program must share a runtime.
  static int exceptions_in_flight(int program) noexcept { return program + std::uncaught_exceptions(); }
  /// Whether all streams of the program are idle.
  [[nodiscard]] bool streams_are_idle();
  /// Waits until all streams of the program are idle. *Errors* wait_timeout after PGAS_JOIN_TIMEOUT; the failure of the
  /// world.
  void await_streams();
  /// Called after a failure. On the host heap, returns when no stream uses the heap, or after 10 s.
  void end_streams() noexcept;
  void choose_device();
  void connect_proxied_peers();
  void build_heap();
  void make_context();
  void make_teams();
  void report(const std::string& how);
  /// Gives the control plane the functions that answer questions about this PE.
  void begin_watch(control_block& control);
  void end_watch() noexcept;
  /// Collective if any PE records a trace.
  void compare_clocks_for_trace();
  void make_room_for_traced_kernels();
  void write_trace() noexcept;
  void on_failure(const error& cause) noexcept;
  /// Called when the proxy cannot continue because of PE `pe`. If `pe` is this PE or -1, the cause is this PE.
  void on_proxy_failure(int pe, const std::string& what) noexcept;
  /// The error for the failure record of a device operation; empty without a record.
  [[nodiscard]] std::optional<error> recorded_failure() const;
  /// Completes the operations of host threads on proxied peers.
  void flush_proxied();
  [[noreturn]] void give_up() const;
  /// Releases all parts except the device and the control words, which streams can still use. The control plane ends
  /// before the device does, because its thread reports failures to the device.
  void release() noexcept;
  void free_control() noexcept;

  const fork_guard process_;
  calls_in_progress calls_;
  team_list teams_;
  std::optional<operation_counter> operations_;
  std::optional<trace_session> trace_;
  std::shared_ptr<wait_report> wait_report_;    ///< shared with the control plane's thread
  std::shared_ptr<stats_report> stats_report_;  ///< shared with the control plane's thread
  config settings_;
  log::logger log_;
  std::unique_ptr<bootstrap> bootstrap_;
  std::optional<joining_record> records_;  ///< the record of all PEs, from their first exchange
  std::unique_ptr<class control_plane> control_plane_;
  std::unique_ptr<class device> device_;
  std::optional<stream_log> enqueued_;  ///< set once the device exists
  mapped_block mapped_;
  std::unique_ptr<class heap> heap_;
  std::unique_ptr<proxy_service> proxied_;  ///< null if all PEs are direct peers
  device_route_table direct_routes_;        ///< set if slots are not evenly spaced and no PE is proxied
  std::unique_ptr<group_offset_allocator> team_states_;
  std::mutex streams_mutex_;  ///< guards streams_
  std::set<stream_handle> streams_;
  std::mutex stream_mutex_;  ///< guards stream_
  std::optional<pgas::stream> stream_;
  pgas::context context_;
  team world_team_;
  team domain_team_;
  team host_team_;  ///< not set if the PEs of this host are the domain
  pe_list pes_;
  unsigned concurrent_pes_ = 0;
  unsigned max_collective_blocks_ = 0;
  std::unique_ptr<grid_state_pool> grids_;
  std::unique_ptr<nonblocking_fetches> fetches_;
  std::mutex collective_;
  std::atomic<control_block*> control_{nullptr};        ///< the host address, for the thread of the control plane
  std::atomic<class device*> failing_device_{nullptr};  ///< the device, for the thread of the control plane
  std::atomic<bool> leaving_{false};                    ///< if set, only the control plane decides which PE is lost
  std::mutex ending_;  ///< guards control_plane_ and bootstrap_ between abort() and release()
  mutable std::mutex timeout_mutex_;
  mutable std::optional<error> last_timeout_;  ///< the error of the last wait that timed out
  const std::thread::id joined_by_ = std::this_thread::get_id();
  const int exceptions_;  ///< exceptions_in_flight() of the thread `joined_by_` when the world was joined
  std::atomic<bool> ready_to_leave_{false};
  std::atomic<bool> left_{false};
};

}  // namespace pgas::detail
