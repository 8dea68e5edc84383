/// @file
/// The part of every_operation in which each thread uses an ll_channel and an ll_team_channel.
#pragma once

#include <pgas/device.hpp>

namespace pgas_test {

/// Whether this thread receives the values that its neighbours and all PEs send.
/// @param to_left, to_right the neighbours, as numbers or peers
template <class Context, class Workplace, class Left, class Right, class... Group>
PGAS_FN bool do_every_ll_operation(const Context& ctx, Workplace& here, int left_pe, Left to_left, int right_pe,
                                   Right to_right, const Group&... g) {
  const int me = ctx.my_pe();
  const int n_pes = ctx.n_pes();
  pgas::ll_channel<double> left(ctx, g..., here.boxes[0], here.boxes[1], to_left);
  pgas::ll_channel<double> right(ctx, g..., here.boxes[1], here.boxes[0], to_right);
  pgas::send(ctx, left, me);
  pgas::send(ctx, right, me + 0.5);
  bool good = pgas::receive(ctx, left) == left_pe + 0.5;
  good = pgas::receive(ctx, right) == right_pe && good;
  int sum = 0;
  {
    pgas::ll_team_channel<int> all(ctx, g..., ctx.team(), here.boxes[2]);
    pgas::broadcast(ctx, all, me + 1);
    sum = pgas::receive_reduce(ctx, all, pgas::op::sum{});
    pgas::send_each(ctx, all, [me](int pe) { return 100 * me + pe; });
    good = pgas::receive(ctx, all, right_pe) == 100 * right_pe + me && good;
    pgas::broadcast(ctx, all, me);
    pgas::receive_each(ctx, all, [&good](int pe, int value) { good = value == pe && good; });
  }
  pgas::ll_team_channel<int, pgas::ll_to::others> others(ctx, g..., ctx.team(), here.boxes[2]);
  pgas::broadcast_to_others(ctx, others, me + 1);
  good = pgas::receive_reduce(ctx, others, me + 1, pgas::op::sum{}) == sum && good;
  pgas::broadcast_to_others(ctx, others, me);
  good = pgas::receive(ctx, others, right_pe, me) == right_pe && good;
  good = pgas::receive(ctx, others, me, me) == me && good;
  pgas::broadcast_to_others(ctx, others, me);
  pgas::receive_each(ctx, others, me, [&good](int pe, int value) { good = value == pe && good; });
  return good && 2 * sum == n_pes * (n_pes + 1);
}

}  // namespace pgas_test
