// The expected code for messages of channels. Each kernel has expectations for check.py in the comment above it, as in
// kernels.cu.
#include "any_context.cuh"

extern "C" {

// A message of a channel: one inlined store of data and number, and one inlined poll. Out-of-line code handles four
// packets at once. There is no fence.
//  ptx  1   st\.relaxed\.sys\.global\.v2\.u64
//  ptx  1   ld\.relaxed\.sys\.global\.v2\.u64
//  callee send_packets    4  st\.relaxed\.sys\.global\.v2\.u64
//  callee receive_packets 4  ld\.relaxed\.sys\.global\.v2\.u64
//  ptx  0   atom\.|red\.relaxed|fence|membar
//  registers 80
__global__ void exchange_messages(any_context ctx, packet_line* box, double* dst, const double* src, std::size_t n,
                                  int pe) {
  const context direct = ctx;
  packet_channel channel(direct, this_block(), box, box, 4096, pe);
  send(direct, this_block(), channel, src, n);
  receive(direct, this_block(), channel, dst, n);
}

// The value of a register: one store of the value and its number, and one poll. There is no load of data, no fence, and
// no sync of the group except when the channel is opened. The channel's progress is read and written once.
//  ptx  1   st\.relaxed\.sys\.global\.v2\.u64
//  ptx  1   ld\.relaxed\.sys\.global\.v2\.u64
//  ptx  1   ld\.relaxed\.sys\.global\.u64
//  ptx  1   st\.relaxed\.sys\.global\.u64
//  ptx  1   bar\.
//  ptx  0   atom\.|red\.|fence|membar
//  size 105
//  general 265
//  registers 64
//  stack 192
__global__ void exchange_values(any_context ctx, packet_line* box, double* values, int pe) {
  ll_channel<double> channel(ctx, this_warp(this_block()), box, box, pe);
  send(ctx, channel, values[threadIdx.x]);
  values[threadIdx.x] = receive(ctx, channel);
}

// A round trip, which takes 84 instructions if written by hand.
//  size 140
//  general 310
//  stack 192
__global__ void ping_pong_values(any_context ctx, packet_line* box, double* values, int pe, int rounds) {
  ll_channel<double> channel(ctx, this_warp(this_block()), box, box, pe);
  double value = values[threadIdx.x];
  const bool first = ctx.my_pe() == 0;
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
    if (first) send(ctx, channel, value);
    value = receive(ctx, channel);
    if (!first) send(ctx, channel, value);
  }
  values[threadIdx.x] = value;
}

// Values to all members and from all members: polls of four members at the same time, and of one member.
//  ptx  1   st\.relaxed\.sys\.global\.v2\.u64
//  ptx  6   ld\.relaxed\.sys\.global\.v2\.u64
//  ptx  0   atom\.|red\.|fence|membar
//  size 255
//  general 435
//  stack 192
__global__ void reduce_values(any_context ctx, packet_line* box, double* values) {
  ll_team_channel<double> channel(ctx, this_warp(this_block()), context(ctx).team(), box);
  broadcast(ctx, channel, values[threadIdx.x]);
  values[threadIdx.x] = receive_reduce(ctx, channel, op::sum{});
}

}  // extern "C"
