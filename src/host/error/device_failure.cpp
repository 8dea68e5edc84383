#include "host/error/device_failure.hpp"

#include <fmt/format.h>

#include "pgas/signal_types.hpp"

namespace pgas::detail {

const char* name_of(operation what) {
  switch (what) {
    case operation::none: break;
    case operation::put: return "put";
    case operation::get: return "get";
    case operation::p: return "p";
    case operation::g: return "g";
    case operation::put_signal: return "put_signal";
    case operation::signal: return "signal";
    case operation::atomic: return "atomic";
    case operation::wait: return "wait_until";
    case operation::barrier: return "barrier";
    case operation::sync: return "sync";
    case operation::iput: return "iput";
    case operation::iget: return "iget";
    case operation::broadcast: return "broadcast";
    case operation::fcollect: return "fcollect";
    case operation::collect: return "collect";
    case operation::alltoall: return "alltoall";
    case operation::alltoalls: return "alltoalls";
    case operation::reduce: return "reduce";
    case operation::reduce_scatter: return "reduce_scatter";
    case operation::scan: return "scan";
    case operation::lock: return "a lock operation";
    case operation::fence: return "fence";
    case operation::quiet: return "quiet";
    case operation::send: return "send";
    case operation::receive: return "receive";
    case operation::grid_sync: return "a grid barrier";
    case operation::bulk_copy: return "a copy by a bulk_copier or to an mbarrier";
    case operation::atomic_fetch: return "atomic_fetch";
    case operation::atomic_set: return "atomic_set";
    case operation::atomic_add: return "atomic_add";
    case operation::atomic_and: return "atomic_and";
    case operation::atomic_or: return "atomic_or";
    case operation::atomic_xor: return "atomic_xor";
    case operation::atomic_min: return "atomic_min";
    case operation::atomic_max: return "atomic_max";
    case operation::atomic_swap: return "atomic_swap";
    case operation::atomic_compare_swap: return "atomic_compare_swap";
    case operation::atomic_fetch_add: return "atomic_fetch_add";
    case operation::atomic_fetch_and: return "atomic_fetch_and";
    case operation::atomic_fetch_or: return "atomic_fetch_or";
    case operation::atomic_fetch_xor: return "atomic_fetch_xor";
    case operation::atomic_fetch_min: return "atomic_fetch_min";
    case operation::atomic_fetch_max: return "atomic_fetch_max";
  }
  return "operation";
}

std::string_view symbol_of(std::int32_t compare) {
  switch (static_cast<cmp>(compare)) {
    case cmp::eq: return "==";
    case cmp::ne: return "!=";
    case cmp::gt: return ">";
    case cmp::le: return "<=";
    case cmp::lt: return "<";
    case cmp::ge: return ">=";
  }
  return "?";
}

error describe(const failure_record& record, int my_pe, const config& settings) {
  const std::string where = fmt::format("{} by block {} thread {} of a kernel on PE {}", name_of(record.what),
                                        record.block, record.thread, my_pe);
  const bool names_word =
      record.what != operation::grid_sync && record.what != operation::lock && record.what != operation::bulk_copy;
  const std::string wait =
      names_word ? fmt::format("the word at heap offset {:#x}{} did not become {} {}; its last value is {}",
                               record.heap_offset, record.pe >= 0 ? fmt::format(", written by PE {},", record.pe) : "",
                               symbol_of(record.compare), record.expected, record.seen)
      : record.what == operation::grid_sync ? "not all blocks of the grid arrived"
      : record.what == operation::bulk_copy ? "the copier's or the mbarrier's shared memory was written to by other "
                                              "code, two threads used one copier, or the "
                                              "mbarrier awaits other bytes than gets bring"
      : record.what == operation::lock
          ? fmt::format("the lock at heap offset {:#x} was not passed on{}", record.heap_offset,
                        record.pe == my_pe ? ", another thread of this PE holds it"
                        : record.pe >= 0   ? fmt::format(", PE {} is ahead in the queue", record.pe)
                                           : "")
          : "";
  switch (record.why) {
    case failure::none:
    case failure::asked: break;
    case failure::aborted:
      return {code::aborted, fmt::format("{} ended because the world has failed: {}", where, wait), record.pe};
    case failure::timed_out:
      return {
          code::wait_timeout,
          fmt::format("{} gave up after {}: {}{}", where,
                      record.limit_ms != 0 ? fmt::format("{} ms", record.limit_ms)
                                           : fmt::format("{} ms (PGAS_WAIT_TIMEOUT)", settings.wait_timeout.count()),
                      wait, names_word ? ". Look for the PE that should have written it, or raise the limit" : ""),
          record.pe};
    case failure::pe_out_of_range:
      return {code::pe_out_of_range, fmt::format("{}: PE {} does not exist", where, record.pe), record.pe};
    case failure::outside_heap:
      return {
          code::outside_heap,
          fmt::format("{}: {} bytes at heap offset {:#x} are not inside the symmetric memory of this PE: pass memory "
                      "that was allocated in the symmetric heap, and a count that fits it",
                      where, record.bytes, record.heap_offset),
          record.pe};
    case failure::misaligned:
      return {code::misaligned,
              fmt::format("{}: heap offset {:#x} is not a multiple of the {} bytes accessed", where, record.heap_offset,
                          record.bytes),
              record.pe};
    case failure::not_a_member:
      return {code::invalid_argument,
              fmt::format(
                  "{}: this PE is not a member of the team: call it on members only (my_pe() of the team's view is -1 "
                  "on others)",
                  where),
              record.pe};
    case failure::bad_channel:
      return {
          code::invalid_argument,
          fmt::format("{}: the team has no channel {}: use 0 to n_channels() - 1, or make a team with more channels",
                      where, static_cast<std::int64_t>(record.bytes)),
          record.pe};
    case failure::asymmetric:
      return {code::asymmetric_call,
              fmt::format(
                  "{}: PE {} called another collective of the same team and channel, or with other sizes: all members "
                  "must make the same calls in the same order",
                  where, record.pe),
              record.pe};
    case failure::not_held:
      return {
          code::invalid_argument,
          fmt::format("{}: this PE does not hold the lock at heap offset {:#x}: only the PE that set it may clear it",
                      where, record.heap_offset),
          record.pe};
    case failure::too_long:
      return {
          code::invalid_argument,
          fmt::format(
              "{}: a message of {} bytes to or from PE {} is longer than its packet_channel, which has room for {}: "
              "allocate packet_lines() for the longest message, on both PEs",
              where, record.bytes, record.pe, record.expected),
          record.pe};
    case failure::no_such_value:
      return {code::invalid_argument,
              fmt::format("{}: there is no such pgas::cmp or pgas::signal_op, or the values to compare with are null",
                          where),
              record.pe};
    case failure::not_direct:
      return {
          code::invalid_argument,
          fmt::format("{}: PE {} is proxied, and kernels of this language have only loads and stores: use a team of "
                      "direct PEs (the domain), operations of the host, or a kernel that calls the device headers",
                      where, record.pe),
          record.pe};
    case failure::out_of_turn:
      return {
          code::invalid_argument,
          fmt::format("{}: message {} of a channel with PE {} is too early, because only {} went the other way: each "
                      "side must receive one message for each message that it sends, an empty one if necessary",
                      where, record.expected, record.pe, record.seen),
          record.pe};
    case failure::not_received:
      return {code::invalid_argument,
              fmt::format("{}: round {} of the ll_team_channel whose box is at heap offset {:#x} begins before this "
                          "thread has received round {} from {}: a program that counts rounds (ll_rounds) must receive "
                          "a round from all other members before the next round",
                          where, record.expected, record.heap_offset, record.seen,
                          record.pe >= 0 ? fmt::format("PE {}", record.pe) : "all members"),
              record.pe};
  }
  return {code::device_failed, fmt::format("{} failed for an unknown reason", where), record.pe};
}

}  // namespace pgas::detail
