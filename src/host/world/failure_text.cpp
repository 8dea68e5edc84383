#include "host/world/failure_text.hpp"

#include <fmt/format.h>

#include "pgas/types.hpp"

namespace pgas::detail {

namespace {

std::string_view name(operation what) {
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
  }
  return "operation";
}

std::string_view symbol(std::int32_t compare) {
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

}  // namespace

error describe(const failure_record& record, int my_pe, const config& settings) {
  const std::string where = fmt::format("{} by block {} thread {} of a kernel on PE {}", name(record.what), record.block,
                                        record.thread, my_pe);
  const bool names_word = record.what == operation::wait || record.what == operation::barrier || record.what == operation::sync;
  const std::string wait =
      names_word ? fmt::format("the word at heap offset {:#x}{} had to become {} {} and was last seen as {}", record.heap_offset,
                               record.pe >= 0 ? fmt::format(", written by PE {},", record.pe) : "", symbol(record.compare),
                               record.expected, record.seen)
                 : "";
  switch (record.why) {
    case failure::none: break;
    case failure::aborted:
      return {code::aborted, fmt::format("{} was ended because the world has failed: {}", where, wait), record.pe};
    case failure::timed_out:
      return {code::wait_timeout,
              fmt::format("{} gave up after {} ms (PGAS_WAIT_TIMEOUT): {}. Look for the PE that should have written it, or "
                          "raise the limit",
                          where, settings.wait_timeout.count(), wait),
              record.pe};
    case failure::pe_out_of_range:
      return {code::pe_out_of_range, fmt::format("{}: PE {} does not exist", where, record.pe), record.pe};
    case failure::outside_heap:
      return {code::outside_heap,
              fmt::format("{}: {} bytes at heap offset {:#x} are not inside the symmetric memory of this PE: pass an address "
                          "from allocate(), and a count that fits the allocation",
                          where, record.bytes, record.heap_offset),
              record.pe};
    case failure::misaligned:
      return {code::misaligned,
              fmt::format("{}: heap offset {:#x} is not a multiple of the {} bytes accessed", where, record.heap_offset, record.bytes),
              record.pe};
  }
  return {code::device_failed, fmt::format("{} failed for an unknown reason", where), record.pe};
}

}  // namespace pgas::detail
