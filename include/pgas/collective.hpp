/// @file
/// Collectives called by the host of every member of a team. Each has two forms: without a stream it returns when it is
/// complete, with a stream it is enqueued. For all of them:
///
/// *Callers* every member of the team, in the same order on all members; one thread at a time for each team. All
/// host-called collectives of a team share one channel, which kernels do not use. So each runs after the one before,
/// whatever streams they are on: where the stream changes, the library inserts an event. A call without a stream runs
/// after the collectives that are enqueued; it hangs where they wait for what the calling thread does later.
///
/// *Units* `count` is elements and the same on all members, unless a function says otherwise. With 0
/// no element is moved, but the members synchronise as usual.
///
/// *Memory* `dst` and `src` are symmetric memory; `dst` the same variable on every member. They must not overlap,
/// except where a function allows it. Members write into one another's `dst` as soon as they call (reductions and
/// scans: once all have called), so the old contents must be free on every member before any member calls. On a stream
/// do not touch either before the stream has executed the call.
///
/// *On return* without a stream: this PE's `dst` is complete and `src` may be reused. With one: enqueued, arguments
/// checked.
///
/// *Order* without a stream: after earlier host-called operations of this thread; not after work on streams. With a
/// stream: after its earlier work, and before its later work. In both forms the effects of earlier work on any member
/// are visible after it.
///
/// *Graphs* collectives can be captured in a CUDA graph and replayed: the counters of calls lie in device memory. Two
/// streams of one capture get an edge. Graphs wait for the team's collectives before their launch, and later ones wait
/// for the graph, on whatever streams; all members launch graphs and enqueue collectives in the same order. Where the
/// captured stream had the team's last collective itself, synchronise it before the graph is launched on another
/// stream.
///
/// *Errors* invalid_argument for an empty team, null or overlapping memory, a root that is no member, strides below 1;
/// outside_heap, misaligned: on the member with the wrong argument, while others wait. With PGAS_CHECKS, calls without
/// a stream compare their arguments first, so all members throw the same, also asymmetric_call. fcollect() and
/// reduce_scatter() always do where `src` and `dst` overlap; on a stream the in-place address of another member is not
/// detected. Later failures (with PGAS_CHECKS different calls of members: asymmetric_call) are thrown by the call
/// without a stream, or when the stream is synchronised; peer_lost and aborted end the wait. capturing
/// where the team's last collective is on a stream that is being captured since, and so nothing else can wait for it.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/device/impl/reduce/collective_request.hpp"
#include "pgas/signal_types.hpp"
#include "pgas/stream.hpp"
#include "pgas/team.hpp"
#include "pgas/type_requirements.hpp"

namespace pgas {
namespace detail {

/// Checks the request and executes it: on `on`, or where that is null on the team's own stream, and waits.
PGAS_API void run_collective(const team& of, const stream* on, const collective_request& request);

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

/// Returns when every member has called it; earlier host-called operations of all members are complete and visible to
/// all. Work on streams is not waited for, that of cudaMemset() neither: see world::barrier_all().
PGAS_API void barrier(const team& of);
/// A barrier of the members in the order of the stream; the effects of its earlier work are visible to them after it.
PGAS_API void barrier(const team& of, const stream& on);
/// The same by words of the caller, so that several barriers of one team can be under way at once, each on a stream of
/// its own. Other PEs' kernels may take part by hand: a member adds 1 to its word, words[my_pe()], on each member
/// including itself, and takes 1 off each of its own words once it is at least 1.
/// *Memory* `words`: n_pes() words of symmetric memory of the team, aligned to 8 bytes, zero before the first barrier;
/// zero again whenever all members are through. *Units* `limit`: how long it may take, in place of PGAS_WAIT_TIMEOUT;
/// 0: as long as that says. *Order* as the one before. In a CUDA graph it can be replayed any number of times.
/// *Errors* outside_heap, misaligned, invalid_argument; when the stream is synchronized wait_timeout, naming the PE
/// that is missing.
PGAS_API void barrier(const team& of, const stream& on, signal_t* words, std::chrono::milliseconds limit = {});
/// The half of it that waits, for member `from` alone: holds the stream until words[from] is at least 1, and takes 1
/// off. The other half is signal_add() to words[my_pe()] of another member. Otherwise as that barrier, also its errors;
/// and pe_out_of_range.
PGAS_API void signal_take(const team& of, const stream& on, signal_t* words, int from,
                          std::chrono::milliseconds limit = {});
/// Returns when every member has called it; their operations may be incomplete.
PGAS_API void sync(const team& of);
/// The same in the order of the stream.
PGAS_API void sync(const team& of, const stream& on);

/// Collective: a barrier of all PEs in the order of the stream; the effects of earlier work are visible to every PE
/// after it. *Order* all PEs enqueue the barriers and syncs of a world in the same order, on one stream at a time.
PGAS_API void barrier_all(world& w, const stream& on);
/// Collective: holds the stream until the streams of all PEs are at the call. *Order* none for earlier work.
PGAS_API void sync_all(world& w, const stream& on);

/// Member `root`'s elements, on every member. *Memory* `src` is read on the root only. In place: `dst == src` on the
/// root.
template <rma_type T>
void broadcast(const team& of, T* dst, const T* src, std::size_t count, int root) {
  auto request = detail::copy_request(detail::collective_kind::broadcast, dst, src, count);
  request.root = root;
  detail::run_collective(of, nullptr, request);
}
/// broadcast() on a stream.
template <rma_type T>
void broadcast(const team& of, const stream& on, T* dst, const T* src, std::size_t count, int root) {
  auto request = detail::copy_request(detail::collective_kind::broadcast, dst, src, count);
  request.root = root;
  detail::run_collective(of, &on, request);
}

/// Every member's elements one behind the other, on every member: an all-gather. *Memory* `dst` has room for n_pes() *
/// count elements. In place, on all members or on none: `src == dst + my_pe() * count`.
template <rma_type T>
void fcollect(const team& of, T* dst, const T* src, std::size_t count) {
  detail::run_collective(of, nullptr, detail::copy_request(detail::collective_kind::fcollect, dst, src, count));
}
/// fcollect() on a stream.
template <rma_type T>
void fcollect(const team& of, const stream& on, T* dst, const T* src, std::size_t count) {
  detail::run_collective(of, &on, detail::copy_request(detail::collective_kind::fcollect, dst, src, count));
}

/// fcollect() for counts that differ. *Units* `count` is this member's. *Memory* `dst` has room for all of them; this
/// is only checked with PGAS_CHECKS. In place: `src` may be where this member's elements belong.
template <rma_type T>
void collect(const team& of, T* dst, const T* src, std::size_t count) {
  detail::run_collective(of, nullptr, detail::copy_request(detail::collective_kind::collect, dst, src, count));
}
/// collect() on a stream.
template <rma_type T>
void collect(const team& of, const stream& on, T* dst, const T* src, std::size_t count) {
  detail::run_collective(of, &on, detail::copy_request(detail::collective_kind::collect, dst, src, count));
}

/// Block j of member i's `src` becomes block i of member j's `dst`. *Memory* both have n_pes() * count elements.
template <rma_type T>
void alltoall(const team& of, T* dst, const T* src, std::size_t count) {
  detail::run_collective(of, nullptr, detail::copy_request(detail::collective_kind::alltoall, dst, src, count));
}
/// alltoall() on a stream.
template <rma_type T>
void alltoall(const team& of, const stream& on, T* dst, const T* src, std::size_t count) {
  detail::run_collective(of, &on, detail::copy_request(detail::collective_kind::alltoall, dst, src, count));
}

/// alltoall() of elements that lie `src_stride` apart in `src` and `dst_stride` apart in `dst`, at least 1. Memory
/// between the elements of `dst` is not touched.
template <rma_type T>
void alltoalls(const team& of, T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
               std::size_t count) {
  auto request = detail::copy_request(detail::collective_kind::alltoalls, dst, src, count);
  request.dst_stride = dst_stride;
  request.src_stride = src_stride;
  detail::run_collective(of, nullptr, request);
}
/// alltoalls() on a stream.
template <rma_type T>
void alltoalls(const team& of, const stream& on, T* dst, const T* src, std::ptrdiff_t dst_stride,
               std::ptrdiff_t src_stride, std::size_t count) {
  auto request = detail::copy_request(detail::collective_kind::alltoalls, dst, src, count);
  request.dst_stride = dst_stride;
  request.src_stride = src_stride;
  detail::run_collective(of, &on, request);
}

/// Every member's elements combined by an operation of pgas::op, on every member: an all-reduce. In place: `dst ==
/// src`. *Order* elements are combined from the first member to the last: the same bits on all members, in every run,
/// and whether host or device called. Pairs for maxloc and minloc are of signed integers or floating point with a
/// signed index of the same size.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void reduce(const team& of, T* dst, const T* src, std::size_t count, Op) {
  detail::run_collective(of, nullptr, detail::reduce_request<Op>(detail::collective_kind::reduce, dst, src, count));
}
/// reduce() on a stream.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void reduce(const team& of, const stream& on, T* dst, const T* src, std::size_t count, Op) {
  detail::run_collective(of, &on, detail::reduce_request<Op>(detail::collective_kind::reduce, dst, src, count));
}

/// reduce() to member `root` alone; the `dst` of other members is not written.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void reduce_to_root(const team& of, T* dst, const T* src, std::size_t count, Op, int root) {
  auto request = detail::reduce_request<Op>(detail::collective_kind::reduce_to_root, dst, src, count);
  request.root = root;
  detail::run_collective(of, nullptr, request);
}
/// reduce_to_root() on a stream.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void reduce_to_root(const team& of, const stream& on, T* dst, const T* src, std::size_t count, Op, int root) {
  auto request = detail::reduce_request<Op>(detail::collective_kind::reduce_to_root, dst, src, count);
  request.root = root;
  detail::run_collective(of, &on, request);
}

/// Every member's n_pes() * count elements combined; member k gets block k. *Units* `count` is what each member gets.
/// In place, on all members or on none: `dst == src + my_pe() * count`.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void reduce_scatter(const team& of, T* dst, const T* src, std::size_t count, Op) {
  detail::run_collective(of, nullptr,
                         detail::reduce_request<Op>(detail::collective_kind::reduce_scatter, dst, src, count));
}
/// reduce_scatter() on a stream.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void reduce_scatter(const team& of, const stream& on, T* dst, const T* src, std::size_t count, Op) {
  detail::run_collective(of, &on, detail::reduce_request<Op>(detail::collective_kind::reduce_scatter, dst, src, count));
}

/// Member k gets the elements of the members 0 to k combined. In place: `dst == src`.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void inclusive_scan(const team& of, T* dst, const T* src, std::size_t count, Op) {
  detail::run_collective(of, nullptr,
                         detail::reduce_request<Op>(detail::collective_kind::inclusive_scan, dst, src, count));
}
/// inclusive_scan() on a stream.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void inclusive_scan(const team& of, const stream& on, T* dst, const T* src, std::size_t count, Op) {
  detail::run_collective(of, &on, detail::reduce_request<Op>(detail::collective_kind::inclusive_scan, dst, src, count));
}

/// Member k gets the elements of the members 0 to k - 1 combined, member 0 the neutral element. In place: `dst == src`.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void exclusive_scan(const team& of, T* dst, const T* src, std::size_t count, Op) {
  detail::run_collective(of, nullptr,
                         detail::reduce_request<Op>(detail::collective_kind::exclusive_scan, dst, src, count));
}
/// exclusive_scan() on a stream.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void exclusive_scan(const team& of, const stream& on, T* dst, const T* src, std::size_t count, Op) {
  detail::run_collective(of, &on, detail::reduce_request<Op>(detail::collective_kind::exclusive_scan, dst, src, count));
}

}  // namespace pgas

#include "pgas/detail/names_end.inc"
