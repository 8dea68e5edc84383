/// @file
/// Reading and writing other PEs' memory at regular distances: every n-th element (iput, iget), or blocks of elements
/// (ibput, ibget), by one thread or by a group.
///
/// Strides are elements from the start of one element or block to the start of the next, on either side; they may be
/// negative. Elements of the destination must not overlap.
#pragma once

#include "pgas/device/context.hpp"
#include "pgas/device/group.hpp"
#include "pgas/device/impl/strided.hpp"

namespace pgas {

/// Copies `count` elements to PE `pe`: element i goes from `src[i * src_stride]` to `dst[i * dst_stride]`. Does not
/// wait for the group.
///
/// *Callers* all threads of the group `g`, converged, same arguments. *Units* `count` is elements; 0 allowed. *Memory*
/// `dst` is symmetric; `src` is any memory of this PE, shared memory included. *On return* as put_nbi(). *Order* as
/// put_nbi().
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void iput_nbi(const context& ctx, const G& g, T* dst, const T* src, std::ptrdiff_t dst_stride,
                      std::ptrdiff_t src_stride, std::size_t count, std::int32_t pe) {
  detail::check_strided(ctx, detail::operation::iput, dst, dst_stride, 1, count, pe);
  detail::copy_strided<detail::direction::put>(g, ctx.remote(dst, pe), src, dst_stride, src_stride, 1, count);
}

/// iput_nbi() that is as far as put() when it returns.
/// *Callers* all threads of the group `g`, converged, same arguments.
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void iput(const context& ctx, const G& g, T* dst, const T* src, std::ptrdiff_t dst_stride,
                  std::ptrdiff_t src_stride, std::size_t count, std::int32_t pe) {
  iput_nbi(ctx, g, dst, src, dst_stride, src_stride, count, pe);
  g.sync();
}

/// iput_nbi() by the calling thread alone.
template <PGAS_IS(rma_type) T>
PGAS_FN void iput_nbi(const context& ctx, T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                      std::size_t count, std::int32_t pe) {
  iput_nbi(ctx, this_thread{}, dst, src, dst_stride, src_stride, count, pe);
}

/// iput() by the calling thread alone.
template <PGAS_IS(rma_type) T>
PGAS_FN void iput(const context& ctx, T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                  std::size_t count, std::int32_t pe) {
  iput_nbi(ctx, this_thread{}, dst, src, dst_stride, src_stride, count, pe);
}

/// Copies `count` elements from PE `pe`: element i goes from `src[i * src_stride]` to `dst[i * dst_stride]`. Does not
/// wait for the group.
///
/// *Callers* all threads of the group `g`, converged, same arguments. *Units* `count` is elements; 0 allowed. *Memory*
/// `src` is symmetric; `dst` is any memory of this PE, shared memory included. *On return* as get_nbi(). *Order* as
/// get_nbi().
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void iget_nbi(const context& ctx, const G& g, T* dst, const T* src, std::ptrdiff_t dst_stride,
                      std::ptrdiff_t src_stride, std::size_t count, std::int32_t pe) {
  detail::check_strided(ctx, detail::operation::iget, src, src_stride, 1, count, pe);
  detail::copy_strided<detail::direction::get>(g, dst, ctx.remote(src, pe), dst_stride, src_stride, 1, count);
}

/// iget_nbi() that is as far as get() when it returns.
/// *Callers* all threads of the group `g`, converged, same arguments.
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void iget(const context& ctx, const G& g, T* dst, const T* src, std::ptrdiff_t dst_stride,
                  std::ptrdiff_t src_stride, std::size_t count, std::int32_t pe) {
  iget_nbi(ctx, g, dst, src, dst_stride, src_stride, count, pe);
  g.sync();
}

/// iget_nbi() by the calling thread alone.
template <PGAS_IS(rma_type) T>
PGAS_FN void iget_nbi(const context& ctx, T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                      std::size_t count, std::int32_t pe) {
  iget_nbi(ctx, this_thread{}, dst, src, dst_stride, src_stride, count, pe);
}

/// iget() by the calling thread alone.
template <PGAS_IS(rma_type) T>
PGAS_FN void iget(const context& ctx, T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                  std::size_t count, std::int32_t pe) {
  iget_nbi(ctx, this_thread{}, dst, src, dst_stride, src_stride, count, pe);
}

/// Copies `count` blocks of `block_size` elements to PE `pe`: block i goes from `src + i * src_stride` to
/// `dst + i * dst_stride`. Does not wait for the group.
///
/// *Callers* all threads of the group `g`, converged, same arguments. *Units* `block_size` is the elements of a block,
/// `count` is blocks; 0 allowed. *Memory* `dst` is symmetric; `src` is any memory of this PE, shared memory included.
/// *On return* as put_nbi(). *Order* as put_nbi().
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void ibput_nbi(const context& ctx, const G& g, T* dst, const T* src, std::ptrdiff_t dst_stride,
                       std::ptrdiff_t src_stride, std::size_t block_size, std::size_t count, std::int32_t pe) {
  detail::check_strided(ctx, detail::operation::iput, dst, dst_stride, block_size, count, pe);
  detail::copy_strided<detail::direction::put>(g, ctx.remote(dst, pe), src, dst_stride, src_stride, block_size, count);
}

/// ibput_nbi() that is as far as put() when it returns.
/// *Callers* all threads of the group `g`, converged, same arguments.
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void ibput(const context& ctx, const G& g, T* dst, const T* src, std::ptrdiff_t dst_stride,
                   std::ptrdiff_t src_stride, std::size_t block_size, std::size_t count, std::int32_t pe) {
  ibput_nbi(ctx, g, dst, src, dst_stride, src_stride, block_size, count, pe);
  g.sync();
}

/// ibput_nbi() by the calling thread alone.
template <PGAS_IS(rma_type) T>
PGAS_FN void ibput_nbi(const context& ctx, T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                       std::size_t block_size, std::size_t count, std::int32_t pe) {
  ibput_nbi(ctx, this_thread{}, dst, src, dst_stride, src_stride, block_size, count, pe);
}

/// ibput() by the calling thread alone.
template <PGAS_IS(rma_type) T>
PGAS_FN void ibput(const context& ctx, T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                   std::size_t block_size, std::size_t count, std::int32_t pe) {
  ibput_nbi(ctx, this_thread{}, dst, src, dst_stride, src_stride, block_size, count, pe);
}

/// Copies `count` blocks of `block_size` elements from PE `pe`: block i goes from `src + i * src_stride` to
/// `dst + i * dst_stride`. Does not wait for the group.
///
/// *Callers* all threads of the group `g`, converged, same arguments. *Units* `block_size` is the elements of a block,
/// `count` is blocks; 0 allowed. *Memory* `src` is symmetric; `dst` is any memory of this PE, shared memory included.
/// *On return* as get_nbi(). *Order* as get_nbi().
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void ibget_nbi(const context& ctx, const G& g, T* dst, const T* src, std::ptrdiff_t dst_stride,
                       std::ptrdiff_t src_stride, std::size_t block_size, std::size_t count, std::int32_t pe) {
  detail::check_strided(ctx, detail::operation::iget, src, src_stride, block_size, count, pe);
  detail::copy_strided<detail::direction::get>(g, dst, ctx.remote(src, pe), dst_stride, src_stride, block_size, count);
}

/// ibget_nbi() that is as far as get() when it returns.
/// *Callers* all threads of the group `g`, converged, same arguments.
template <PGAS_IS(rma_type) T, PGAS_IS(group) G>
PGAS_FN void ibget(const context& ctx, const G& g, T* dst, const T* src, std::ptrdiff_t dst_stride,
                   std::ptrdiff_t src_stride, std::size_t block_size, std::size_t count, std::int32_t pe) {
  ibget_nbi(ctx, g, dst, src, dst_stride, src_stride, block_size, count, pe);
  g.sync();
}

/// ibget_nbi() by the calling thread alone.
template <PGAS_IS(rma_type) T>
PGAS_FN void ibget_nbi(const context& ctx, T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                       std::size_t block_size, std::size_t count, std::int32_t pe) {
  ibget_nbi(ctx, this_thread{}, dst, src, dst_stride, src_stride, block_size, count, pe);
}

/// ibget() by the calling thread alone.
template <PGAS_IS(rma_type) T>
PGAS_FN void ibget(const context& ctx, T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                   std::size_t block_size, std::size_t count, std::int32_t pe) {
  ibget_nbi(ctx, this_thread{}, dst, src, dst_stride, src_stride, block_size, count, pe);
}

}  // namespace pgas
