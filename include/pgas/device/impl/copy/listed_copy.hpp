/// @file
/// The copies of a list (copy_list.hpp), used by put_list() and get_list(). The threads of a group form subgroups of
/// one or more warps, depending on the size of the first block. Each subgroup copies whole blocks, 16 bytes for each
/// thread and access, so that many blocks are in flight at the same time. If the list has fewer blocks than the group
/// has subgroups, several subgroups share a block. A group that is smaller than a warp is one subgroup.
#pragma once

#include "pgas/copy_list.hpp"
#include "pgas/device/impl/copy/copy.hpp"
#include "pgas/device/impl/proxy/proxied_operations.hpp"
#include "pgas/device/impl/sync/argument_check.hpp"

namespace pgas::detail {

/// Part `part` of `parts` of a block. Parts begin at multiples of 128 bytes, the size of a transfer.
[[nodiscard]] PGAS_FN copy_block part_of(const copy_block& block, std::uint32_t part, std::uint32_t parts) {
  constexpr std::size_t line = 128;
  const std::size_t lines = (block.bytes + line - 1) / line;
  const std::size_t each = (lines + parts - 1) / parts * line;
  const std::size_t begin = each * part;
  if (begin >= block.bytes) return {};
  const std::size_t left = block.bytes - begin;
  return {static_cast<std::byte*>(block.to) + begin, static_cast<const std::byte*>(block.from) + begin,
          left < each ? left : each};
}

/// The threads that copy a block of `bytes` bytes together: whole warps, each thread with 64 bytes in flight, but at
/// most 512 threads.
[[nodiscard]] PGAS_FN std::uint32_t threads_for_block(std::size_t bytes, std::uint32_t size) {
  if (size < warp_size) return size;
  std::uint32_t threads = warp_size;
  while (threads < 512 && threads * 128 <= bytes && threads * 2 <= size) threads *= 2;
  return threads;
}

/// A thread's way through a list. The struct is in the local memory of its thread, so that loops over the blocks keep
/// nothing in registers.
struct list_walk {
  const copy_list* list;
  std::uintptr_t distance;  ///< bytes from the symmetric address to the peer's memory
  slice in_subgroup;        ///< this thread's share of a block
  std::uint32_t parts;      ///< the subgroups that share a block
  std::uint32_t part;
  std::size_t at;   ///< the block in progress
  std::size_t hop;  ///< the distance, in blocks, between two successive blocks of this thread

  PGAS_FN list_walk(const copy_list* all, std::uintptr_t bytes_away, slice me)
      : list(all), distance(bytes_away), in_subgroup{0, 0}, parts(1), part(0), at(all->size()), hop(1) {
    if (all->size() == 0) return;
    const std::uint32_t width = threads_for_block((*all)[0].bytes, me.size);
    const std::uint32_t subgroups = me.size / width;
    const std::uint32_t subgroup = me.rank / width;
    if (subgroup >= subgroups) return;  // the threads after the last whole subgroup copy nothing
    in_subgroup = {me.rank % width, width};
    if (all->size() < subgroups) parts = subgroups / static_cast<std::uint32_t>(all->size());
    part = subgroup % parts;
    at = subgroup / parts;
    hop = subgroups / parts;
  }
  [[nodiscard]] PGAS_FN bool ended() const { return at >= list->size(); }
};

/// Copies one thread's share of a list. @param distance bytes from the symmetric address to the peer's memory
template <direction Direction>
PGAS_OUTLINE void copy_listed(const copy_list* list, std::uintptr_t distance, slice me) {
  list_walk in_memory(list, distance, me);
  list_walk* const walk = opaque(&in_memory);
  for (; !walk->ended(); walk->at += walk->hop) {
    copy_block block = (*walk->list)[walk->at];
    if (walk->parts != 1) block = part_of(block, walk->part, walk->parts);
    // The addresses are added as integers, because the peer's memory and this PE's memory are different objects of C++.
    const auto to = reinterpret_cast<std::uintptr_t>(block.to) + (Direction == direction::put ? walk->distance : 0);
    const auto from = reinterpret_cast<std::uintptr_t>(block.from) + (Direction == direction::get ? walk->distance : 0);
    copy_long<Direction, 1>(reinterpret_cast<std::byte*>(to), reinterpret_cast<const std::byte*>(from), block.bytes,
                            walk->in_subgroup);
  }
}

/// The mapped ranges of a slot. The bounds of the ranges are in host memory, so one thread of a group reads the bounds
/// for all threads.
struct mapped_bytes {
  std::uint64_t heap = 0;
  std::uint64_t team_segments_begin = 0;
  std::uint64_t team_segments_end = 0;

  [[nodiscard]] PGAS_FN bool contain(std::uint64_t offset, std::uint64_t bytes) const {
    return (offset <= heap && bytes <= heap - offset) ||
           (offset >= team_segments_begin && offset <= team_segments_end && bytes <= team_segments_end - offset);
  }
};
template <PGAS_IS(group) G>
[[nodiscard]] PGAS_FN mapped_bytes mapped_bytes_of(const context& ctx, const G& g) {
  mapped_bytes found;
  if (g.thread_rank() == 0)
    found = {load_relaxed(&ctx.control_->heap_bytes), load_relaxed(&ctx.control_->team_segments_begin),
             load_relaxed(&ctx.control_->team_segments_end)};
  return broadcast(g, found);
}

/// A list whose blocks are checked. The struct is in the local memory of its thread, like a list_walk.
struct list_call {
  list_walk walk;
  std::int32_t pe;  ///< in the context's team

  PGAS_FN list_call(const copy_list* all, slice me, std::int32_t its_pe) : walk(all, 0, me), pe(its_pe) {}
};

/// Whether the blocks that this thread copies are valid. If a block is invalid, the function writes a failure record.
template <direction Direction>
[[nodiscard]] PGAS_COLD bool sound_list(const context* ctx, list_call* call, const mapped_bytes* mapped) {
  checked_access access{
      checked_heap_of(*ctx), Direction == direction::put ? operation::put : operation::get, call->pe, nullptr, 0, 1};
  if (call->pe < 0 || call->pe >= access.heap.n_pes) {
    leave_bad_argument(&access, failure::pe_out_of_range);
    return false;
  }
  for (; !call->walk.ended(); call->walk.at += call->walk.hop) {
    const copy_block block = (*call->walk.list)[call->walk.at];
    access.local = Direction == direction::put ? block.to : block.from;
    access.bytes = block.bytes;
    if (block.bytes == 0 || mapped->contain(access.offset(), block.bytes)) continue;
    leave_bad_argument(&access, failure::outside_heap);
    return false;
  }
  return true;
}

/// Ends the group if one of its threads would copy an invalid block.
template <direction Direction, PGAS_IS(group) G>
PGAS_COLD void check_list(const context& ctx, G g, list_call call) {
  const mapped_bytes mapped = mapped_bytes_of(ctx, g);
  exit_if_any(g, !sound_list<Direction>(&ctx, &call, &mapped));
}

/// A list that a group submits to the proxy, and the blocks that the group submits next. The struct is in the local
/// memory of its thread, like a list_walk.
struct list_submission {
  const copy_list* list;
  proxy_queue queue;
  std::int32_t pe;     ///< the PE's number in the world
  slice in_group;      ///< this thread's rank, and the group's size
  std::size_t at;      ///< the first block that is not submitted
  std::size_t count;   ///< the number of blocks that are submitted next
  std::size_t next;    ///< the block, counted from `at`, that this thread handles next
  reserved_unit unit;  ///< holds the `count` blocks; `number` is valid on the first thread only

  PGAS_FN list_submission(const copy_list* all, proxy_queue to, std::int32_t its_pe, slice me)
      : list(all), queue(to), pe(its_pe), in_group(me), at(0), count(0), next(0), unit{nullptr, 0} {}
};

/// Submits one block to the proxy. @return False if a wait failed and the thread must end.
template <direction Direction>
[[nodiscard]] PGAS_COLD bool submit_block(const list_submission* work, const copy_block* block) {
  constexpr bool put = Direction == direction::put;
  const proxied_copy one{
      work->queue,          work->pe, put ? block->to : block->from, put ? block->from : block->to, block->bytes,
      completion::submitted};
  const op_info about{put ? operation::put : operation::get, one.pe, work->queue.offset(one.remote)};
  if (one.bytes == 0) return true;
  if (!is_inline(&one)) return submit_whole(&one, about.what, put ? command_kind::put : command_kind::get);
  if constexpr (put) return put_inline(work->queue, about, one.local, one.bytes, slice{0, 1});
  return get_inline(work->queue, about, const_cast<void*>(one.local), one.bytes, slice{0, 1});
}

/// Writes one block to the unit. If there is no unit, or if the proxy cannot access the local memory of the block,
/// submits the block. @return False if a wait failed and the thread must end.
template <direction Direction>
[[nodiscard]] PGAS_COLD bool list_block(const list_submission* work, std::size_t i) {
  constexpr bool put = Direction == direction::put;
  const copy_block block = (*work->list)[work->at + i];
  const void* const local = put ? block.from : block.to;
  auto* const in_unit = reinterpret_cast<listed_block*>(work->unit.at);
  if (in_unit != nullptr) {
    const std::uint64_t listed = is_global(local) ? block.bytes : 0;
    in_unit[i] = {work->queue.offset(put ? block.to : block.from), reinterpret_cast<std::uintptr_t>(local), listed};
    if (listed == block.bytes) return true;
  }
  return submit_block<Direction>(work, &block);
}

/// Handles this thread's part of the next blocks. @return False if a wait failed and the thread must end.
template <direction Direction>
[[nodiscard]] PGAS_COLD bool list_blocks(list_submission* work) {
  PGAS_ROLLED
  for (work->next = work->in_group.rank; work->next < work->count; work->next += work->in_group.size) {
    if (!list_block<Direction>(work, work->next)) return false;
    work = opaque(work);
  }
  return true;
}

/// Submits the blocks in the unit by one command, and releases the unit. @return False if a wait failed and the thread
/// must end.
template <direction Direction>
[[nodiscard]] PGAS_COLD bool submit_listed(const list_submission* work) {
  constexpr bool put = Direction == direction::put;
  command_call call(work->queue, {put ? operation::put : operation::get, work->pe, 0},
                    put ? command_kind::put_list : command_kind::get_list, work->count * sizeof(listed_block));
  call.offset[1] = reinterpret_cast<std::uintptr_t>(work->unit.at);
  call.answered = true;
  if (!submit(&call)) return false;  // the proxy may still read the unit, so the unit stays reserved
  release_unit(work->queue, work->unit.number);
  return true;
}

/// Copies a list to or from a proxied PE. One command copies at most workspace_view::most_listed blocks. A list of a
/// few blocks takes one command for each block. *Callers* all threads of the group.
template <direction Direction, PGAS_IS(group) G>
PGAS_COLD void proxied_list(list_submission* work, G g, completion when) {
  constexpr std::size_t few = 4;
  constexpr operation what = Direction == direction::put ? operation::put : operation::get;
  for (work = opaque(work); work->at < work->list->size(); work->at += work->count) {
    const std::size_t left = work->list->size() - work->at;
    work->count = left < workspace_view::most_listed ? left : workspace_view::most_listed;
    work->unit = {nullptr, 0};
    if (left > few) {
      if (g.thread_rank() == 0) work->unit = reserve_unit(work->queue, {what, work->pe, 0});
      work->unit.at = reinterpret_cast<std::byte*>(broadcast(g, reinterpret_cast<std::uintptr_t>(work->unit.at)));
      exit_if_any(g, work->unit.at == nullptr);
    }
    const bool lost = !list_blocks<Direction>(work);
    if (left > few) {
      exit_if_any(g, lost);  // the first thread submits what all threads have written
      exit_if_any(g, g.thread_rank() == 0 && !submit_listed<Direction>(work));
    } else if (when == completion::submitted) {
      return exit_if_lost(g, lost, when);
    } else {
      exit_if_any(g, lost);
    }
  }
  if (when != completion::submitted) drain_by_leader(work->queue, g, what, work->pe);
}

/// Copies one thread's share of a list. *Callers* all threads of the group `g`, which may be a part of the threads that
/// share the list; for a proxied PE, `g` contains all threads that share the list.
template <direction Direction, completion When, PGAS_IS(group) G>
PGAS_FN void list_by_route(const context& ctx, const G& g, const copy_list& list, slice me, pe_or_peer pe) {
  auto* const slot = reinterpret_cast<std::byte*>(ctx.my_slot_);
  const copy_list* const all = opaque(&list);  // opaque: a loop around the call keeps no list in registers
  ctx.by_long_route(
      slot, pe,
      [=](const context& here, std::byte* remote) {
        copy_listed<Direction>(all, reinterpret_cast<std::uintptr_t>(remote) - here.my_slot_, me);
        if constexpr (When == completion::local_done) g.sync();
      },
      [=, number = pe.pe()](const context& here, auto what) {
        if constexpr (std::is_same_v<decltype(what), checked_arguments>) {
          if (!here.checks()) return;
          check_list<Direction>(here, g, list_call(all, me, number));
        } else if constexpr (std::is_same_v<decltype(what), std::int32_t>) {
          list_submission work(all, proxy_queue_of(here), what, me);
          proxied_list<Direction>(&work, g, When);
        }
      });
}

}  // namespace pgas::detail
