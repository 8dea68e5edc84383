#include "host/world/choose_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

std::string_view to_string(heap_kind kind) {
  return kind == heap_kind::cuda ? "GPU" : kind == heap_kind::host ? "host" : "automatic";
}

}  // namespace

chosen_device choose_device(const control_plane& everyone, const config& settings, bool allow_proxied,
                            log::logger& log) {
  const int me = everyone.my_pe();
  chosen_device chosen;
  device_descriptor mine;
  mine.kind = settings.heap;
  if (settings.heap != heap_kind::host) {
    try {
      chosen.own = make_cuda_device(settings, everyone.peer(me).local_rank);
      mine.properties = chosen.own->properties();
    } catch (const error& refused) {
      mine.refusal = refused.what();
      mine.is_misused = dynamic_cast<const misused_gpu*>(&refused) != nullptr;
    }
  }
  std::unique_ptr<device> host = chosen.own ? nullptr : make_cpu_device();
  const joining_record record = record_of(me, chosen.own ? *chosen.own : *host, settings, allow_proxied);
  blob message(sizeof record);
  std::memcpy(message.data(), &record, sizeof record);
  const blob description = encode(mine);
  message.insert(message.end(), description.begin(), description.end());
  chosen.users.resize(static_cast<std::size_t>(everyone.n_pes()));
  everyone.gather_each(message, {}, [&](int pe, std::span<const std::byte> bytes, const contribution&) {
    const std::span<const std::byte> told = bytes.subspan(std::min(bytes.size(), sizeof record));
    chosen.users[static_cast<std::size_t>(pe)] = {everyone.peer(pe).host_index, everyone.peer(pe).pid,
                                                  decode_device_descriptor(told, pe)};
    joining_record theirs;
    // The record is complete, because decode_device_descriptor() has found a description after it.
    std::memcpy(&theirs, bytes.data(), sizeof theirs);
    chosen.records = chosen.records ? merge(*chosen.records, theirs) : theirs;
  });
  const auto index_of = [&](auto&& wanted) {
    return static_cast<int>(std::ranges::find_if(chosen.users, wanted, &device_user::info) - chosen.users.begin());
  };
  const auto info_of = [&](int pe) -> const device_descriptor& {
    return chosen.users[static_cast<std::size_t>(pe)].info;
  };
  const int n = everyone.n_pes();
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
      settings.heap == heap_kind::host ? 0 : index_of([](const device_descriptor& o) { return !o.refusal.empty(); });
  if (settings.heap == heap_kind::cuda && without < n)
    throw error(code::device_unavailable,
                fmt::format("PGAS_HEAP=cuda, but PE {} has no GPU to use: {}", without, info_of(without).refusal),
                without);
  if (without < n) {
    // All PEs use the host heap, because a world has one kind of heap. A warning is logged if other PEs have a GPU.
    const bool some = index_of([](const device_descriptor& o) { return o.refusal.empty(); }) < n;
    if (settings.heap == heap_kind::automatic && me == 0 && some)
      log.warn("host heap for all PEs, because PE {} has no GPU to use: {}", without, info_of(without).refusal);
    if (settings.heap != heap_kind::host && some) chosen.records.reset();  // some of the records describe GPUs
    chosen.own = host ? std::move(host) : make_cpu_device();
    for (device_user& user : chosen.users) user.info.properties = chosen.own->properties();
  }
  return chosen;
}

}  // namespace pgas::detail
