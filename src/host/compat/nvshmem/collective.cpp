// Collectives that the host calls or enqueues.
#include "pgas/collective.hpp"

#include <algorithm>

#include "host/compat/nvshmem/shared_declarations.hpp"

namespace pgas::compat {

namespace {

using detail::collective_kind;
using detail::number_type;

void synchronize(const team& members, const stream* on, collective what) {
  if (what == collective::barrier)
    on != nullptr ? barrier(members, *on) : barrier(members);
  else
    on != nullptr ? sync(members, *on) : sync(members);
}

collective_kind kind_of(collective what) {
  switch (what) {
    case collective::barrier: return collective_kind::barrier;
    case collective::sync: return collective_kind::sync;
    case collective::broadcast: return collective_kind::broadcast;
    case collective::fcollect: return collective_kind::fcollect;
    case collective::alltoall: return collective_kind::alltoall;
    case collective::reduce: return collective_kind::reduce;
    case collective::reduce_scatter: return collective_kind::reduce_scatter;
  }
  throw error(code::invalid_argument, "an unknown collective");
}

detail::reduction operation_of(compat::reduction op) {
  using from = compat::reduction;
  using to = detail::reduction;
  switch (op) {
    case from::sum: return to::sum;
    case from::prod: return to::prod;
    case from::min: return to::min;
    case from::max: return to::max;
    case from::bit_and: return to::bit_and;
    case from::bit_or: return to::bit_or;
    case from::bit_xor: return to::bit_xor;
  }
  throw error(code::invalid_argument, "an unknown reduction");
}

/// Whether an integer type is signed is relevant only for min and max.
number_type number_of(number type, compat::reduction op) {
  const bool with_sign = op == compat::reduction::min || op == compat::reduction::max;
  switch (type) {
    case number::i8: return with_sign ? number_type::i8 : number_type::u8;
    case number::u8: return number_type::u8;
    case number::i16: return with_sign ? number_type::i16 : number_type::u16;
    case number::u16: return number_type::u16;
    case number::i32: return with_sign ? number_type::i32 : number_type::u32;
    case number::u32: return number_type::u32;
    case number::i64: return with_sign ? number_type::i64 : number_type::u64;
    case number::u64: return number_type::u64;
    case number::f16: return number_type::f16;
    case number::bf16: return number_type::bf16;
    case number::f32: return number_type::f32;
    case number::f64: return number_type::f64;
  }
  throw error(code::invalid_argument, "an unknown type");
}

bool is_float(number type) {
  return type == number::f16 || type == number::bf16 || type == number::f32 || type == number::f64;
}

detail::collective_request request_of(const compat::collective_call& call) {
  detail::collective_request request;
  request.what = kind_of(call.what);
  request.alignment = static_cast<std::uint8_t>(std::clamp<std::size_t>(call.element_bytes, 1, 8));
  request.element_bytes = call.element_bytes;
  request.count = call.count;
  request.root = call.root;
  request.dst = call.dst;
  request.src = call.src;
  if (call.what == collective::reduce || call.what == collective::reduce_scatter) {
    const bool bitwise = call.op == compat::reduction::bit_and || call.op == compat::reduction::bit_or ||
                         call.op == compat::reduction::bit_xor;
    if (bitwise && is_float(call.type)) throw error(code::invalid_argument, "and, or and xor are for integers");
    request.op = operation_of(call.op);
    request.type = number_of(call.type, call.op);
  }
  return request;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int pgas_nvshmem_collective(compat::when when, const compat::collective_call* asked) {
  return to_nvshmemx_status(when.function, [&] {
    host_call here(when);
    const team& members = runtime::instance().team(asked->team);
    if (here.on() == nullptr) wait_for_default_stream(here.world());
    if (asked->what == collective::barrier || asked->what == collective::sync)
      synchronize(members, here.on(), asked->what);
    else
      detail::run_collective(members, here.on(), request_of(*asked));
  });
}

void pgas_nvshmem_barrier_all(compat::when when, collective what) {
  or_global_exit(when.function, [&] {
    host_call here(when);
    if (here.on() == nullptr) wait_for_default_stream(here.world());
    synchronize(here.world().team(), here.on(), what);
  });
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace pgas::compat
