// A call that may wait, by a group that cannot vote: cooperative_groups::grid_group, and a similar group on the CPU.
// The call does not compile, because if one thread's wait failed, the others would stay in the group's sync() forever.
// CALL selects the call.
#if defined(__CUDACC__)
#include <cooperative_groups.h>
using voteless = cooperative_groups::grid_group;
#else
struct voteless {
  static unsigned thread_rank() { return 0; }
  static unsigned size() { return 1; }
  static void sync() {}
};
#endif

#include <pgas/device.hpp>

using pgas::cmp;

/// A template, so that only the selected call is instantiated.
template <class G>
struct calls {
  const pgas::context& ctx;
  pgas::signal_t* word;
  const G& g;

  PGAS_FN void wait_until() const { pgas::wait_until(ctx, g, word, cmp::eq, 1); }
  PGAS_FN void wait_until_all() const { pgas::wait_until_all(ctx, g, word, 1, nullptr, cmp::eq, 1); }
  PGAS_FN void wait_until_any() const { pgas::wait_until_any(ctx, g, word, 1, nullptr, cmp::eq, 1); }
  PGAS_FN bool test() const { return pgas::test(ctx, g, word, cmp::eq, 1); }
  PGAS_FN void barrier() const { pgas::barrier(ctx, g); }
  PGAS_FN void sync() const { pgas::sync(ctx, g); }
  PGAS_FN void quiet() const { pgas::quiet(ctx, g); }
  PGAS_FN void put() const { pgas::put(ctx, g, word, word + 1, 1, 0); }
  PGAS_FN void set_lock() const { pgas::set_lock(ctx, g, word); }
  PGAS_FN void broadcast() const { pgas::broadcast(ctx, g, ctx.world(), word, word + 1, 1, 0); }
};

PGAS_FN void call(const pgas::context& ctx, pgas::signal_t* word, const voteless& g) {
  calls<voteless>{ctx, word, g}.CALL();
}
