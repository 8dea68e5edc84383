/// @file
/// Reads and writes of other PEs' memory at regular distances: every n-th element (iput, iget), or blocks of elements
/// (ibput, ibget), by one thread or by a group.
///
/// A stride is the number of elements from the start of one element or block to the start of the next one. Source and
/// destination have separate strides, which may be negative. Elements of the destination must not overlap. For
/// operations on proxied PEs and for *Errors*, see `rma.hpp`.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/device/context.hpp"
#include "pgas/device/group.hpp"
#include "pgas/device/impl/copy/strided_copy.hpp"
#include "pgas/device/impl/proxy/proxied_operations.hpp"
#include "pgas/type_requirements.hpp"

namespace pgas {
namespace detail {

/// The common implementation of all strided puts. @param block number of elements in a block @param copy_to stores the
/// elements at a load/store accessible address
template <completion When, class T, PGAS_IS(group) G, class Copy>
PGAS_FN void put_strided_by_route(const context& ctx, const G& g, T* dst, const T* src, std::ptrdiff_t dst_stride,
                                  std::ptrdiff_t src_stride, std::size_t block, std::size_t count, pe_or_peer pe,
                                  Copy copy_to) {
  traced_operation traced(ctx, g, operation::iput);
  traced.on(ctx, pe, block * count * sizeof(T));
  g.sync();  // after this sync, the operation follows the earlier accesses of all threads of the group
  ctx.by_long_route(
      dst, pe,
      [=](const context&, T* remote) {
        copy_to(remote);
        if constexpr (When == completion::local_done) g.sync();
      },
      [=, number = pe.pe()](const context& here, auto what) {
        if constexpr (std::is_same_v<decltype(what), checked_arguments>) {
          check_strided(here, operation::iput, dst, dst_stride, block, count, number);
        } else if constexpr (std::is_same_v<decltype(what), std::int32_t>) {
          proxied_strided<direction::put>(proxy_queue_of(here), g, what, dst, src,
                                          strided_range_of<T>(block, count, src_stride, dst_stride), When);
        }
      });
}
template <completion When, class T, PGAS_IS(group) G>
PGAS_FN void put_strided_by_route(const context& ctx, const G& g, T* dst, const T* src, std::ptrdiff_t dst_stride,
                                  std::ptrdiff_t src_stride, std::size_t block, std::size_t count, pe_or_peer pe) {
  put_strided_by_route<When>(ctx, g, dst, src, dst_stride, src_stride, block, count, pe, [=](T* remote) {
    copy_strided<direction::put>(g, remote, src, dst_stride, src_stride, block, count);
  });
}
template <completion When, class T, PGAS_IS(group) G>
PGAS_FN void put_spaced_by_route(const context& ctx, const G& g, T* dst, const T* src, std::ptrdiff_t dst_stride,
                                 std::ptrdiff_t src_stride, std::size_t count, pe_or_peer pe) {
  put_strided_by_route<When>(ctx, g, dst, src, dst_stride, src_stride, 1, count, pe, [=](T* remote) {
    copy_spaced<direction::put>(g, remote, src, dst_stride, src_stride, count);
  });
}

/// The common implementation of all strided gets. @param copy_from loads the elements from a load/store accessible
/// address
template <completion When, class T, PGAS_IS(group) G, class Copy>
PGAS_FN void get_strided_by_route(const context& ctx, const G& g, T* dst, const T* src, std::ptrdiff_t dst_stride,
                                  std::ptrdiff_t src_stride, std::size_t block, std::size_t count, pe_or_peer pe,
                                  Copy copy_from) {
  traced_operation traced(ctx, g, operation::iget);
  traced.on(ctx, pe, block * count * sizeof(T));
  g.sync();  // after this sync, the operation follows the earlier accesses of all threads of the group
  ctx.by_long_route(
      src, pe,
      [=](const context&, const T* remote) {
        copy_from(remote);
        if constexpr (When == completion::local_done) g.sync();
      },
      [=, number = pe.pe()](const context& here, auto what) {
        if constexpr (std::is_same_v<decltype(what), checked_arguments>) {
          check_strided(here, operation::iget, src, src_stride, block, count, number);
        } else if constexpr (std::is_same_v<decltype(what), std::int32_t>) {
          proxied_strided<direction::get>(proxy_queue_of(here), g, what, src, dst,
                                          strided_range_of<T>(block, count, dst_stride, src_stride), When);
        }
      });
}
template <completion When, class T, PGAS_IS(group) G>
PGAS_FN void get_strided_by_route(const context& ctx, const G& g, T* dst, const T* src, std::ptrdiff_t dst_stride,
                                  std::ptrdiff_t src_stride, std::size_t block, std::size_t count, pe_or_peer pe) {
  get_strided_by_route<When>(ctx, g, dst, src, dst_stride, src_stride, block, count, pe, [=](const T* remote) {
    copy_strided<direction::get>(g, dst, remote, dst_stride, src_stride, block, count);
  });
}
template <completion When, class T, PGAS_IS(group) G>
PGAS_FN void get_spaced_by_route(const context& ctx, const G& g, T* dst, const T* src, std::ptrdiff_t dst_stride,
                                 std::ptrdiff_t src_stride, std::size_t count, pe_or_peer pe) {
  get_strided_by_route<When>(ctx, g, dst, src, dst_stride, src_stride, 1, count, pe, [=](const T* remote) {
    copy_spaced<direction::get>(g, dst, remote, dst_stride, src_stride, count);
  });
}

}  // namespace detail

/// @brief Copies `count` elements to PE `pe`: element i goes from `src[i * src_stride]` to `dst[i * dst_stride]`.
///
/// Does not wait for the group.
///
/// *Callers* all threads of the group `g`, converged, with the same arguments. *Units* `count` is a number of elements;
/// 0 is allowed.
/// *Memory* `dst` is symmetric; `src` is any memory of this PE, including shared memory. *On return* as put_nbi().
/// *Order* as put_nbi().
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void iput_nbi(const context& ctx, const G& g, T* dst, const T* src, std::ptrdiff_t dst_stride,
                      std::ptrdiff_t src_stride, std::size_t count, pe_or_peer pe) {
  detail::put_spaced_by_route<detail::completion::submitted>(ctx, g, dst, src, dst_stride, src_stride, count, pe);
}

/// @brief Like iput_nbi(), but returns when `src` may be reused, as put() does.
///
/// *Callers* all threads of the group `g`, converged, with the same arguments.
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void iput(const context& ctx, const G& g, T* dst, const T* src, std::ptrdiff_t dst_stride,
                  std::ptrdiff_t src_stride, std::size_t count, pe_or_peer pe) {
  detail::put_spaced_by_route<detail::completion::local_done>(ctx, g, dst, src, dst_stride, src_stride, count, pe);
}

/// @brief Like iput_nbi(), for one thread instead of a group.
template <PGAS_IS(rma_type) T>
PGAS_FN void iput_nbi(const context& ctx, T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                      std::size_t count, pe_or_peer pe) {
  iput_nbi(ctx, this_thread{}, dst, src, dst_stride, src_stride, count, pe);
}

/// @brief Like iput(), for one thread instead of a group.
template <PGAS_IS(rma_type) T>
PGAS_FN void iput(const context& ctx, T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                  std::size_t count, pe_or_peer pe) {
  iput(ctx, this_thread{}, dst, src, dst_stride, src_stride, count, pe);
}

/// @brief Copies `count` elements from PE `pe`: element i goes from `src[i * src_stride]` to `dst[i * dst_stride]`.
///
/// Does not wait for the group.
///
/// *Callers* all threads of the group `g`, converged, with the same arguments. *Units* `count` is a number of elements;
/// 0 is allowed.
/// *Memory* `src` is symmetric; `dst` is any memory of this PE, including shared memory. *On return* as get_nbi().
/// *Order* as get_nbi().
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void iget_nbi(const context& ctx, const G& g, T* dst, const T* src, std::ptrdiff_t dst_stride,
                      std::ptrdiff_t src_stride, std::size_t count, pe_or_peer pe) {
  detail::get_spaced_by_route<detail::completion::submitted>(ctx, g, dst, src, dst_stride, src_stride, count, pe);
}

/// @brief Like iget_nbi(), but returns when `dst` holds the data, as get() does.
///
/// *Callers* all threads of the group `g`, converged, with the same arguments.
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void iget(const context& ctx, const G& g, T* dst, const T* src, std::ptrdiff_t dst_stride,
                  std::ptrdiff_t src_stride, std::size_t count, pe_or_peer pe) {
  detail::get_spaced_by_route<detail::completion::local_done>(ctx, g, dst, src, dst_stride, src_stride, count, pe);
}

/// @brief Like iget_nbi(), for one thread instead of a group.
template <PGAS_IS(rma_type) T>
PGAS_FN void iget_nbi(const context& ctx, T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                      std::size_t count, pe_or_peer pe) {
  iget_nbi(ctx, this_thread{}, dst, src, dst_stride, src_stride, count, pe);
}

/// @brief Like iget(), for one thread instead of a group.
template <PGAS_IS(rma_type) T>
PGAS_FN void iget(const context& ctx, T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                  std::size_t count, pe_or_peer pe) {
  iget(ctx, this_thread{}, dst, src, dst_stride, src_stride, count, pe);
}

/// @brief Copies `count` blocks of `block_size` elements to PE `pe`: block i goes from `src + i * src_stride` to `dst +
/// i * dst_stride`.
///
/// Does not wait for the group.
///
/// *Callers* all threads of the group `g`, converged, with the same arguments.
/// *Units* `block_size` is the number of elements of a block, and `count` is the number of blocks; both may be 0.
/// *Memory* `dst` is symmetric; `src` is any memory of this PE, including shared memory. *On return* as put_nbi().
/// *Order* as put_nbi().
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void ibput_nbi(const context& ctx, const G& g, T* dst, const T* src, std::ptrdiff_t dst_stride,
                       std::ptrdiff_t src_stride, std::size_t block_size, std::size_t count, pe_or_peer pe) {
  detail::put_strided_by_route<detail::completion::submitted>(ctx, g, dst, src, dst_stride, src_stride, block_size,
                                                              count, pe);
}

/// @brief Like ibput_nbi(), but returns when `src` may be reused, as put() does.
///
/// *Callers* all threads of the group `g`, converged, with the same arguments.
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void ibput(const context& ctx, const G& g, T* dst, const T* src, std::ptrdiff_t dst_stride,
                   std::ptrdiff_t src_stride, std::size_t block_size, std::size_t count, pe_or_peer pe) {
  detail::put_strided_by_route<detail::completion::local_done>(ctx, g, dst, src, dst_stride, src_stride, block_size,
                                                               count, pe);
}

/// @brief Like ibput_nbi(), for one thread instead of a group.
template <PGAS_IS(rma_type) T>
PGAS_FN void ibput_nbi(const context& ctx, T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                       std::size_t block_size, std::size_t count, pe_or_peer pe) {
  ibput_nbi(ctx, this_thread{}, dst, src, dst_stride, src_stride, block_size, count, pe);
}

/// @brief Like ibput(), for one thread instead of a group.
template <PGAS_IS(rma_type) T>
PGAS_FN void ibput(const context& ctx, T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                   std::size_t block_size, std::size_t count, pe_or_peer pe) {
  ibput(ctx, this_thread{}, dst, src, dst_stride, src_stride, block_size, count, pe);
}

/// @brief Copies `count` blocks of `block_size` elements from PE `pe`.
///
/// Block i goes from `src + i * src_stride` to `dst + i * dst_stride`. Does not wait for the group.
///
/// *Callers* all threads of the group `g`, converged, with the same arguments.
/// *Units* `block_size` is the number of elements of a block, and `count` is the number of blocks; both may be 0.
/// *Memory* `src` is symmetric; `dst` is any memory of this PE, including shared memory. *On return* as get_nbi().
/// *Order* as get_nbi().
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void ibget_nbi(const context& ctx, const G& g, T* dst, const T* src, std::ptrdiff_t dst_stride,
                       std::ptrdiff_t src_stride, std::size_t block_size, std::size_t count, pe_or_peer pe) {
  detail::get_strided_by_route<detail::completion::submitted>(ctx, g, dst, src, dst_stride, src_stride, block_size,
                                                              count, pe);
}

/// @brief Like ibget_nbi(), but returns when `dst` holds the data, as get() does.
///
/// *Callers* all threads of the group `g`, converged, with the same arguments.
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void ibget(const context& ctx, const G& g, T* dst, const T* src, std::ptrdiff_t dst_stride,
                   std::ptrdiff_t src_stride, std::size_t block_size, std::size_t count, pe_or_peer pe) {
  detail::get_strided_by_route<detail::completion::local_done>(ctx, g, dst, src, dst_stride, src_stride, block_size,
                                                               count, pe);
}

/// @brief Like ibget_nbi(), for one thread instead of a group.
template <PGAS_IS(rma_type) T>
PGAS_FN void ibget_nbi(const context& ctx, T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                       std::size_t block_size, std::size_t count, pe_or_peer pe) {
  ibget_nbi(ctx, this_thread{}, dst, src, dst_stride, src_stride, block_size, count, pe);
}

/// @brief Like ibget(), for one thread instead of a group.
template <PGAS_IS(rma_type) T>
PGAS_FN void ibget(const context& ctx, T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                   std::size_t block_size, std::size_t count, pe_or_peer pe) {
  ibget(ctx, this_thread{}, dst, src, dst_stride, src_stride, block_size, count, pe);
}

}  // namespace pgas

#include "pgas/detail/names_end.inc"
