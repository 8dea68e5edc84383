/// @file
/// Copies of many blocks by one call: put_list(), get_list() and copy_blocks(), by one thread or by a group.
/// copy_list.hpp describes the lists.
///
/// Paged caches and sharded weights consist of many small blocks. The threads of the group share the blocks of a list,
/// so that many blocks are in flight at the same time. In contrast, a loop of put() copies one block after another.
///
/// On this PE, the blocks are in global memory or in shared memory. For operations on proxied PEs and for *Errors*, see
/// `rma.hpp`. With checks on, an invalid block in a list ends the group before the group's first copy.
///
/// For a proxied PE, a group submits one command for up to 5461 blocks, and waits until the proxy has read the list of
/// these blocks. For a proxied PE, put_list_nbi() and get_list_nbi() therefore also wait for the proxy. If the PEs use
/// GPUs, the proxy needs the GPU in order to read the list. For a list of at most four blocks, the group submits one
/// command per block.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/copy_list.hpp"
#include "pgas/device/context.hpp"
#include "pgas/device/group.hpp"
#include "pgas/device/impl/copy/listed_copy.hpp"
#include "pgas/device/impl/trace/traced_operation.hpp"
#include "pgas/device/signal.hpp"

namespace pgas {
namespace detail {

/// The common implementation of put_list() and get_list().
template <direction Direction, completion When, PGAS_IS(group) G>
PGAS_FN void copy_list_by_group(const context& ctx, const G& g, const copy_list& list, pe_or_peer pe) {
  traced_operation traced(ctx, g, Direction == direction::put ? operation::put : operation::get);
  traced.on(ctx, pe, list.size() * list.page_bytes());
  g.sync();  // after this sync, the operation follows the earlier accesses of all threads of the group
  list_by_route<Direction, When>(ctx, g, list, slice_of(g), pe);
}

}  // namespace detail

/// @brief Copies the blocks of `list` to PE `pe` and does not wait for the group.
///
/// *Callers* all threads of the group `g`, converged, with the same arguments.
/// *Memory* the destinations are symmetric; the sources are memory of this PE. *On return* as put_nbi().
/// *Order* as put_nbi(); the blocks of a list are not ordered.
template <PGAS_IS(group) G>
PGAS_FN void put_list_nbi(const context& ctx, const G& g, const copy_list& list, pe_or_peer pe) {
  detail::copy_list_by_group<detail::direction::put, detail::completion::submitted>(ctx, g, list, pe);
}

/// @brief Like put_list_nbi(), but returns when the sources may be reused, as put() does.
///
/// *Callers* all threads of the group `g`, converged, with the same arguments.
template <PGAS_IS(group) G>
PGAS_FN void put_list(const context& ctx, const G& g, const copy_list& list, pe_or_peer pe) {
  detail::copy_list_by_group<detail::direction::put, detail::completion::local_done>(ctx, g, list, pe);
}

/// @brief Like put_list(), and then updates the signal at `sig` on PE `pe`.
///
/// *Callers* all threads of the group `g`, converged, with the same arguments. *Memory* `sig` is symmetric.
/// *Order* a PE that sees the signal through a wait also sees the data of all blocks.
template <PGAS_IS(group) G>
PGAS_FN void put_list_signal(const context& ctx, const G& g, const copy_list& list, signal_t* sig, signal_t value,
                             signal_op op, pe_or_peer pe) {
  put_list(ctx, g, list, pe);
  put_signal(ctx, g, sig, sig, 0, sig, value, op, pe);
}

/// @brief Copies the blocks of `list` from PE `pe` and does not wait for the group.
///
/// *Callers* all threads of the group `g`, converged, with the same arguments.
/// *Memory* the sources are symmetric; the destinations are memory of this PE. *On return* as get_nbi().
/// *Order* as get_nbi(); the blocks of a list are not ordered.
template <PGAS_IS(group) G>
PGAS_FN void get_list_nbi(const context& ctx, const G& g, const copy_list& list, pe_or_peer pe) {
  detail::copy_list_by_group<detail::direction::get, detail::completion::submitted>(ctx, g, list, pe);
}

/// @brief Like get_list_nbi(), but returns when the destinations hold the data, as get() does.
///
/// *Callers* all threads of the group `g`, converged, with the same arguments.
template <PGAS_IS(group) G>
PGAS_FN void get_list(const context& ctx, const G& g, const copy_list& list, pe_or_peer pe) {
  detail::copy_list_by_group<detail::direction::get, detail::completion::local_done>(ctx, g, list, pe);
}

/// @brief Copies the blocks of `list` in memory that this process has mapped: its own memory, the memory of direct PEs
/// (context::remote()), and memory opened by a ticket (shared_memory.hpp). Needs no context.
///
/// *Callers* all threads of the group `g`, converged, with the same arguments.
/// *Memory* the destinations are in global memory. *On return* the blocks are copied, for all threads of the group.
/// *Order* other processes see the blocks after a fence(), or after the kernel.
/// *Errors* none: invalid addresses are not detected.
template <PGAS_IS(group) G>
PGAS_FN void copy_blocks(const G& g, const copy_list& list) {
  g.sync();  // after this sync, the operation follows the earlier accesses of all threads of the group
  detail::copy_listed<detail::direction::put>(detail::opaque(&list), 0, detail::slice_of(g));
  g.sync();
}

/// @brief Like copy_blocks(), for one thread instead of a group.
PGAS_FN void copy_blocks(const copy_list& list) { copy_blocks(this_thread{}, list); }

/// @brief Like put_list(), for one thread instead of a group.
PGAS_FN void put_list(const context& ctx, const copy_list& list, pe_or_peer pe) {
  put_list(ctx, this_thread{}, list, pe);
}

/// @brief Like put_list_nbi(), for one thread instead of a group.
PGAS_FN void put_list_nbi(const context& ctx, const copy_list& list, pe_or_peer pe) {
  put_list_nbi(ctx, this_thread{}, list, pe);
}

/// @brief Like put_list_signal(), for one thread instead of a group.
PGAS_FN void put_list_signal(const context& ctx, const copy_list& list, signal_t* sig, signal_t value, signal_op op,
                             pe_or_peer pe) {
  put_list_signal(ctx, this_thread{}, list, sig, value, op, pe);
}

/// @brief Like get_list(), for one thread instead of a group.
PGAS_FN void get_list(const context& ctx, const copy_list& list, pe_or_peer pe) {
  get_list(ctx, this_thread{}, list, pe);
}

/// @brief Like get_list_nbi(), for one thread instead of a group.
PGAS_FN void get_list_nbi(const context& ctx, const copy_list& list, pe_or_peer pe) {
  get_list_nbi(ctx, this_thread{}, list, pe);
}

}  // namespace pgas

#include "pgas/detail/names_end.inc"
