#include "host/heap/handle_probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "host/heap/gather_value.hpp"
#include "host/heap/shared_segment.hpp"
#include "host/world/packet.hpp"

namespace pgas::detail {

namespace {

/// The kinds that a PE's device and settings offer, best first.
struct kind_list {
  std::array<handle_kind, 8> kinds{};  ///< automatic: none
  [[nodiscard]] bool has(handle_kind kind) const { return std::find(kinds.begin(), kinds.end(), kind) != kinds.end(); }
};

kind_list offered(const device& device, handle_kind wanted) {
  kind_list list;
  std::size_t count = 0;
  for (const handle_kind kind : device.handle_kinds())
    if ((wanted == handle_kind::automatic || kind == wanted) && count < list.kinds.size()) list.kinds[count++] = kind;
  return list;
}

}  // namespace

handle_kind probe_handle_kinds(device& device, const link_group& group, const layout& where, std::size_t probe_bytes,
                               handle_kind wanted, log::logger& log) {
  const std::vector<kind_list> lists = gather_value(group, offered(device, wanted));
  std::vector<handle_kind> candidates;
  for (const kind_list& list : lists)
    for (const handle_kind kind : list.kinds)
      if (kind != handle_kind::automatic && std::find(candidates.begin(), candidates.end(), kind) == candidates.end())
        candidates.push_back(kind);

  std::string refusals;
  const auto refuse = [&](handle_kind kind, const std::string& why) {
    refusals += fmt::format("{}{}: {}", refusals.empty() ? "" : "; ", to_string(kind), why);
  };
  int at_fault = -1;
  for (const handle_kind kind : candidates) {
    const auto without =
        std::find_if(lists.begin(), lists.end(), [kind](const kind_list& list) { return !list.has(kind); });
    if (without != lists.end()) {
      at_fault = static_cast<int>(without - lists.begin());
      refuse(kind, fmt::format("PE {} does not offer it", at_fault));
      continue;
    }
    const sharing_plan plan{where, 0, probe_bytes, kind, {heap_call::kind::probe, 0, probe_bytes, 0, 0}, std::nullopt};
    const sharing_result result = share_segment(device, group, plan);
    if (result.segment) {
      if (group.my_pe() == 0)
        log.info("memory is shared by {} handles{}{}", to_string(kind),
                 refusals.empty() ? "" : "; tried before: ", refusals);
      return kind;
    }
    constexpr std::size_t enough = 4;
    std::string why;
    for (std::size_t i = 0; i < std::min(result.failures.size(), enough); ++i)
      why += (i == 0 ? "" : ", ") + text_of(*result.failures[i].failure);
    if (result.failures.size() > enough) why += fmt::format(", and {} more PEs", result.failures.size() - enough);
    at_fault = result.failures.front().failure->pe();
    refuse(kind, why);
  }
  if (refusals.empty()) refusals = "no device offers any kind of handle";
  throw error(code::handle_exchange,
              fmt::format("no way of sharing memory works between all PEs. {}{}", refusals,
                          wanted == handle_kind::automatic
                              ? ""
                              : fmt::format(". PGAS_HANDLE={} allows only that kind", to_string(wanted))),
              at_fault);
}

}  // namespace pgas::detail
