/// @file
/// The state of a pgas::world: its parts in the order in which joining makes them; leaving releases them in reverse.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/fork_guard.hpp"
#include "device/device.hpp"
#include "device/owned_device_memory.hpp"
#include "host/control/control_plane.hpp"
#include "host/heap/group_offset_allocator.hpp"
#include "host/heap/heap.hpp"
#include "host/launch/grid_state_pool.hpp"
#include "host/log/logger.hpp"
#include "host/proxy/device_route_table.hpp"
#include "host/proxy/proxy_service.hpp"
#include "host/topology/domains.hpp"
#include "host/watch/call_list.hpp"
#include "host/watch/collect_stats.hpp"
#include "host/watch/operation_counter.hpp"
#include "host/watch/stream_log.hpp"
#include "host/watch/team_list.hpp"
#include "host/watch/trace_session.hpp"
#include "host/watch/wait_report.hpp"
#include "host/world/nonblocking_fetches.hpp"
#include "pgas/detail/host/untyped_operations.hpp"
#include "pgas/stream.hpp"
#include "pgas/team.hpp"
#include "pgas/world.hpp"

namespace pgas::detail {

/// Shared by the world, its streams and its symmetric<T> objects. Once left, only the destructor and left() may be
/// called.
class world_state : public std::enable_shared_from_this<world_state> {
 public:
  /// Collective: all steps of joining.
  world_state(std::unique_ptr<bootstrap> exchange, const config& settings, const std::string& how);
  ~world_state();
  world_state(const world_state&) = delete;
  world_state& operator=(const world_state&) = delete;

  /// Collective: returns when all PEs leave, and the work on the program's streams is
  /// done. leave() begins with it. *Errors* asymmetric_call where a PE is in another collective call; wait_timeout
  /// where that work lasts for PGAS_JOIN_TIMEOUT.
  void await_leave();
  /// Collective, once: waits for all PEs, then releases heap, device and sockets.
  void leave();
  /// Whether this process is no member any more; a forked child never was one.
  [[nodiscard]] bool left() const noexcept { return left_ || forked(); }
  /// Whether this is a child of the process that joined: it has none of the threads and owns no part of the world.
  [[nodiscard]] bool forked() const noexcept { return !process_.in_creator(); }
  /// Throws forked_process there.
  void check_process() const;
  /// Whether an exception that was not yet in flight when the world was joined is unwinding this thread.
  [[nodiscard]] bool unwinding() const noexcept;
  /// Ends the world for everyone. The reason is logged here at `level`.
  void fail(std::string_view reason, log_level level = log_level::error) noexcept;
  /// The same, and tells the launcher.
  void abort(std::string_view reason) noexcept;
  /// Ends it because an exception is unwinding this PE.
  void abandon() noexcept;
  /// The error of a wait that timed out, with the PE that is stopped, if one is.
  [[nodiscard]] error with_stopped_pe(const error& timed_out) const;

  /// Throws not_joined after leave(), and the first failure of the world.
  void check() const;
  /// Throws the cause of an error of the device, where it is known: a kernel's record, the failure of the world.
  void rethrow_failure() const;
  /// Ends the world, for all PEs, where work on this PE's device has failed: before calls in which PEs meet, as the
  /// others would go on with what this PE has not done. *Errors* the failure.
  void check_device();
  /// Throws pe_out_of_range, naming the caller `what`.
  void check_pe(int pe, const char* what) const;
  /// Throws outside_heap unless [pointer, pointer + bytes) is this PE's mapped symmetric memory; misaligned.
  void check_symmetric(const void* pointer, std::size_t bytes, std::size_t alignment, const char* what) const;

  /// Throws outside_heap where PE `pe` has no memory at `local`: memory of a team that it is not in.
  void check_peer_has(const void* local, int pe) const;
  /// The address at which PE `pe`, a direct peer, has the memory that this PE has at `local`. *Errors* as
  /// check_peer_has().
  [[nodiscard]] void* remote(const void* local, int pe) const;
  /// Waits for a stream, and throws the failure record of a kernel as an error.
  void synchronize(stream_handle stream);
  /// Executes a host operation: for a proxied PE by the host's ring, until the request counts as done; else it is
  /// enqueued on the device's internal queue. *Errors* those of synchronize().
  void execute_operation(const operation_request& request);
  /// Executes one atomic operation and returns the old bits. *Errors* those of synchronize().
  [[nodiscard]] std::uint64_t fetch(const operation_request& request);
  /// Begins one; the old bits are in `result`, any host memory, after the next quiet().
  void fetch_nonblocking(const operation_request& request, void* result);
  /// Completes the host operations before it.
  void quiet();
  /// The same without the results of nonblocking fetches.
  void complete();
  /// Waits for the operations of this PE's host threads, but not for those of its kernels.
  void await_host_operations();
  /// Throws capturing if the stream is being captured, naming the caller `what`.
  void check_not_captured(stream_handle stream, const char* what) const;

  [[nodiscard]] const config& settings() const noexcept { return settings_; }
  [[nodiscard]] log::logger& log() noexcept { return log_; }
  [[nodiscard]] class device& device() noexcept { return *device_; }
  [[nodiscard]] class heap& heap() noexcept { return *heap_; }
  [[nodiscard]] const class heap& heap() const noexcept { return *heap_; }
  [[nodiscard]] class control_plane& control_plane() noexcept { return *control_plane_; }
  /// The offsets in the slots for the states of teams.
  [[nodiscard]] group_offset_allocator& team_states() noexcept { return *team_states_; }
  [[nodiscard]] const pgas::context& context() const noexcept { return context_; }
  [[nodiscard]] const std::vector<pe_info>& pes() const noexcept { return pes_; }
  [[nodiscard]] heap_kind kind() const noexcept { return device_->properties().kind; }
  [[nodiscard]] const team& world_team() const noexcept { return world_team_; }
  [[nodiscard]] const team& domain_team() const noexcept { return domain_team_; }
  [[nodiscard]] const team& host_team() const noexcept { return host_team_ ? host_team_ : domain_team_; }
  /// Direct and proxied peers.
  [[nodiscard]] const class domains& domains() const noexcept { return heap_->domains(); }
  /// The functions of these names in `block_limits.hpp`, for this PE.
  [[nodiscard]] unsigned concurrent_pes() const noexcept { return concurrent_pes_; }
  [[nodiscard]] unsigned max_collective_blocks() const noexcept { return max_collective_blocks_; }
  [[nodiscard]] grid_state_pool& grids() noexcept { return *grids_; }
  /// The stream of world::stream(), made at the first call.
  [[nodiscard]] pgas::stream& default_stream(world& owner);

  /// A stream that the program has made. Its work uses the heap, so leaving waits for it.
  void add_stream(stream_handle made);
  void remove_stream(stream_handle made) noexcept;

  /// Which calls the threads of this PE are in.
  [[nodiscard]] call_list& calls() noexcept { return calls_; }

  /// The teams that this PE is in.
  [[nodiscard]] team_list& teams() noexcept { return teams_; }
  /// The work that streams have been given.
  [[nodiscard]] stream_log& enqueued() noexcept { return *enqueued_; }

  /// The operations of host threads and streams.
  [[nodiscard]] operation_counter& operations() noexcept { return *operations_; }
  /// Of the trace; null if none is recorded.
  [[nodiscard]] trace::recorder* events() noexcept { return trace_ ? &trace_->events() : nullptr; }
  /// The device that marks ranges for profilers; null without PGAS_NVTX.
  [[nodiscard]] detail::device* profiled_device() noexcept { return settings_.nvtx ? device_.get() : nullptr; }
  /// Null where all PEs are direct.
  [[nodiscard]] const proxy_thread* proxy() const noexcept { return proxied_ ? &proxied_->through() : nullptr; }

  /// The waits of this PE; takes as long as kernels need to answer.
  [[nodiscard]] pe_waits waits() const;
  /// The counters of this PE.
  [[nodiscard]] world_stats stats() const;

  /// A host-side collective on the heap at a time: allocation is deterministic only in one order.
  std::mutex& collective_mutex() noexcept { return collective_; }

 private:
  /// Whether all streams that the program has made are idle.
  [[nodiscard]] bool streams_are_idle();
  /// Returns when they are. *Errors* wait_timeout after PGAS_JOIN_TIMEOUT; the failure of the world.
  void await_streams();
  /// After a failure: waits until the streams' waits have given up.
  void end_streams() noexcept;
  void choose_device();
  void connect_proxied_peers();
  void build_heap();
  void make_context();
  void make_teams();
  void report(const std::string& how);
  /// Tells the control plane whom to ask about this PE.
  void begin_watch(control_block& control);
  void end_watch() noexcept;
  /// Collective if any PE records a trace.
  void compare_clocks_for_trace();
  void make_room_for_traced_kernels();
  void write_trace() noexcept;
  void on_failure(const error& cause) noexcept;
  /// The proxy can't go on, because of PE `pe`: of itself where that is this PE or -1.
  void on_proxy_failure(int pe, const std::string& what) noexcept;
  /// The error that a record left by a device operation stands for, if there is one.
  [[nodiscard]] std::optional<error> recorded_failure() const;
  /// Completes the operations of host threads on proxied peers.
  void flush_proxied();
  [[noreturn]] void give_up() const;
  /// Releases all parts but the device and the control words, which streams may still use. The control plane ends
  /// before the device does, as its thread tells the device of failures.
  void release() noexcept;
  void free_control() noexcept;

  const fork_guard process_;
  call_list calls_;
  team_list teams_;
  std::optional<operation_counter> operations_;
  std::optional<trace_session> trace_;
  std::shared_ptr<wait_report> wait_report_;    ///< shared with the control plane's thread
  std::shared_ptr<stats_report> stats_report_;  ///< likewise
  config settings_;
  log::logger log_;
  std::unique_ptr<bootstrap> bootstrap_;
  std::unique_ptr<class control_plane> control_plane_;
  std::unique_ptr<class device> device_;
  std::optional<stream_log> enqueued_;  ///< from the device on
  mapped_block mapped_;
  std::unique_ptr<class heap> heap_;
  std::unique_ptr<proxy_service> proxied_;  ///< null where all PEs are direct peers
  device_route_table direct_routes_;        ///< where slots do not lie in a row and no PE is proxied
  std::unique_ptr<group_offset_allocator> team_states_;
  std::mutex streams_mutex_;  ///< guards streams_
  std::set<stream_handle> streams_;
  std::mutex stream_mutex_;  ///< guards stream_
  std::optional<pgas::stream> stream_;
  pgas::context context_;
  team world_team_;
  team domain_team_;
  team host_team_;  ///< none where it is the domain
  std::vector<pe_info> pes_;
  unsigned concurrent_pes_ = 0;
  unsigned max_collective_blocks_ = 0;
  std::unique_ptr<grid_state_pool> grids_;
  std::unique_ptr<nonblocking_fetches> fetches_;
  std::mutex collective_;
  std::atomic<control_block*> control_{nullptr};        ///< host address, for the thread of the control plane
  std::atomic<class device*> failing_device_{nullptr};  ///< the device, for the same thread
  std::atomic<bool> leaving_{false};                    ///< then only the control plane decides which PE is lost
  mutable std::mutex timeout_mutex_;
  mutable std::optional<error> last_timeout_;  ///< the error of the last wait that timed out
  const int unwinding_;                        ///< exceptions in flight when the world was joined
  std::atomic<bool> ready_to_leave_{false};
  std::atomic<bool> left_{false};
};

}  // namespace pgas::detail
