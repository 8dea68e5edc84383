// Prints python/pgas/_struct_offsets.py: the offsets in structs that the library shares with kernels written in Python.
// The test python.layout compares the file. After a change of a struct, update it by `build/cpu/bin/pgas_python_layout
// > python/pgas/_struct_offsets.py`.
#include <cstddef>
#include <cstdio>

#include "pgas/device/barrier.hpp"
#include "pgas/device/context.hpp"

namespace {

using namespace pgas;
using namespace pgas::detail;

constexpr const char* head =
    R"("""Offsets of fields in the structs that kernels read, and numbers that they write; bytes from the start of each struct.

Printed by tests/python/kernels/layout.cpp from the library's own headers, and compared with them by a test: do not edit.
"""

)";

void print(const char* name, std::size_t value) { std::printf("%s = %zu\n", name, value); }
void print_hex(const char* name, std::size_t value) { std::printf("%s = %#zx\n", name, value); }
template <class Enum>
void print_value(const char* name, Enum value) {
  print(name, static_cast<std::size_t>(value));
}

void print_context() {
  std::puts("# pgas::context");
  print_hex("ABI", std::size_t{abi_version} << 16 | sizeof(context));
  print("CONTEXT_BYTES", sizeof(context));
  print("CONTEXT_ABI", offsetof(context, abi_));
  print("CONTEXT_WORLD_PE", offsetof(context, world_pe_));
  print("CONTEXT_N_WORLD", offsetof(context, n_world_));
  print("CONTEXT_BIAS", offsetof(context, bias_));
  print("CONTEXT_LOG2_STRIDE", offsetof(context, log2_stride_));
  print("CONTEXT_FLAGS", offsetof(context, flags_));
  print("CONTEXT_MY_SLOT", offsetof(context, my_slot_));
  print("CONTEXT_CONTROL", offsetof(context, control_));
  print("CONTEXT_ROUTES", offsetof(context, routes_));
  constexpr std::size_t team = offsetof(context, team_);
  print("TEAM_START", team + offsetof(team_view, start_));
  print("TEAM_STRIDE", team + offsetof(team_view, stride_));
  print("TEAM_N_PES", team + offsetof(team_view, n_pes_));
  print("TEAM_MY_PE", team + offsetof(team_view, my_pe_));
  print("TEAM_N_CHANNELS", team + offsetof(team_view, n_channels_));
  print("TEAM_STATE_OFFSET", team + offsetof(team_view, state_offset_));
  print("TEAM_MEMBERS", team + offsetof(team_view, members_));
  std::puts("\n# detail::slow_path: bits of the flags");
  print("FLAG_CHECKS", slow_path::checks);
  print("FLAG_LIST", slow_path::list);
  print("FLAG_PROXY", slow_path::proxy);
  std::puts("\n# detail::routes, and the number in its table that no distance has");
  print("ROUTES_SLOTS", offsetof(routes, slots));
  std::printf("ROUTES_PROXIED = %d\n", routes::proxied);
}

void print_state() {
  std::puts("\n# detail::team_state_layout: the state of a team in each member's slot");
  print("MEMBER_BYTES", team_state_layout::member_bytes);
  print("MEMBER_WAITED", offsetof(member_words, waited));
  print("CHANNEL_BYTES_OF_MEMBER", team_state_layout::domain(1));
  print("CHANNEL_BYTES_BESIDES", sizeof(domain_words));
  print("CHANNEL_LINE", team_state_layout::line);
  print("FAILURE_CLAIM", internal_area::failure_claim);
}

void print_control() {
  std::puts("\n# detail::control_block, and its failure_record");
  print("CONTROL_ABORT", offsetof(control_block, abort));
  print("CONTROL_WAIT_TIMEOUT_NS", offsetof(control_block, wait_timeout_ns));
  print("CONTROL_RECORD", offsetof(control_block, record));
  print("RECORD_COMPLETE", offsetof(failure_record, complete));
  print("RECORD_WHY", offsetof(failure_record, why));
  print("RECORD_WHAT", offsetof(failure_record, what));
  print("RECORD_PE", offsetof(failure_record, pe));
  print("RECORD_HEAP_OFFSET", offsetof(failure_record, heap_offset));
  print("RECORD_BYTES", offsetof(failure_record, bytes));
  print("RECORD_EXPECTED", offsetof(failure_record, expected));
  print("RECORD_SEEN", offsetof(failure_record, seen));
  print("RECORD_COMPARE", offsetof(failure_record, compare));
  print("RECORD_BLOCK", offsetof(failure_record, block));
  print("RECORD_THREAD", offsetof(failure_record, thread));
  print("RECORD_SIZE", sizeof(failure_record));
}

}  // namespace

int main() {
  std::fputs(head, stdout);
  print_context();
  print_state();
  print_control();
  std::puts("\n# detail::failure");
  print_value("FAILURE_ABORTED", failure::aborted);
  print_value("FAILURE_TIMED_OUT", failure::timed_out);
  print_value("FAILURE_NOT_DIRECT", failure::not_direct);
  std::puts("\n# detail::operation");
  print_value("OPERATION_PUT", operation::put);
  print_value("OPERATION_WAIT", operation::wait);
  print_value("OPERATION_BARRIER", operation::barrier);
  std::puts("\n# pgas::cmp and pgas::signal_op");
  print_value("CMP_EQ", cmp::eq);
  print_value("CMP_NE", cmp::ne);
  print_value("CMP_GT", cmp::gt);
  print_value("CMP_LE", cmp::le);
  print_value("CMP_LT", cmp::lt);
  print_value("CMP_GE", cmp::ge);
  print_value("SIGNAL_SET", signal_op::set);
  print_value("SIGNAL_ADD", signal_op::add);
}
