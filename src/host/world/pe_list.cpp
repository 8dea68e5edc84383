#include "host/world/pe_list.hpp"

#include <algorithm>

namespace pgas::detail {

void pe_list::add(const peer_info& process, const device_properties& device, bool time_sliced) {
  const place here{std::string(process.host), device.name, device.uuid};
  // PEs of one host are usually neighbours, so the search begins with the newest entry.
  const auto found = std::find(places_.rbegin(), places_.rend(), here);
  const auto number = found == places_.rend() ? places_.size() : static_cast<std::size_t>(places_.rend() - found - 1);
  if (found == places_.rend()) places_.push_back(here);
  pes_.push_back({static_cast<std::uint32_t>(number), process.pid, process.local_rank, time_sliced});
}

void pe_list::set_proxied(int pe, const std::string& route) {
  pes_[static_cast<std::size_t>(pe)].direct = false;
  proxied_route_ = route;
}

const pe_info& pe_list::at(int pe) const {
  const std::lock_guard lock(mutex_);
  const auto [info, first] = made_.try_emplace(pe);
  if (!first) return info->second;
  const entry& pe_entry = pes_[static_cast<std::size_t>(pe)];
  const place& where = places_[pe_entry.place];
  info->second = {where.host,
                  pe_entry.pid,
                  pe_entry.local_rank,
                  where.device,
                  where.device_uuid,
                  pe_entry.direct,
                  pe_entry.direct ? "load and store" : proxied_route_,
                  pe_entry.time_sliced};
  return info->second;
}

int pe_list::on_device_of(int pe) const {
  const std::string& uuid = places_[pes_[static_cast<std::size_t>(pe)].place].device_uuid;
  return static_cast<int>(
      std::ranges::count_if(pes_, [&](const entry& other) { return places_[other.place].device_uuid == uuid; }));
}

}  // namespace pgas::detail
