/// @file
/// Collectives that the host of every member of a team calls. Each collective has two forms: without a stream the call
/// returns when the collective is complete, with a stream the call enqueues it. For all collectives:
///
/// *Callers* every member of the team, in the same order on all members; one thread at a time for each team. All
/// host-called collectives of a team share one channel, which kernels do not use. So the host-called collectives of a
/// team run one after another, also on different streams: if the stream changes from one collective to the next, the
/// library makes the new stream wait for an event of the old stream. A call without a stream runs after the enqueued
/// collectives. A call without a stream hangs if the enqueued collectives wait for a later call of the same thread.
///
/// *Units* `count` is the number of elements, the same on all members unless a function says otherwise. A count of 0
/// moves no element; the members synchronise as usual.
///
/// *Memory* `dst` and `src` are symmetric memory; `dst` is the same variable on every member. `dst` and `src` must not
/// overlap, except where a function allows it. A member writes into the `dst` of other members as soon as it makes the
/// call (reductions and scans: once all members have made the call). So all members must have finished with the old
/// contents of `dst` before any member makes the call. With a stream the program must neither access `dst` nor write
/// `src` before the stream has executed the call.
///
/// *On return* without a stream: this PE's `dst` is complete and `src` may be reused. With a stream: the collective is
/// enqueued and its arguments are checked.
///
/// *Order* without a stream: after earlier host-called operations of this thread, not after work on streams. With a
/// stream: after earlier work of the stream and before later work of the stream. With and without a stream, the effects
/// of earlier work of any member are visible after the collective.
///
/// *Graphs* a CUDA graph can capture and replay collectives, because the counters of their calls are in device memory.
/// Between collectives on two streams of one capture, the library adds an edge to the graph. A graph waits for the
/// team's earlier collectives on any stream, and later collectives wait for the graph. All members must launch graphs
/// and enqueue collectives in the same order. If the team's last collective before the capture is on the captured
/// stream, synchronise that stream before the graph is launched on another stream.
///
/// *Errors* invalid_argument for an empty team, null or overlapping memory, a root that is not a member, strides below
/// 1; outside_heap; misaligned. The member with the wrong argument throws, while other members wait. With PGAS_CHECKS,
/// calls without a stream first compare their arguments, so all members throw the same error, also for asymmetric_call.
/// fcollect() and reduce_scatter() without a stream always compare the arguments if `src` and `dst` overlap. With a
/// stream, fcollect() and reduce_scatter() do not detect that a member passes the in-place address of another member.
/// The call without a stream, or the synchronisation of the stream, throws later failures. With PGAS_CHECKS, the call
/// or the synchronisation throws asymmetric_call if the members make different calls. peer_lost and aborted end the
/// wait. capturing: the team's last collective is on a stream that began a capture after the collective, so other work
/// cannot wait for that collective.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/detail/struct_members.hpp"
#include "pgas/device/impl/reduce/collective_request.hpp"
#include "pgas/signal_types.hpp"
#include "pgas/stream.hpp"
#include "pgas/team.hpp"
#include "pgas/type_requirements.hpp"

namespace pgas {
namespace detail {

template <>
struct [[gnu::visibility("hidden")]] members_of<collective_request>
    : member_list<&collective_request::what, &collective_request::op, &collective_request::type,
                  &collective_request::alignment, &collective_request::root, &collective_request::most_blocks,
                  &collective_request::element_bytes, &collective_request::count, &collective_request::dst_stride,
                  &collective_request::src_stride, &collective_request::dst, &collective_request::src,
                  &collective_request::limit_ms> {
  static constexpr const char* name = "collective_request";
};

/// Implements run_collective().
PGAS_API void run_request(const team& members, const stream* on, const given<collective_request>& request);
/// Checks the request and enqueues it on the stream `on`. If `on` is null, the team's own stream executes the request,
/// and the call waits.
[[gnu::visibility("hidden")]] inline void run_collective(const team& members, const stream* on,
                                                         const collective_request& request) {
  run_request(members, on, give(request));
}

/// A request to move elements of type T.
template <class T>
[[nodiscard]] collective_request copy_request(collective_kind what, T* dst, const T* src, std::size_t count) {
  collective_request request;
  request.what = what;
  request.alignment = alignof(T) < 8 ? alignof(T) : 8;
  request.element_bytes = sizeof(T);
  request.count = count;
  request.dst = dst;
  request.src = src;
  return request;
}

/// A request to reduce elements of type T by Op.
template <class Op, class T>
[[nodiscard]] collective_request reduce_request(collective_kind what, T* dst, const T* src, std::size_t count) {
  collective_request request = copy_request(what, dst, src, count);
  request.op = static_cast<reduction>(Op::id);
  request.type = number_of<Op, T>();
  return request;
}

}  // namespace detail

/// @brief Returns when every member has called barrier() and earlier host-called operations of all members are complete
/// and visible to all members.
///
/// The barrier does not wait for work on streams, and not for cudaMemset(): see world::barrier_all().
PGAS_API void barrier(const team& members);
/// @brief Enqueues a barrier of the members.
///
/// The effects of earlier work of the stream are visible to the members after the barrier.
PGAS_API void barrier(const team& members, const stream& on);
/// @brief Enqueues a barrier that uses words of the caller, so that several barriers of one team can be in progress at
/// the same time, each on its own stream.
///
/// Kernels of other PEs can take part: a member adds 1 to its word, words[my_pe()], on each member including itself,
/// waits until each of its own words is at least 1, and subtracts 1 from each of its own words.
///
/// *Memory* `words`: n_pes() words of symmetric memory of the team, aligned to 8 bytes, zero before the first barrier.
/// The words are zero again when all members have passed the barrier.
/// *Units* `limit` replaces the time limit PGAS_WAIT_TIMEOUT, unless `limit` is 0.
/// *Order* as barrier() on a stream. A CUDA graph can replay the barrier any number of times.
///
/// @throws error outside_heap, misaligned, invalid_argument; wait_timeout naming the missing PE when the stream is
/// synchronised.
PGAS_API void barrier(const team& members, const stream& on, signal_t* words, std::chrono::milliseconds limit = {});
/// @brief Enqueues the second half of a barrier with words, for the member `from` only: the stream waits until
/// words[from] is at least 1, and subtracts 1 from this word.
///
/// The first half is a call of signal_add() by member `from`, which adds 1 to words[from] of this member.
///
/// @throws error as barrier() with words; pe_out_of_range.
PGAS_API void signal_take(const team& members, const stream& on, signal_t* words, int from,
                          std::chrono::milliseconds limit = {});
/// @brief Returns when every member has called sync().
///
/// Operations of the members can still be incomplete.
PGAS_API void sync(const team& members);
/// @brief Enqueues a sync of the members.
PGAS_API void sync(const team& members, const stream& on);

/// @brief Enqueues a barrier of all PEs.
///
/// Collective. The effects of earlier work of the stream are visible to every PE after the barrier.
///
/// *Order* all PEs enqueue the barriers and syncs of a world in the same order, on one stream at a time.
PGAS_API void barrier_all(world& w, const stream& on);
/// @brief Enqueues a sync of all PEs: the stream waits until the streams of all PEs have reached this sync.
///
/// Collective.
///
/// *Order* the sync does not order earlier work.
PGAS_API void sync_all(world& w, const stream& on);

/// @brief Copies the elements of member `root` to every member.
///
/// *Memory* only the root reads `src`. In place: `dst == src` on the root.
template <rma_type T>
void broadcast(const team& members, T* dst, const T* src, std::size_t count, int root) {
  auto request = detail::copy_request(detail::collective_kind::broadcast, dst, src, count);
  request.root = root;
  detail::run_collective(members, nullptr, request);
}
/// @brief Like broadcast(), on a stream.
template <rma_type T>
void broadcast(const team& members, const stream& on, T* dst, const T* src, std::size_t count, int root) {
  auto request = detail::copy_request(detail::collective_kind::broadcast, dst, src, count);
  request.root = root;
  detail::run_collective(members, &on, request);
}

/// @brief All-gather: concatenates the elements of all members, in the order of the members, on every member.
///
/// *Memory* `dst` has room for n_pes() * count elements. In place, on all members or on none: `src == dst + my_pe() *
/// count`.
template <rma_type T>
void fcollect(const team& members, T* dst, const T* src, std::size_t count) {
  detail::run_collective(members, nullptr, detail::copy_request(detail::collective_kind::fcollect, dst, src, count));
}
/// @brief Like fcollect(), on a stream.
template <rma_type T>
void fcollect(const team& members, const stream& on, T* dst, const T* src, std::size_t count) {
  detail::run_collective(members, &on, detail::copy_request(detail::collective_kind::fcollect, dst, src, count));
}

/// @brief All-gather in which the counts of the members may differ.
///
/// *Units* `count` is the count of this member.
/// *Memory* `dst` has room for the elements of all members; the library verifies the size only with PGAS_CHECKS. In
/// place: `src` may be this member's part of `dst`.
template <rma_type T>
void collect(const team& members, T* dst, const T* src, std::size_t count) {
  detail::run_collective(members, nullptr, detail::copy_request(detail::collective_kind::collect, dst, src, count));
}
/// @brief Like collect(), on a stream.
template <rma_type T>
void collect(const team& members, const stream& on, T* dst, const T* src, std::size_t count) {
  detail::run_collective(members, &on, detail::copy_request(detail::collective_kind::collect, dst, src, count));
}

/// @brief Sends block j of member i's `src` to block i of member j's `dst`.
///
/// *Memory* `dst` and `src` have n_pes() * count elements.
template <rma_type T>
void alltoall(const team& members, T* dst, const T* src, std::size_t count) {
  detail::run_collective(members, nullptr, detail::copy_request(detail::collective_kind::alltoall, dst, src, count));
}
/// @brief Like alltoall(), on a stream.
template <rma_type T>
void alltoall(const team& members, const stream& on, T* dst, const T* src, std::size_t count) {
  detail::run_collective(members, &on, detail::copy_request(detail::collective_kind::alltoall, dst, src, count));
}

/// @brief Like alltoall(), for strided elements.
///
/// *Units* strides are numbers of elements, at least 1. *Memory* the memory between the elements of `dst` is not
/// written.
template <rma_type T>
void alltoalls(const team& members, T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
               std::size_t count) {
  auto request = detail::copy_request(detail::collective_kind::alltoalls, dst, src, count);
  request.dst_stride = dst_stride;
  request.src_stride = src_stride;
  detail::run_collective(members, nullptr, request);
}
/// @brief Like alltoalls(), on a stream.
template <rma_type T>
void alltoalls(const team& members, const stream& on, T* dst, const T* src, std::ptrdiff_t dst_stride,
               std::ptrdiff_t src_stride, std::size_t count) {
  auto request = detail::copy_request(detail::collective_kind::alltoalls, dst, src, count);
  request.dst_stride = dst_stride;
  request.src_stride = src_stride;
  detail::run_collective(members, &on, request);
}

/// @brief All-reduce: combines the elements of all members by an operation of pgas::op, on every member.
///
/// In place: `dst == src`.
///
/// *Order* the operation combines elements from the first member to the last. The result has the same bits on all
/// members, in every run, and for host and device calls. Pairs for maxloc and minloc have a value that is a signed
/// integer or a floating-point number, and a signed index of the same size.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void reduce(const team& members, T* dst, const T* src, std::size_t count, Op) {
  detail::run_collective(members, nullptr,
                         detail::reduce_request<Op>(detail::collective_kind::reduce, dst, src, count));
}
/// @brief Like reduce(), on a stream.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void reduce(const team& members, const stream& on, T* dst, const T* src, std::size_t count, Op) {
  detail::run_collective(members, &on, detail::reduce_request<Op>(detail::collective_kind::reduce, dst, src, count));
}

/// @brief Like reduce(), but only member `root` receives the result.
///
/// The `dst` of other members is not written.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void reduce_to_root(const team& members, T* dst, const T* src, std::size_t count, Op, int root) {
  auto request = detail::reduce_request<Op>(detail::collective_kind::reduce_to_root, dst, src, count);
  request.root = root;
  detail::run_collective(members, nullptr, request);
}
/// @brief Like reduce_to_root(), on a stream.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void reduce_to_root(const team& members, const stream& on, T* dst, const T* src, std::size_t count, Op, int root) {
  auto request = detail::reduce_request<Op>(detail::collective_kind::reduce_to_root, dst, src, count);
  request.root = root;
  detail::run_collective(members, &on, request);
}

/// @brief Combines the arrays of all members, of n_pes() * count elements each; member k receives block k of the
/// result.
///
/// *Units* `count` is the number of elements that each member receives. In place, on all members or on none: `dst ==
/// src + my_pe() * count`.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void reduce_scatter(const team& members, T* dst, const T* src, std::size_t count, Op) {
  detail::run_collective(members, nullptr,
                         detail::reduce_request<Op>(detail::collective_kind::reduce_scatter, dst, src, count));
}
/// @brief Like reduce_scatter(), on a stream.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void reduce_scatter(const team& members, const stream& on, T* dst, const T* src, std::size_t count, Op) {
  detail::run_collective(members, &on,
                         detail::reduce_request<Op>(detail::collective_kind::reduce_scatter, dst, src, count));
}

/// @brief Combines the elements of members 0 to k; member k receives the result.
///
/// In place: `dst == src`.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void inclusive_scan(const team& members, T* dst, const T* src, std::size_t count, Op) {
  detail::run_collective(members, nullptr,
                         detail::reduce_request<Op>(detail::collective_kind::inclusive_scan, dst, src, count));
}
/// @brief Like inclusive_scan(), on a stream.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void inclusive_scan(const team& members, const stream& on, T* dst, const T* src, std::size_t count, Op) {
  detail::run_collective(members, &on,
                         detail::reduce_request<Op>(detail::collective_kind::inclusive_scan, dst, src, count));
}

/// @brief Combines the elements of members 0 to k - 1; member k receives the result, and member 0 the neutral element.
///
/// In place: `dst == src`.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void exclusive_scan(const team& members, T* dst, const T* src, std::size_t count, Op) {
  detail::run_collective(members, nullptr,
                         detail::reduce_request<Op>(detail::collective_kind::exclusive_scan, dst, src, count));
}
/// @brief Like exclusive_scan(), on a stream.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void exclusive_scan(const team& members, const stream& on, T* dst, const T* src, std::size_t count, Op) {
  detail::run_collective(members, &on,
                         detail::reduce_request<Op>(detail::collective_kind::exclusive_scan, dst, src, count));
}

}  // namespace pgas

#include "pgas/detail/names_end.inc"
