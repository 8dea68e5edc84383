#include "describe_instruction.hpp"

namespace pgas_random {

namespace {

const char* name_of(opcode what) {
  switch (what) {
    case opcode::p: return "p";
    case opcode::g: return "g";
    case opcode::put: return "put";
    case opcode::put_nbi: return "put_nbi";
    case opcode::get: return "get";
    case opcode::get_nbi: return "get_nbi";
    case opcode::put_signal: return "put_signal";
    case opcode::put_signal_nbi: return "put_signal_nbi";
    case opcode::signal_set: return "signal_set";
    case opcode::signal_add: return "signal_add";
    case opcode::signal_fetch: return "signal_fetch";
    case opcode::wait: return "wait_until";
    case opcode::wait_all: return "wait_until_all";
    case opcode::wait_any: return "wait_until_any";
    case opcode::wait_some: return "wait_until_some";
    case opcode::wait_all_vector: return "wait_until_all with a value for each word";
    case opcode::wait_any_vector: return "wait_until_any with a value for each word";
    case opcode::wait_some_vector: return "wait_until_some with a value for each word";
    case opcode::atomic_fetch: return "atomic_fetch";
    case opcode::atomic_set: return "atomic_set";
    case opcode::atomic_swap: return "atomic_swap";
    case opcode::atomic_compare_swap: return "atomic_compare_swap";
    case opcode::atomic_add: return "atomic_add";
    case opcode::atomic_fetch_add: return "atomic_fetch_add";
    case opcode::atomic_inc: return "atomic_inc";
    case opcode::atomic_fetch_inc: return "atomic_fetch_inc";
    case opcode::atomic_and: return "atomic_and";
    case opcode::atomic_fetch_and: return "atomic_fetch_and";
    case opcode::atomic_or: return "atomic_or";
    case opcode::atomic_fetch_or: return "atomic_fetch_or";
    case opcode::atomic_xor: return "atomic_xor";
    case opcode::atomic_fetch_xor: return "atomic_fetch_xor";
    case opcode::iput: return "iput";
    case opcode::iput_nbi: return "iput_nbi";
    case opcode::iget: return "iget";
    case opcode::iget_nbi: return "iget_nbi";
    case opcode::ibput: return "ibput";
    case opcode::ibput_nbi: return "ibput_nbi";
    case opcode::ibget: return "ibget";
    case opcode::ibget_nbi: return "ibget_nbi";
    case opcode::put_list: return "put_list";
    case opcode::put_list_nbi: return "put_list_nbi";
    case opcode::get_list: return "get_list";
    case opcode::get_list_nbi: return "get_list_nbi";
    case opcode::atomic_min: return "atomic_min";
    case opcode::atomic_fetch_min: return "atomic_fetch_min";
    case opcode::atomic_max: return "atomic_max";
    case opcode::atomic_fetch_max: return "atomic_fetch_max";
    case opcode::broadcast: return "broadcast";
    case opcode::fcollect: return "fcollect";
    case opcode::collect: return "collect";
    case opcode::alltoall: return "alltoall";
    case opcode::alltoalls: return "alltoalls";
    case opcode::reduce: return "reduce";
    case opcode::reduce_to_root: return "reduce_to_root";
    case opcode::reduce_scatter: return "reduce_scatter";
    case opcode::inclusive_scan: return "inclusive_scan";
    case opcode::exclusive_scan: return "exclusive_scan";
    case opcode::set_lock: return "set_lock and add";
    case opcode::test_lock: return "test_lock and add";
    case opcode::fence: return "fence";
    case opcode::quiet: return "quiet";
    case opcode::barrier: return "barrier";
    case opcode::sync: return "sync";
    case opcode::fill: return "fill";
  }
  return "?";
}

const char* name_of(caller by) {
  return by == caller::thread ? "thread" : by == caller::warp ? "warp" : by == caller::block ? "block" : "grid";
}

}  // namespace

std::string text_of(const instruction& i) {
  std::string text = std::string(name_of(i.what)) + " by " + name_of(i.by) + ", team " + std::to_string(i.team);
  const auto add = [&](const char* name, std::uint64_t value) {
    text += std::string(", ") + name + " " + std::to_string(value);
  };
  add("pe", static_cast<std::uint64_t>(i.pe));
  add("element bytes", bytes_of(i.type));
  add("count", i.count);
  add("dst", i.dst);
  add("src", i.src);
  if (i.dst_stride != 0) text += ", strides " + std::to_string(i.dst_stride) + " and " + std::to_string(i.src_stride);
  add("signal", i.signal);
  add("value", i.value);
  if (i.result != nowhere) add("result", i.result);
  return text;
}

}  // namespace pgas_random
