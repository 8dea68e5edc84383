"""PTX for operations that Triton's language does not have: loads that poll, bounded waits, failure records, and the end
of a thread.

Each function returns the text of one block of inline assembly. `$0` is an unused result; the following numbers are the
operands. All threads of a program (a CTA) execute the block. Labels and registers are local to the braces of the block.
The functions are translations of C++ in `pgas/device/impl/sync/`: `wait.hpp`, `failure_report.hpp` and `barrier.hpp`.

The threads of a program vote at the end of a wait, by `bar.red.or`, which also orders memory among the threads as
`bar.sync` does. If a wait of one thread has failed, all threads end by `exit`, as if the kernel had returned. The code
uses no trap instruction, so the GPU's context stays valid.
"""

from pgas import _struct_offsets as at

# A wait checks the abort word and the clock only every 0.6 ms, because each check reads host memory.
# pgas/detail/isa/ptx_memory.hpp has the same interval.
POLLS_BETWEEN_CHECKS = 4096
RECORD_PATIENCE_NS = 100_000_000

REGISTERS = """
  .reg .pred p, lost;
  .reg .u32 tid, left, why, word, block;
  .reg .u64 deadline, now, record, claim;"""


def acquire_fence(one_sided: bool) -> str:
    """An acquire fence. One-sided fences need sm_90; on sm_90 such a fence only invalidates L1."""
    return "fence.acquire.sys;" if one_sided else "fence.acq_rel.sys;"


def leave_record(control: str, my_slot: str, what: int, pe: str, offset: str, bytes_: int, expected: str, seen: str,
                 compare: int) -> str:
    """The calling thread writes a failure_record to the control block, unless another thread has already written a
    record. The reason is in register `why`.

    Threads claim the record by a word in the heap, because few GPUs support atomic operations on host memory. At the
    end of the code the record is complete, and visible to the host.
    """
    return f"""
  add.u64 record, {control}, {at.CONTROL_RECORD};
  atom.relaxed.sys.global.cas.b32 word, [{my_slot}+{at.FAILURE_CLAIM}], 0, 1;
  setp.ne.u32 p, word, 0;
  @p bra TAKEN;
  st.global.u32 [record+{at.RECORD_WHY}], why;
  st.global.u32 [record+{at.RECORD_WHAT}], {what};
  st.global.u32 [record+{at.RECORD_PE}], {pe};
  st.global.u64 [record+{at.RECORD_HEAP_OFFSET}], {offset};
  st.global.u64 [record+{at.RECORD_BYTES}], {bytes_};
  st.global.u64 [record+{at.RECORD_EXPECTED}], {expected};
  st.global.u64 [record+{at.RECORD_SEEN}], {seen};
  st.global.u32 [record+{at.RECORD_COMPARE}], {compare};
  mov.u32 block, %ctaid.z;
  mov.u32 word, %nctaid.y;
  mul.lo.u32 block, block, word;
  mov.u32 word, %ctaid.y;
  add.u32 block, block, word;
  mov.u32 word, %nctaid.x;
  mul.lo.u32 block, block, word;
  mov.u32 word, %ctaid.x;
  add.u32 block, block, word;
  st.global.u32 [record+{at.RECORD_BLOCK}], block;
  mov.u32 tid, %tid.x;
  st.global.u32 [record+{at.RECORD_THREAD}], tid;
  fence.acq_rel.sys;
  st.relaxed.sys.global.u32 [record+{at.RECORD_COMPLETE}], 1;
  fence.sc.sys;
  bra RECORDED;
TAKEN:
  mov.u64 deadline, %globaltimer;
  add.u64 deadline, deadline, {RECORD_PATIENCE_NS};
LOOK:
  ld.relaxed.sys.global.u32 word, [record+{at.RECORD_COMPLETE}];
  setp.ne.u32 p, word, 0;
  @p bra RECORDED;
  mov.u64 now, %globaltimer;
  setp.lt.u64 p, now, deadline;
  @p bra LOOK;
RECORDED:"""


def poll(load: str, holds: str, control: str) -> str:
    """Polls until a comparison is true. Then continues at HELD. If the wait must end, continues after the block with
    the reason in `why`.

    After a reason to end the wait has been found, the code polls for another round, so that a value that has arrived in
    time is not lost.
    """
    return f"""
  mov.u32 why, 0;
  mov.u64 deadline, 0;
ROUND:
  mov.u32 left, {POLLS_BETWEEN_CHECKS};
POLL:
  {load}
  {holds}
  @p bra HELD;
  sub.u32 left, left, 1;
  setp.ne.u32 p, left, 0;
  @p bra POLL;
  setp.ne.u32 p, why, 0;
  @p bra GIVEN_UP;
  ld.relaxed.sys.global.u32 why, [{control}+{at.CONTROL_ABORT}];
  ld.relaxed.sys.global.u32 word, [{control}+{at.CONTROL_RECORD + at.RECORD_COMPLETE}];
  or.b32 word, word, why;
  setp.ne.u32 p, word, 0;
  selp.u32 why, {at.FAILURE_ABORTED}, 0, p;
  @p bra ROUND;
  mov.u64 now, %globaltimer;
  setp.ne.u64 p, deadline, 0;
  @p bra COMPARE_CLOCK;
  ld.relaxed.sys.global.u64 deadline, [{control}+{at.CONTROL_WAIT_TIMEOUT_NS}];
  setp.eq.u64 p, deadline, 0;
  add.u64 deadline, deadline, now;
  @p mov.u64 deadline, 0xffffffffffffffff;
  setp.lt.u64 p, deadline, now;
  @p mov.u64 deadline, 0xffffffffffffffff;
  bra ROUND;
COMPARE_CLOCK:
  setp.ge.u64 p, now, deadline;
  selp.u32 why, {at.FAILURE_TIMED_OUT}, 0, p;
  bra ROUND;
GIVEN_UP:"""


END_ALL_IF_LOST = """
  bar.red.or.pred lost, 0, lost;
  @lost exit;
  mov.u32 $0, 0;
"""

COMPARISONS = {at.CMP_EQ: "eq", at.CMP_NE: "ne", at.CMP_GT: "gt", at.CMP_LE: "le", at.CMP_LT: "lt", at.CMP_GE: "ge"}


def wait(compare: int, bits: int, signed: bool, one_sided: bool) -> str:
    """The first thread waits for a word. All threads continue when the comparison is true. Operands: word, value,
    control block, this PE's slot."""
    name = f"{'s' if signed else 'u'}{bits}"
    wide = "mov.b64" if bits == 64 else f"cvt.{'s' if signed else 'u'}64.{name}"
    return f"""{{{REGISTERS}
  .reg .{name} seen;
  .reg .u64 offset, wide_seen, wide_value;
  setp.ne.u32 lost, 0, 0;
  mov.u32 tid, %tid.x;
  setp.ne.u32 p, tid, 0;
  @p bra VOTE;
  {poll(f"ld.relaxed.sys.global.{name} seen, [$1];", f"setp.{COMPARISONS[compare]}.{name} p, seen, $2;", "$3")}
  setp.eq.u32 lost, 0, 0;
  sub.u64 offset, $1, $4;
  {wide} wide_seen, seen;
  {wide} wide_value, $2;
  {leave_record("$3", "$4", at.OPERATION_WAIT, "-1", "offset", bits // 8, "wide_value", "wide_seen", compare)}
  bra VOTE;
HELD:
  {acquire_fence(one_sided)}
VOTE:
  {END_ALL_IF_LOST}}}"""


def barrier(one_sided: bool) -> str:
    """A barrier of the context's team. Thread k arrives at the (k + 1)th member after this PE and waits for that
    member. Then the thread continues with further members.

    Operands: state of the team's channel in this PE's slot, control block, this PE's slot, list of members, table of
    distances (null if there is none), this member, number of members, first member's PE, distance of members, this PE,
    log2 of the slots' distance. The barrier uses the same words as the C++ barrier on the same channel, so kernels in
    both languages may alternate.
    """
    state, control, my_slot, members, table, me, n, first, step, world_pe, log2_stride = (f"${i}" for i in range(1, 12))
    member = f"""
  add.s32 i, {me}, k;
  add.s32 i, i, 1;
  setp.ge.s32 p, i, {n};
  @p sub.s32 i, i, {n};
  mad.lo.s32 there, i, {step}, {first};
  setp.ne.u64 p, {members}, 0;
  mad.wide.s32 at, i, 4, {members};
  @p ld.global.s32 there, [at];"""
    return f"""{{{REGISTERS}
  .reg .s32 k, i, others, there, slots, size;
  .reg .u64 at, mine, due, seen, offset;
  mov.u32 why, 0;
  mov.u32 tid, %tid.x;
  mov.u32 size, %ntid.x;
  sub.s32 others, {n}, 1;
  setp.ne.u32 lost, 0, 0;
  mad.wide.s32 mine, {me}, {at.MEMBER_BYTES}, {state};
  mov.b32 k, tid;
  setp.lt.s32 p, k, 32;
  setp.lt.or.s32 p, k, others, p;
  @p fence.acq_rel.sys;
ARRIVE:
  setp.ge.s32 p, k, others;
  @p bra ARRIVED;
  {member}
  sub.s32 slots, there, {world_pe};
  setp.ne.u64 p, {table}, 0;
  mad.wide.s32 at, there, 4, {table};
  @p ld.global.s32 slots, [at];
  setp.eq.s32 lost, slots, {at.ROUTES_PROXIED};
  @lost bra PROXIED;
  cvt.s64.s32 at, slots;
  shl.b64 at, at, {log2_stride};
  add.u64 at, at, mine;
  red.relaxed.sys.global.add.u64 [at], 1;
  add.s32 k, k, size;
  bra ARRIVE;
ARRIVED:
  mov.b32 k, tid;
AWAIT:
  setp.ge.s32 p, k, others;
  @p bra ALL_HERE;
  {member}
  mad.wide.s32 at, i, {at.MEMBER_BYTES}, {state};
  ld.relaxed.sys.global.u64 due, [at+{at.MEMBER_WAITED}];
  add.u64 due, due, 1;
  {poll("ld.relaxed.sys.global.u64 seen, [at];", "setp.ge.u64 p, seen, due;", control)}
  setp.eq.u32 lost, 0, 0;
  bra REPORT;
PROXIED:
  mov.u32 why, {at.FAILURE_NOT_DIRECT};
  mov.u64 at, mine;
  mov.u64 due, 0;
  mov.u64 seen, 0;
REPORT:
  sub.u64 offset, at, {my_slot};
  {leave_record(control, my_slot, at.OPERATION_BARRIER, "there", "offset", 8, "due", "seen", at.CMP_GE)}
  bra VOTE;
HELD:
  st.relaxed.sys.global.u64 [at+{at.MEMBER_WAITED}], due;
  add.s32 k, k, size;
  bra AWAIT;
ALL_HERE:
  setp.lt.s32 p, tid, others;
  @p {acquire_fence(one_sided)}
VOTE:
  {END_ALL_IF_LOST}}}"""


def refuse(what: int) -> str:
    """Ends all threads with a record, because they have addressed a proxied PE. Operands: control block, this PE's
    slot, the PE, an offset."""
    return f"""{{{REGISTERS}
  mov.u32 why, {at.FAILURE_NOT_DIRECT};
  mov.u32 tid, %tid.x;
  setp.ne.u32 p, tid, 0;
  @p exit;
  {leave_record("$1", "$2", what, "$3", "$4", 0, "0", "0", at.CMP_EQ)}
  exit;
  mov.u32 $0, 0;
}}"""


def fence(sequential: bool) -> str:
    """A fence by the first warp. With a barrier of the program before and after the fence, the fence orders the
    accesses of all threads of the program."""
    return f"""{{
  .reg .pred p;
  .reg .u32 tid;
  mov.u32 tid, %tid.x;
  setp.lt.u32 p, tid, 32;
  @p fence.{'sc' if sequential else 'acq_rel'}.sys;
  mov.u32 $0, 0;
}}"""
