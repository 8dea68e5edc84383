// Calls that would wait for a value that no PE sends, or send a value that no PE receives. The calls concern this PE's
// own value in a collective: an ll_team_channel to all members receives the value as a message, but an ll_team_channel
// to the other members gets the value as an argument. Calls that confuse the two channels must not compile. CALL
// selects the call; calls whose number ends in 0 are correct and compile.
#include <pgas/device.hpp>

using pgas::ll_to;

template <class All, class Others>
PGAS_FN float call(const pgas::context& ctx, All& all, Others& others, float own) {
  const auto ignore = [](int, float) {};
  static_cast<void>(ignore);
  static_cast<void>(all);
  static_cast<void>(others);
#if CALL == 10
  pgas::broadcast_to_others(ctx, others, own);
  pgas::receive_each(ctx, others, own, ignore);
  return pgas::receive(ctx, others, 0, own) + pgas::receive_reduce(ctx, others, own, pgas::op::sum{});
#elif CALL == 11
  return pgas::receive_reduce(ctx, others, pgas::op::sum{});
#elif CALL == 12
  return pgas::receive(ctx, others, 0);
#elif CALL == 13
  pgas::receive_each(ctx, others, ignore);
#elif CALL == 14
  pgas::broadcast(ctx, others, own);
#elif CALL == 15
  pgas::send_each(ctx, others, [own](int) { return own; });
#elif CALL == 20
  pgas::broadcast(ctx, all, own);
  pgas::receive_each(ctx, all, ignore);
  return pgas::receive(ctx, all, 0) + pgas::receive_reduce(ctx, all, pgas::op::sum{});
#elif CALL == 21
  pgas::broadcast_to_others(ctx, all, own);
#elif CALL == 22
  return pgas::receive_reduce(ctx, all, own, pgas::op::sum{});
#elif CALL == 23
  pgas::receive_each(ctx, all, own, ignore);
#endif
  return own;
}

float call_once(const pgas::context& ctx, pgas::packet_line* box, float own);
float call_once(const pgas::context& ctx, pgas::packet_line* box, float own) {
  pgas::ll_team_channel<float> all(ctx, ctx.team(), box);
  pgas::ll_team_channel<float, ll_to::others> others(ctx, ctx.team(), box);
  return call(ctx, all, others, own);
}
