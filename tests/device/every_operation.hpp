/// @file
/// Calls every device operation once, for one kind of context and of group, so that all templates are instantiated with
/// every language and compiler, including NVRTC. The file needs only the device headers.
#pragma once

#include <pgas/device.hpp>

#include "every_ll_operation.hpp"
#include "every_tile_operation.hpp"

namespace pgas_test {

/// The memory of every_operation, symmetric and zeroed, for up to 64 threads.
struct workplace {
  static constexpr int n = 8;
  using size = decltype(sizeof 0);

  /// Has the layout of std::complex<float>.
  struct complex {
    using value_type = float;
    PGAS_HD float real() const { return parts[0]; }
    PGAS_HD float imag() const { return parts[1]; }
    float parts[2];
  };

  int out[n];
  int in[8 * n];
  pgas::signal_t arrived;
  pgas::signal_t counted;
  short flags[4];
  size indices[4];
  int word;
  unsigned long long bits;
  float real;
  pgas::float16 half;
  pgas::float16_pair pair;
  int old_word;
  unsigned long long old_bits;
  float old_real;
  pgas::lock_t lock;
  int locked;
  pgas::signal_t phase;
  complex complexes[2];
  pgas::float16 halves[2];
  pgas::indexed<double> places[2];
  pgas::packet_line boxes[3][pgas::ll_lines<int>(64, n)];
};

/// A program's own operation for reductions: the result is the last value.
struct last_one {
  PGAS_HD int operator()(int, int b) const { return b; }
};

/// How a neighbour is passed: by its number, or as a peer of the context.
enum class naming { number, peer };

/// The type with which a neighbour is passed.
template <class Context, naming>
struct name_of {
  using type = int;
};
template <class Context>
struct name_of<Context, naming::peer> {
  using type = decltype(pgas::detail::some<Context>().peer(0));
};

/// `Group` is one kind of group, or empty. If it is empty, the operations are called without a group.
template <class Context, naming Naming, class... Group>
class every_operation {
 public:
  /// Executed by one group of each PE, or by one thread of each PE, on 2 to 8 PEs. Returns 0, or the number of the
  /// thread's first failed check.
  PGAS_FN static int run(const Context& ctx, workplace& here, const Group&... g) {
    every_operation all(ctx, here);
    all.copies(g...);
    all.strided_copies(g...);
    all.tiles(g...);
    all.signals(g...);
    all.expect(do_every_ll_operation(ctx, here, all.left_, all.named(all.left_), all.right_, all.to_right_, g...));
    all.waits(g...);
    all.tests(g...);
    if (leads(g...)) {
      all.atomics();
      all.atomics_later();
      all.narrow_atomics();
    }
    all.locks(g...);
    all.collectives(g...);
    all.reductions(g...);
    all.meetings(g...);
    return all.failed_;
  }

 private:
  static constexpr int n = workplace::n;

  PGAS_FN every_operation(const Context& ctx, workplace& here)
      : ctx_(ctx),
        here_(here),
        me_(ctx.my_pe()),
        n_pes_(ctx.n_pes()),
        right_((me_ + 1) % n_pes_),
        left_((me_ + n_pes_ - 1) % n_pes_),
        to_right_(named(right_)) {}

  /// The PE in the form that operations receive.
  PGAS_FN auto named(int pe) const {
    if constexpr (Naming == naming::peer)
      return ctx_.peer(pe);
    else
      return pe;
  }

  PGAS_FN static bool leads(const Group&... g) { return (true && ... && (g.thread_rank() == 0)); }

  PGAS_FN void expect(bool holds) {
    ++checks_;
    if (!holds && failed_ == 0) failed_ = checks_;
  }
  /// Whether `count` elements with distance `stride` are those that PE `pe` sends.
  PGAS_FN void expect_from(int pe, const int* at, int count = n, int stride = 1) {
    bool same = true;
    for (int i = 0; i < count; ++i) same = same && at[i * stride] == 100 * pe + i;
    expect(same);
  }

  PGAS_FN void copies(const Group&... g) {
    if (leads(g...)) {
      for (int i = 0; i < n; ++i) here_.out[i] = 100 * me_ + i;
    }
    pgas::barrier(ctx_, g...);
    int* const in = here_.in;
    pgas::put(ctx_, g..., in, here_.out, n, to_right_);
    pgas::put_nbi(ctx_, g..., in + n, here_.out, n, to_right_);
    pgas::get(ctx_, g..., in + 2 * n, here_.out, n, to_right_);
    pgas::get_nbi(ctx_, g..., in + 3 * n, here_.out, n, to_right_);
    if (leads(g...)) {
      pgas::p(ctx_, in + 4 * n, 7, to_right_);
      expect(pgas::g(ctx_, here_.out + 1, to_right_) == 100 * right_ + 1);
      expect(ctx_.ptr(here_.out, n_pes_) == nullptr);
      if (ctx_.reaches(right_))
        expect(ctx_.ptr(here_.out, right_) == ctx_.remote(here_.out, right_));
      else
        expect(ctx_.ptr(here_.out, right_) == nullptr);
    }
    pgas::barrier(ctx_, g...);
    expect_from(left_, in);
    expect_from(left_, in + n);
    expect_from(right_, in + 2 * n);
    expect_from(right_, in + 3 * n);
    expect(in[4 * n] == 7);
    pgas::barrier(ctx_, g...);
  }

  PGAS_FN void strided_copies(const Group&... g) {
    int* const in = here_.in;
    pgas::iput(ctx_, g..., in, here_.out, 2, 1, 4, to_right_);
    pgas::iput_nbi(ctx_, g..., in + n, here_.out, 2, 1, 4, to_right_);
    pgas::ibput(ctx_, g..., in + 2 * n, here_.out, 4, 2, 2, 2, to_right_);
    pgas::ibput_nbi(ctx_, g..., in + 3 * n, here_.out, 4, 2, 2, 2, to_right_);
    pgas::iget(ctx_, g..., in + 4 * n, here_.out, 2, 1, 4, to_right_);
    pgas::iget_nbi(ctx_, g..., in + 5 * n, here_.out, 2, 1, 4, to_right_);
    pgas::ibget(ctx_, g..., in + 6 * n, here_.out, 4, 2, 2, 2, to_right_);
    pgas::ibget_nbi(ctx_, g..., in + 7 * n, here_.out, 4, 2, 2, 2, to_right_);
    pgas::barrier(ctx_, g...);
    for (int i = 0; i < 4; ++i) {
      const int pe = i < 2 ? left_ : right_;
      const int* const singles = in + (i < 2 ? i : i + 2) * n;
      expect_from(pe, singles, 4, 2);
      const int* const blocks = in + (i < 2 ? i + 2 : i + 4) * n;
      expect(blocks[0] == 100 * pe && blocks[1] == 100 * pe + 1 && blocks[4] == 100 * pe + 2 &&
             blocks[5] == 100 * pe + 3);
    }
    pgas::barrier(ctx_, g...);
  }

  PGAS_FN void tiles(const Group&... g) {
    if (leads(g...)) expect(do_every_tile_operation(ctx_, here_, left_, right_, to_right_));
    pgas::barrier(ctx_, g...);
    expect(here_.real == 0 && here_.half == pgas::float16(0.0F));
    pgas::barrier(ctx_, g...);
  }

  PGAS_FN void signals(const Group&... g) {
    pgas::signal_t* const arrived = &here_.arrived;
    pgas::signal_t* const counted = &here_.counted;
    pgas::put_signal(ctx_, g..., here_.in, here_.out, n, arrived, 5, pgas::signal_op::set, to_right_);
    expect(pgas::signal_wait_until(ctx_, g..., arrived, pgas::cmp::eq, 5) == 5);
    expect_from(left_, here_.in);
    pgas::put_signal_nbi(ctx_, g..., here_.in + n, here_.out, n, counted, 2, pgas::signal_op::add, to_right_);
    pgas::signal_add(ctx_, g..., counted, 3, to_right_);
    expect(pgas::signal_take(ctx_, g..., counted, 5) == 0);
    expect_from(left_, here_.in + n);
    pgas::barrier(ctx_, g...);
    pgas::signal_set(ctx_, g..., arrived, 6, to_right_);
    pgas::wait_until(ctx_, g..., arrived, pgas::cmp::eq, 6);
    expect(pgas::signal_fetch(ctx_, g..., arrived) == 6);
    pgas::fence_proxy_async();
    pgas::bulk_wait_all();
    pgas::barrier(ctx_, g...);
  }

  PGAS_FN void waits(const Group&... g) {
    using pgas::cmp;
    const short* const flags = here_.flags;
    const int status[4] = {0, 1, 0, 0};
    const short values[4] = {1, 0, 3, 4};
    if (leads(g...)) {
      for (int i = 0; i < 4; ++i) pgas::p(ctx_, here_.flags + i, values[i], to_right_);
    }
    pgas::wait_until_all(ctx_, g..., flags, 4, status, cmp::gt, 0);
    pgas::wait_until_all(ctx_, g..., flags, 4, nullptr, cmp::eq, values);
    expect(pgas::wait_until_any(ctx_, g..., flags, 4, status, cmp::eq, 3) == 2);
    expect(pgas::wait_until_any(ctx_, g..., flags, 4, status, cmp::le, values) != 1);
    expect(pgas::wait_until_some(ctx_, g..., flags, 4, here_.indices, status, cmp::ne, 3) == 2);
    expect(pgas::wait_until_some(ctx_, g..., flags, 4, here_.indices, status, cmp::eq, values) == 3);
    pgas::barrier(ctx_, g...);
  }

  PGAS_FN void tests(const Group&... g) {
    using pgas::cmp;
    const short* const flags = here_.flags;  // 1, 0, 3, 4
    const int status[4] = {0, 1, 0, 0};
    const short values[4] = {1, 0, 3, 5};
    expect(pgas::test(ctx_, g..., flags, cmp::eq, 1) && !pgas::test(ctx_, g..., flags, cmp::lt, 1));
    expect(pgas::test_all(ctx_, g..., flags, 4, status, cmp::gt, 0));
    expect(!pgas::test_all(ctx_, g..., flags, 4, status, cmp::eq, values));
    expect(pgas::test_any(ctx_, g..., flags, 4, status, cmp::eq, 4) == 3);
    expect(pgas::test_any(ctx_, g..., flags, 4, status, cmp::gt, values) == pgas::no_index);
    expect(pgas::test_some(ctx_, g..., flags, 4, here_.indices, status, cmp::eq, 3) == 1);
    expect(pgas::test_some(ctx_, g..., flags, 4, here_.indices, nullptr, cmp::ne, values) == 1);
    pgas::barrier(ctx_, g...);
  }

  /// Only this PE writes these words of its neighbour.
  PGAS_FN void atomics() {
    int* const word = &here_.word;
    unsigned long long* const bits = &here_.bits;
    float* const real = &here_.real;
    pgas::atomic_set(ctx_, word, 10, to_right_);
    pgas::atomic_add(ctx_, word, 5, to_right_);
    pgas::atomic_inc(ctx_, word, to_right_);
    pgas::atomic_min(ctx_, word, 12, to_right_);
    pgas::atomic_max(ctx_, word, 14, to_right_);
    expect(pgas::atomic_fetch(ctx_, word, to_right_) == 14);
    expect(pgas::atomic_swap(ctx_, word, 20, to_right_) == 14);
    expect(pgas::atomic_compare_swap(ctx_, word, 20, 30, to_right_) == 20);
    expect(pgas::atomic_fetch_add(ctx_, word, 1, to_right_) == 30);
    expect(pgas::atomic_fetch_inc(ctx_, word, to_right_) == 31);
    expect(pgas::atomic_fetch_min(ctx_, word, 7, to_right_) == 32);
    expect(pgas::atomic_fetch_max(ctx_, word, 8, to_right_) == 7);
    pgas::atomic_or(ctx_, bits, 0xff, to_right_);
    pgas::atomic_and(ctx_, bits, 0x0f, to_right_);
    pgas::atomic_xor(ctx_, bits, 0x01, to_right_);
    expect(pgas::atomic_fetch_or(ctx_, bits, 0x10, to_right_) == 0x0e);
    expect(pgas::atomic_fetch_and(ctx_, bits, 0x18, to_right_) == 0x1e);
    expect(pgas::atomic_fetch_xor(ctx_, bits, 0x08, to_right_) == 0x18);
    pgas::atomic_add(ctx_, real, 1.5F, to_right_);
    pgas::atomic_max(ctx_, real, 2.5F, to_right_);
    expect(pgas::atomic_fetch_min(ctx_, real, 0.5F, to_right_) == 2.5F);
  }

  PGAS_FN void atomics_later() {  // the expected values: word 8, bits 0x10, real 0.5
    int* const word = &here_.word;
    unsigned long long* const bits = &here_.bits;
    pgas::atomic_fetch_nbi(ctx_, &here_.old_word, word, to_right_);
    pgas::atomic_swap_nbi(ctx_, &here_.old_word, word, 20, to_right_);
    pgas::atomic_compare_swap_nbi(ctx_, &here_.old_word, word, 20, 30, to_right_);
    pgas::atomic_fetch_inc_nbi(ctx_, &here_.old_word, word, to_right_);
    pgas::atomic_fetch_add_nbi(ctx_, &here_.old_word, word, 4, to_right_);
    pgas::atomic_fetch_min_nbi(ctx_, &here_.old_word, word, 5, to_right_);
    pgas::atomic_fetch_max_nbi(ctx_, &here_.old_word, word, 6, to_right_);
    pgas::atomic_fetch_and_nbi(ctx_, &here_.old_bits, bits, 0, to_right_);
    pgas::atomic_fetch_or_nbi(ctx_, &here_.old_bits, bits, 3, to_right_);
    pgas::atomic_fetch_xor_nbi(ctx_, &here_.old_bits, bits, 1, to_right_);
    pgas::atomic_fetch_add_nbi(ctx_, &here_.old_real, &here_.real, 1, to_right_);
    pgas::quiet(ctx_);
    expect(here_.old_word == 5 && here_.old_bits == 3 && here_.old_real == 0.5F);
    expect(pgas::atomic_fetch(ctx_, word, to_right_) == 6 && pgas::atomic_fetch(ctx_, bits, to_right_) == 2);
  }

  PGAS_FN void narrow_atomics() {
    pgas::atomic_set(ctx_, &here_.half, pgas::float16(1.5F), to_right_);
    pgas::atomic_add(ctx_, &here_.half, pgas::float16(2.5F), to_right_);
    expect(pgas::atomic_fetch_add(ctx_, &here_.half, pgas::float16(1.0F), to_right_) == pgas::float16(4.0F));
    expect(pgas::atomic_fetch(ctx_, &here_.half, to_right_) != pgas::float16(4.0F));
    pgas::float16_pair both;
    both.x = pgas::float16(1.0F);
    both.y = pgas::float16(2.0F);
    pgas::atomic_add(ctx_, &here_.pair, both, to_right_);
    expect(pgas::atomic_fetch_add(ctx_, &here_.pair, both, to_right_).y == both.y);
  }

  PGAS_FN void locks(const Group&... g) {
    for (int round = 0; round < 2; ++round) {
      if (round == 0) {
        pgas::set_lock(ctx_, g..., &here_.lock);
      } else {
        while (!pgas::test_lock(ctx_, g..., &here_.lock)) {
        }
      }
      if (leads(g...)) {
        pgas::p(ctx_, &here_.locked, pgas::g(ctx_, &here_.locked, 0) + 1, 0);
        pgas::quiet(ctx_);
      }
      pgas::clear_lock(ctx_, g..., &here_.lock);
      pgas::barrier(ctx_, g...);
    }
    expect(me_ != 0 || here_.locked == 2 * n_pes_);
  }

  PGAS_FN void collectives(const Group&... g) {
    const pgas::team_view team = ctx_.team();
    int* const in = here_.in;
    pgas::broadcast(ctx_, g..., team, in, here_.out, n, 0);
    expect_from(0, in);
    pgas::barrier(ctx_, g...);
    pgas::fcollect(ctx_, g..., team, in, here_.out, 2);
    expect_from(right_, in + 2 * right_, 2);
    pgas::barrier(ctx_, g...);
    pgas::collect(ctx_, g..., team, in, here_.out, me_ == 0 ? 1 : 2);
    expect_from(n_pes_ - 1, in + 1 + 2 * (n_pes_ - 2), 2);
    pgas::barrier(ctx_, g...);
    pgas::alltoall(ctx_, g..., team, in, here_.out, 1);
    expect(in[right_] == 100 * right_ + me_);
    pgas::barrier(ctx_, g...);
    pgas::alltoalls(ctx_, g..., team, in, here_.out, 2, 1, 1);
    expect(in[2 * right_] == 100 * right_ + me_);
    pgas::barrier(ctx_, g...);
  }

  PGAS_FN void reductions(const Group&... g) {
    const pgas::team_view team = ctx_.team();
    int* const in = here_.in;
    const int* const out = here_.out;
    const int sum = 50 * n_pes_ * (n_pes_ - 1);
    const auto reals = static_cast<float>(n_pes_);
    if (leads(g...)) {
      here_.complexes[0] = {{1, 2}};
      here_.halves[0] = pgas::float16(0.5F);
      here_.places[0] = {1.0, me_};
    }
    pgas::reduce(ctx_, g..., team, in, out, n, pgas::op::sum{});
    expect(in[0] == sum && in[3] == sum + 3 * n_pes_);
    pgas::barrier(ctx_, g...);
    pgas::reduce_to_root(ctx_, g..., team, in, out, n, last_one{}, 0);
    if (me_ == 0) expect_from(n_pes_ - 1, in);
    pgas::reduce_scatter(ctx_, g..., team, in, out, 1, pgas::op::max{});
    expect(in[0] == 100 * (n_pes_ - 1) + me_);
    pgas::inclusive_scan(ctx_, g..., team, in, out, n, pgas::op::min{});
    expect_from(0, in);
    pgas::exclusive_scan(ctx_, g..., team, in, out, n, pgas::op::bit_or{});
    expect(me_ != 0 || in[n - 1] == 0);
    pgas::reduce(ctx_, g..., team, here_.complexes + 1, here_.complexes, 1, pgas::op::sum{});
    expect(here_.complexes[1].imag() == 2 * reals);
    pgas::reduce(ctx_, g..., team, here_.halves + 1, here_.halves, 1, pgas::op::sum{});
    expect(here_.halves[1] == pgas::float16(0.5F * reals));
    pgas::reduce(ctx_, g..., team, here_.places + 1, here_.places, 1, pgas::op::maxloc{});
    expect(here_.places[1].index == 0);
    pgas::barrier(ctx_, g...);
  }

  PGAS_FN void meetings(const Group&... g) {
    const pgas::team_view team = ctx_.team().channel(1);
    const int pes[2] = {left_, right_};
    const auto right = static_cast<short>(right_);  // a number of another type is not a group
    pgas::fence(ctx_, g...);
    pgas::fence(ctx_, g..., right);
    pgas::quiet(ctx_, g...);
    pgas::quiet(ctx_, g..., right);
    pgas::quiet(ctx_, g..., pes, 2u);
    pgas::sync(ctx_, g...);
    pgas::sync(ctx_, g..., team);
    pgas::barrier_arrive(ctx_, g..., team);
    pgas::barrier_wait(ctx_, g..., team);
    pgas::fence(ctx_, g..., to_right_);
    pgas::quiet(ctx_, g..., to_right_);
    const pgas::context general = ctx_;
    expect((pgas::translate_pe(team, right_, general.domain()) >= 0) == ctx_.reaches(right_));
    pgas::barrier(ctx_, g..., team);
  }

  const Context& ctx_;
  workplace& here_;
  int me_;
  int n_pes_;
  int right_;
  int left_;
  typename name_of<Context, Naming>::type to_right_;
  int checks_ = 0;
  int failed_ = 0;
};

/// Runs every_operation with a deduced `Group...`.
template <naming Naming = naming::number, class Context, class... Group>
PGAS_FN int do_every_operation(const Context& ctx, workplace& here, const Group&... g) {
  return every_operation<Context, Naming, Group...>::run(ctx, here, g...);
}

}  // namespace pgas_test
