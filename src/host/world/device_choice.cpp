#include "host/world/device_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/value_bytes.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

std::string_view to_string(heap_kind kind) {
  return kind == heap_kind::cuda ? "GPU" : kind == heap_kind::host ? "host" : "automatic";
}

}  // namespace

blob device_choice::open(const peer_table& peers) {
  device_descriptor mine;
  mine.kind = settings_.heap;
  if (settings_.heap != heap_kind::host) {
    try {
      chosen_.own = make_cuda_device(settings_, peers.at(peers.me).local_rank);
      mine.properties = chosen_.own->properties();
    } catch (const error& refused) {
      mine.refusal = refused.what();
      mine.is_misused = dynamic_cast<const misused_gpu*>(&refused) != nullptr;
    }
  }
  if (!chosen_.own) host_ = make_cpu_device();
  me_ = peers.me;
  for (const peer_info& peer : peers.peers) chosen_.users.push_back({peer.host_index, peer.pid, {}});
  const joining_record record = record_of(peers.me, chosen_.own ? *chosen_.own : *host_, settings_, allow_proxied_);
  const auto head = bytes_of(record);
  blob message(head.begin(), head.end());
  const blob description = encode(mine);
  message.insert(message.end(), description.begin(), description.end());
  return message;
}

void device_choice::add(int pe, std::span<const std::byte> message) {
  joining_record theirs;
  if (!take_value(message, theirs)) message = {};  // then the description is malformed, too
  chosen_.users[static_cast<std::size_t>(pe)].info = decode_device_descriptor(message, pe);
  chosen_.records = chosen_.records ? merge(*chosen_.records, theirs) : theirs;
}

chosen_device device_choice::choose(log::logger& log) {
  chosen_device chosen = std::move(chosen_);
  const auto index_of = [&](auto&& wanted) {
    return static_cast<int>(std::ranges::find_if(chosen.users, wanted, &device_user::info) - chosen.users.begin());
  };
  const auto info_of = [&](int pe) -> const device_descriptor& {
    return chosen.users[static_cast<std::size_t>(pe)].info;
  };
  const int n = static_cast<int>(chosen.users.size());
  const int different = index_of([&](const device_descriptor& o) { return o.kind != info_of(0).kind; });
  if (different < n)
    throw error(
        code::mixed_heaps,
        fmt::format("PE 0 asks for the {} heap and PE {} for the {} heap: set PGAS_HEAP to the same value on all PEs",
                    to_string(info_of(0).kind), different, to_string(info_of(different).kind)),
        different);
  const int misused = index_of([](const device_descriptor& o) { return o.is_misused; });
  if (misused < n)
    throw error(code::device_unavailable, fmt::format("PE {}: {}", misused, info_of(misused).refusal), misused);
  const int without =
      settings_.heap == heap_kind::host ? 0 : index_of([](const device_descriptor& o) { return !o.refusal.empty(); });
  if (settings_.heap == heap_kind::cuda && without < n)
    throw error(code::device_unavailable,
                fmt::format("PGAS_HEAP=cuda, but PE {} has no GPU to use: {}", without, info_of(without).refusal),
                without);
  if (without < n) {
    // All PEs use the host heap, because a world has one kind of heap. A warning is logged if other PEs have a GPU.
    const bool some = index_of([](const device_descriptor& o) { return o.refusal.empty(); }) < n;
    if (settings_.heap == heap_kind::automatic && me_ == 0 && some)
      log.warn("host heap for all PEs, because PE {} has no GPU to use: {}", without, info_of(without).refusal);
    if (settings_.heap != heap_kind::host && some) chosen.records.reset();  // some records are of GPUs
    chosen.own = host_ ? std::move(host_) : make_cpu_device();
    for (device_user& user : chosen.users) user.info.properties = chosen.own->properties();
  }
  return chosen;
}

}  // namespace pgas::detail
