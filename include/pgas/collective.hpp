/// @file
/// Collectives called by the host: every member of a team calls, on its host side, and everyone's data goes where it
/// belongs. Each comes in two forms: without a stream it returns when it is done, with one it is enqueued. For all of
/// them:
///
/// *Callers* every member of the team, in the same order on all members; one thread at a time for each team. A team's
/// collectives that the host calls share one place to meet, beside the channels that kernels use: those on streams must
/// be on one stream, or the program orders the streams; and it synchronises that stream before it makes a call without
/// one.
///
/// *Units* `count` is elements and the same on all members, unless a function says otherwise. 0 is legal: nothing is
/// moved, but the members meet all the same.
///
/// *Memory* `dst` and `src` are symmetric memory; `dst` the same variable on every member. They must not overlap,
/// except where a function allows it. Members write into one another's `dst` as soon as they call (reductions and
/// scans: once all have called), so every member must be done with its old contents before any of them calls. On a
/// stream both stay untouched until the stream is past the call.
///
/// *On return* without a stream: this PE's `dst` is complete and `src` may be reused. With one: enqueued, arguments
/// checked.
///
/// *Order* without a stream: after earlier host-called operations of this thread; not after what was enqueued on
/// streams. With one: after earlier work of the stream, and before later work. Either way what came before on any
/// member is visible after it. Can be captured in a CUDA graph and replayed: whatever counts calls lies in device
/// memory.
///
/// *Errors* invalid_argument for an empty team, null or overlapping memory, a root that is no member, strides below 1;
/// outside_heap, misaligned: by the member that finds it, while others wait. With PGAS_CHECKS, calls without a stream
/// compare first, so that all members throw the same, also asymmetric_call. So do fcollect() and reduce_scatter()
/// always where `src` and `dst` overlap; on a stream it is not noticed that a member is in place of another. What is
/// found out later (with PGAS_CHECKS members that make different calls: asymmetric_call) is thrown by the call without
/// a stream, or when the stream is synchronised; peer_lost and aborted end the wait.
#pragma once

#include "pgas/device/impl/reduce/collective_request.hpp"
#include "pgas/stream.hpp"
#include "pgas/team.hpp"

namespace pgas {
namespace detail {

/// Checks the request and carries it out; on the team's own stream, waiting for it, where `on` is null.
PGAS_API void run_collective(const team& of, const stream* on, const collective_request& request);

/// A request to move elements of type T.
template <class T>
[[nodiscard]] collective_request moving_request(collective_kind what, T* dst, const T* src, std::size_t count) {
  collective_request request;
  request.what = what;
  request.alignment = alignof(T) < 8 ? alignof(T) : 8;
  request.element_bytes = sizeof(T);
  request.count = count;
  request.dst = dst;
  request.src = src;
  return request;
}

/// A request to fold elements of type T by Op.
template <class Op, class T>
[[nodiscard]] collective_request folding_request(collective_kind what, T* dst, const T* src, std::size_t count) {
  collective_request request = moving_request(what, dst, src, count);
  request.op = static_cast<reduction>(Op::id);
  request.type = number_of<Op, T>();
  return request;
}

}  // namespace detail

/// Returns when every member has called it; what any of them did before on its host side, host-called operations
/// included, is complete and visible to all. Work on streams is not waited for, cudaMemset() and its like included: see
/// world::barrier_all().
PGAS_API void barrier(const team& of);
/// A barrier of the members once the stream gets there; what was enqueued on it before is visible to them after it.
PGAS_API void barrier(const team& of, const stream& on);
/// Returns when every member has called it, and says nothing of their operations.
PGAS_API void sync(const team& of);
/// The same once the stream gets there.
PGAS_API void sync(const team& of, const stream& on);

/// Member `root`'s elements, on every member. *Memory* `src` is read on the root only. In place: `dst == src` on the
/// root.
template <rma_type T>
void broadcast(const team& of, T* dst, const T* src, std::size_t count, int root) {
  auto request = detail::moving_request(detail::collective_kind::broadcast, dst, src, count);
  request.root = root;
  detail::run_collective(of, nullptr, request);
}
/// broadcast() on a stream.
template <rma_type T>
void broadcast(const team& of, const stream& on, T* dst, const T* src, std::size_t count, int root) {
  auto request = detail::moving_request(detail::collective_kind::broadcast, dst, src, count);
  request.root = root;
  detail::run_collective(of, &on, request);
}

/// Every member's elements one behind the other, on every member: an all-gather. *Memory* `dst` has room for n_pes() *
/// count elements. In place, on all members or on none: `src == dst + my_pe() * count`.
template <rma_type T>
void fcollect(const team& of, T* dst, const T* src, std::size_t count) {
  detail::run_collective(of, nullptr, detail::moving_request(detail::collective_kind::fcollect, dst, src, count));
}
/// fcollect() on a stream.
template <rma_type T>
void fcollect(const team& of, const stream& on, T* dst, const T* src, std::size_t count) {
  detail::run_collective(of, &on, detail::moving_request(detail::collective_kind::fcollect, dst, src, count));
}

/// fcollect() for counts that differ. *Units* `count` is this member's. *Memory* `dst` has room for all of them; that
/// it does is only checked with PGAS_CHECKS. In place: `src` may be where this member's elements belong.
template <rma_type T>
void collect(const team& of, T* dst, const T* src, std::size_t count) {
  detail::run_collective(of, nullptr, detail::moving_request(detail::collective_kind::collect, dst, src, count));
}
/// collect() on a stream.
template <rma_type T>
void collect(const team& of, const stream& on, T* dst, const T* src, std::size_t count) {
  detail::run_collective(of, &on, detail::moving_request(detail::collective_kind::collect, dst, src, count));
}

/// Block j of member i's `src` becomes block i of member j's `dst`. *Memory* both have n_pes() * count elements.
template <rma_type T>
void alltoall(const team& of, T* dst, const T* src, std::size_t count) {
  detail::run_collective(of, nullptr, detail::moving_request(detail::collective_kind::alltoall, dst, src, count));
}
/// alltoall() on a stream.
template <rma_type T>
void alltoall(const team& of, const stream& on, T* dst, const T* src, std::size_t count) {
  detail::run_collective(of, &on, detail::moving_request(detail::collective_kind::alltoall, dst, src, count));
}

/// alltoall() of elements that lie `src_stride` apart in `src` and `dst_stride` apart in `dst`, at least 1. What lies
/// between the elements of `dst` is not touched.
template <rma_type T>
void alltoalls(const team& of, T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
               std::size_t count) {
  auto request = detail::moving_request(detail::collective_kind::alltoalls, dst, src, count);
  request.dst_stride = dst_stride;
  request.src_stride = src_stride;
  detail::run_collective(of, nullptr, request);
}
/// alltoalls() on a stream.
template <rma_type T>
void alltoalls(const team& of, const stream& on, T* dst, const T* src, std::ptrdiff_t dst_stride,
               std::ptrdiff_t src_stride, std::size_t count) {
  auto request = detail::moving_request(detail::collective_kind::alltoalls, dst, src, count);
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
  detail::run_collective(of, nullptr, detail::folding_request<Op>(detail::collective_kind::reduce, dst, src, count));
}
/// reduce() on a stream.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void reduce(const team& of, const stream& on, T* dst, const T* src, std::size_t count, Op) {
  detail::run_collective(of, &on, detail::folding_request<Op>(detail::collective_kind::reduce, dst, src, count));
}

/// reduce() to member `root` alone; the others' `dst` is not written.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void reduce_to_root(const team& of, T* dst, const T* src, std::size_t count, Op, int root) {
  auto request = detail::folding_request<Op>(detail::collective_kind::reduce_to_root, dst, src, count);
  request.root = root;
  detail::run_collective(of, nullptr, request);
}
/// reduce_to_root() on a stream.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void reduce_to_root(const team& of, const stream& on, T* dst, const T* src, std::size_t count, Op, int root) {
  auto request = detail::folding_request<Op>(detail::collective_kind::reduce_to_root, dst, src, count);
  request.root = root;
  detail::run_collective(of, &on, request);
}

/// Every member's n_pes() * count elements combined; member k gets block k. *Units* `count` is what each member gets.
/// In place, on all members or on none: `dst == src + my_pe() * count`.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void reduce_scatter(const team& of, T* dst, const T* src, std::size_t count, Op) {
  detail::run_collective(of, nullptr,
                         detail::folding_request<Op>(detail::collective_kind::reduce_scatter, dst, src, count));
}
/// reduce_scatter() on a stream.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void reduce_scatter(const team& of, const stream& on, T* dst, const T* src, std::size_t count, Op) {
  detail::run_collective(of, &on,
                         detail::folding_request<Op>(detail::collective_kind::reduce_scatter, dst, src, count));
}

/// Member k gets the elements of the members 0 to k combined. In place: `dst == src`.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void inclusive_scan(const team& of, T* dst, const T* src, std::size_t count, Op) {
  detail::run_collective(of, nullptr,
                         detail::folding_request<Op>(detail::collective_kind::inclusive_scan, dst, src, count));
}
/// inclusive_scan() on a stream.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void inclusive_scan(const team& of, const stream& on, T* dst, const T* src, std::size_t count, Op) {
  detail::run_collective(of, &on,
                         detail::folding_request<Op>(detail::collective_kind::inclusive_scan, dst, src, count));
}

/// Member k gets the elements of the members 0 to k - 1 combined, member 0 the neutral element. In place: `dst == src`.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void exclusive_scan(const team& of, T* dst, const T* src, std::size_t count, Op) {
  detail::run_collective(of, nullptr,
                         detail::folding_request<Op>(detail::collective_kind::exclusive_scan, dst, src, count));
}
/// exclusive_scan() on a stream.
template <class T, class Op>
requires detail::library_reduction<Op, T>
void exclusive_scan(const team& of, const stream& on, T* dst, const T* src, std::size_t count, Op) {
  detail::run_collective(of, &on,
                         detail::folding_request<Op>(detail::collective_kind::exclusive_scan, dst, src, count));
}

}  // namespace pgas
