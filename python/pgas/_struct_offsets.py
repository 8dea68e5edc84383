"""Offsets of fields in the structs that kernels read, and numbers that they write; bytes from the start of each struct.

Printed by tests/python/kernels/layout.cpp from the library's own headers, and compared with them by a test: do not edit.
"""

# pgas::context
ABI = 0xe0068
CONTEXT_BYTES = 104
CONTEXT_ABI = 0
CONTEXT_WORLD_PE = 4
CONTEXT_N_WORLD = 8
CONTEXT_BIAS = 12
CONTEXT_LOG2_STRIDE = 16
CONTEXT_FLAGS = 20
CONTEXT_MY_SLOT = 24
CONTEXT_CONTROL = 32
CONTEXT_ROUTES = 40
TEAM_START = 48
TEAM_STRIDE = 52
TEAM_N_PES = 56
TEAM_MY_PE = 60
TEAM_N_CHANNELS = 64
TEAM_STATE_OFFSET = 72
TEAM_MEMBERS = 88

# detail::slow_path: bits of the flags
FLAG_CHECKS = 1
FLAG_LIST = 2
FLAG_PROXY = 4

# detail::routes, and the number in its table that no distance has
ROUTES_SLOTS = 0
ROUTES_PROXIED = -2147483648

# detail::team_state_layout: the state of a team in each member's slot
MEMBER_BYTES = 16
MEMBER_WAITED = 8
CHANNEL_BYTES_OF_MEMBER = 32
CHANNEL_BYTES_BESIDES = 32
CHANNEL_LINE = 128
FAILURE_CLAIM = 0

# detail::control_block, and its failure_record
CONTROL_ABORT = 0
CONTROL_WAIT_TIMEOUT_NS = 16
CONTROL_RECORD = 128
RECORD_COMPLETE = 0
RECORD_WHY = 4
RECORD_WHAT = 8
RECORD_PE = 12
RECORD_HEAP_OFFSET = 16
RECORD_BYTES = 24
RECORD_EXPECTED = 32
RECORD_SEEN = 40
RECORD_COMPARE = 48
RECORD_BLOCK = 52
RECORD_THREAD = 56
RECORD_SIZE = 64

# detail::failure
FAILURE_ABORTED = 1
FAILURE_TIMED_OUT = 2
FAILURE_NOT_DIRECT = 13

# detail::operation
OPERATION_PUT = 1
OPERATION_WAIT = 8
OPERATION_BARRIER = 9

# pgas::cmp and pgas::signal_op
CMP_EQ = 0
CMP_NE = 1
CMP_GT = 2
CMP_LE = 3
CMP_LT = 4
CMP_GE = 5
SIGNAL_SET = 9
SIGNAL_ADD = 10
