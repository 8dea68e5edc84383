#include "proxies.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "device/device.hpp"
#include "host/log/logger.hpp"
#include "host/proxy/proxy_thread.hpp"
#include "support/transport/faulty.hpp"
#include "support/transport/loopback.hpp"

namespace pgas_test {
namespace {

namespace d = pgas::detail;

// Rings on the host are small, so that in every test some rings are full and some threads wait for cells. Rings on a
// GPU are larger, because kernels have many more threads.
constexpr std::uint32_t log2_commands_on_host = 4;
constexpr std::uint32_t log2_answers_on_host = 2;
constexpr std::uint32_t log2_commands_on_gpu = 8;
constexpr std::uint32_t log2_answers_on_gpu = 6;
constexpr std::uint32_t log2_units = 1;

/// The proxy of one PE. The proxy is made as in src/host/proxy/proxy_service.cpp.
struct one_pe {
  std::unique_ptr<d::device> device;
  std::unique_ptr<d::memory_access> memory;
  d::mapped_memory shared;
  void* heads = nullptr;
  d::workspace_view workspace;
  void* table = nullptr;
  std::optional<d::ring> ring;
  std::optional<d::proxy_thread> proxy;

  one_pe(std::unique_ptr<d::device> inner, int n_pes) : device(std::move(inner)) {
    const bool on_host = device->properties().kind == pgas::heap_kind::host;
    memory = on_host ? d::make_host_memory_access() : d::make_device_memory_access(*device);
    const std::uint32_t ring_commands = on_host ? log2_commands_on_host : log2_commands_on_gpu;
    const std::uint32_t ring_answers = on_host ? log2_answers_on_host : log2_answers_on_gpu;
    shared = device->allocate_mapped(d::ring::shared_bytes(ring_commands, ring_answers));
    heads = device->allocate_device(d::ring_view::heads_bytes(ring_answers));
    workspace = {static_cast<std::byte*>(device->allocate_device(d::workspace_view::bytes(log2_units))),
                 static_cast<std::uint64_t*>(device->allocate_device(d::workspace_view::words_bytes(log2_units))),
                 log2_units};
    table = device->allocate_device(sizeof(d::routes) + static_cast<std::size_t>(n_pes) * sizeof(std::int32_t));
    ring.emplace(d::ring::lay_out(shared.host, shared.device, heads, ring_commands, ring_answers));
  }
  ~one_pe() {
    proxy.reset();
    memory.reset();
    device->free_device(table);
    device->free_device(workspace.next);
    device->free_device(workspace.units);
    device->free_device(heads);
    device->free_mapped(shared);
  }
  one_pe(const one_pe&) = delete;
  one_pe& operator=(const one_pe&) = delete;
};

}  // namespace

struct proxies::state {
  proxied_layout where;
  pgas::log::logger log{pgas::log_level::warn};
  std::shared_ptr<pgas::testing::loopback_network> network;
  std::deque<one_pe> pes;

  explicit state(const proxied_layout& layout)
      : where(layout), network(std::make_shared<pgas::testing::loopback_network>(layout.n_pes)) {
    for (int pe = 0; pe < layout.n_pes; ++pe) {
      pgas::config settings;
      if (!layout.gpus.empty()) settings.device = layout.gpus[static_cast<std::size_t>(pe)];
      pes.emplace_back(layout.gpus.empty() ? d::make_cpu_device() : d::make_cuda_device(settings, 0), layout.n_pes);
    }
  }

  [[nodiscard]] one_pe& at(int pe) { return pes[static_cast<std::size_t>(pe)]; }
  [[nodiscard]] std::byte* slot(int pe) const { return where.slots[static_cast<std::size_t>(pe)]; }

  void make_proxy(int pe, const std::function<void(int)>& failed) {
    d::proxy_settings settings;
    settings.me = pe;
    settings.n = where.n_pes;
    settings.slot = slot(pe);
    settings.contains = [bytes = where.slot_bytes](std::uint64_t offset, std::uint64_t size) {
      return offset <= bytes && size <= bytes - offset;
    };
    settings.failed = [failed](int lost, const std::string&) { failed(lost); };
    std::unique_ptr<d::transport> way = network->join(pe);
    if (where.fault_seed != 0) {
      pgas::testing::faulty_settings faults;
      faults.seed = where.fault_seed + static_cast<std::uint32_t>(pe);
      way = std::make_unique<pgas::testing::faulty_transport>(std::move(way), faults);
    }
    at(pe).proxy.emplace(std::move(settings), std::move(way), *at(pe).memory, log);
  }

  void set_routes(int pe, d::control_block* control) {
    one_pe& mine = at(pe);
    const int first = pe / where.domain * where.domain;
    const int size = std::min(where.domain, where.n_pes - first);
    std::vector<std::int32_t> slots;
    for (int other = 0; other < where.n_pes; ++other)
      slots.push_back(other >= first && other < first + size
                          ? static_cast<std::int32_t>((slot(other) - slot(pe)) >> where.log2_stride)
                          : d::routes::proxied);
    auto* const on_device = static_cast<std::byte*>(mine.table);
    d::routes table;
    table.slots = reinterpret_cast<const std::int32_t*>(on_device + sizeof table);
    table.domain.start_ = first;
    table.domain.n_pes_ = size;
    table.domain.my_pe_ = pe - first;
    table.domain.n_channels_ = d::default_channels;
    table.domain.state_offset_ = d::internal_area::domain_state(where.n_pes);
    table.ring = mine.ring->view();
    table.workspace = mine.workspace;
    table.control = control;
    table.my_slot = reinterpret_cast<std::uintptr_t>(slot(pe));
    mine.device->copy(on_device, &table, sizeof table, nullptr);
    mine.device->copy(on_device + sizeof table, slots.data(), slots.size() * sizeof(std::int32_t), nullptr);
    mine.device->synchronize(nullptr);
  }

  void connect() {
    std::vector<pgas::blob> addresses;
    for (one_pe& each : pes) addresses.push_back(each.proxy->address());
    for (one_pe& each : pes) each.proxy->connect(addresses);
    for (int pe = 0; pe < where.n_pes && where.gpus.empty(); ++pe) {  // loopback copies data on the host
      const pgas::blob key = at(pe).proxy->expose(0, slot(pe), where.slot_bytes);
      for (int other = 0; other < where.n_pes; ++other) {
        if (other != pe) at(other).proxy->add_peer_memory(pe, 0, where.slot_bytes, key);
      }
    }
    for (one_pe& each : pes) each.proxy->add_ring(*each.ring);
  }
};

proxies::proxies(const proxied_layout& where, const std::function<d::control_block*(int)>& control_of,
                 std::function<void(int)> failed)
    : state_(std::make_unique<state>(where)) {
  // A PE without proxied peers has a ring that nobody uses. This is so in the library too.
  const bool needed = where.domain < where.n_pes;
  for (int pe = 0; pe < where.n_pes; ++pe) {
    if (needed) state_->make_proxy(pe, failed);
    state_->set_routes(pe, control_of(pe));
  }
  if (needed) state_->connect();
}

proxies::~proxies() {
  for (one_pe& each : state_->pes)
    if (each.proxy) each.proxy->stop(std::chrono::seconds(1));
}

const d::routes* proxies::routes_of(int pe) const { return static_cast<const d::routes*>(state_->at(pe).table); }

void proxies::settle(const std::function<bool()>& given_up) {
  for (one_pe& each : state_->pes) {
    const d::ring_view& ring = each.ring->view();
    std::uint64_t next = 0;
    each.device->snapshot(&next, &ring.heads->next, 1, sizeof next);
    const auto* const completed =  // at an address of the host
        reinterpret_cast<const std::uint64_t*>(static_cast<std::byte*>(each.shared.host) +
                                               (reinterpret_cast<std::uintptr_t>(&ring.progress->completed) -
                                                reinterpret_cast<std::uintptr_t>(each.shared.device)));
    while (__atomic_load_n(completed, __ATOMIC_ACQUIRE) != next && !given_up()) std::this_thread::yield();
  }
}

proxies::carried proxies::traffic() {
  carried all{};
  for (one_pe& each : state_->pes) {
    if (!each.proxy) continue;
    const d::proxy_statistics counts = each.proxy->statistics();
    all.bytes += counts.message_bytes + counts.chunk_bytes;
    all.commands += counts.commands;
  }
  return all;
}

void proxies::cut(int pe) { state_->network->cut(pe); }

}  // namespace pgas_test
