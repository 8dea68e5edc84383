#include "host/topology/device_descriptor.hpp"

#include <fmt/format.h>

#include <charconv>

#include "common/pack_lists.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

constexpr std::size_t n_fields = 7;

/// *Errors* bootstrap_protocol if the text is not exactly one number.
template <class T>
T number_in(const std::string& text, int pe) {
  T value{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size())
    throw error(code::bootstrap_protocol,
                fmt::format("PE {} described its device with '{}' instead of a number", pe, text), pe);
  return value;
}

}  // namespace

blob encode(const device_descriptor& info) {
  const device_properties& properties = info.properties;
  return join_fields({fmt::to_string(static_cast<int>(info.kind)), properties.name, properties.uuid,
                      fmt::to_string(properties.multiprocessors), properties.runs_processes_at_once ? "1" : "0",
                      info.refusal, info.is_misused ? "1" : "0"});
}

device_descriptor decode_device_descriptor(std::span<const std::byte> bytes, int pe) {
  const std::vector<std::string> fields = split_fields(bytes);
  if (fields.size() != n_fields)
    throw error(code::bootstrap_protocol,
                fmt::format("PE {} described its device in {} fields instead of {}", pe, fields.size(), n_fields), pe);
  device_descriptor info;
  info.kind = static_cast<heap_kind>(number_in<int>(fields[0], pe));
  info.properties.name = fields[1];
  info.properties.uuid = fields[2];
  info.properties.multiprocessors = number_in<unsigned>(fields[3], pe);
  info.properties.runs_processes_at_once = number_in<int>(fields[4], pe) != 0;
  info.refusal = fields[5];
  info.is_misused = number_in<int>(fields[6], pe) != 0;
  return info;
}

}  // namespace pgas::detail
