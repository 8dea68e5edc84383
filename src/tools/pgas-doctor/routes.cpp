// The routes between PEs: the devices that carry the bytes of proxied PEs, and the speed of each route.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "common/deadline.hpp"
#include "host/transport/ucx/ucx_settings.hpp"
#include "host/world/world_state.hpp"
#include "pgas/pgas.hpp"
#include "tools/pgas-doctor/world_checks.hpp"

namespace pgas::doctor {

namespace {

using timer = std::chrono::steady_clock;
using std::chrono::milliseconds;

// The largest number of PEs that measure one after another. In a larger world all PEs measure at the same time.
constexpr int most_alone = 8;

/// Counts the events of the transport.
class counting_events final : public detail::transport_events {
 public:
  void message(int, std::span<const std::byte>) override { ++arrived; }
  void done(detail::transport_token) override { ++sent; }
  void lost(int pe, const std::string& why) override { problem = fmt::format("PE {}: {}", pe, why); }
  int arrived = 0;
  int sent = 0;
  std::string problem;
};

/// Collective: the devices by which this PE reaches each proxied PE, found with a transport that has the same settings
/// as the world's transport. Empty texts for direct peers.
std::vector<std::string> lanes_of(world& joined) {
  detail::world_state& state = joined.state();
  const auto n = static_cast<std::size_t>(joined.n_pes());
  std::vector<std::string> lanes(n);
  if (state.domains().only_one()) return lanes;
  const detail::ucx_settings how = detail::transport_settings(state.control_plane(), state.settings(), state.log());
  std::unique_ptr<detail::transport> network;
  blob address;
  try {
    network = detail::make_ucx_transport(how);
    address = network->address();
  } catch (const error&) {
    // The transport of the world works. So after this error only the names of devices are missing. All PEs then omit
    // these names.
  }
  std::vector<blob> addresses;
  for (detail::contribution& each : state.control_plane().all_gather(address))
    addresses.push_back(std::move(each.bytes));
  if (std::ranges::any_of(addresses, [](const blob& each) { return each.empty(); })) return lanes;
  counting_events events;
  try {
    network->connect(std::move(addresses), events);
    // The word is static, because it must outlive all operations in flight.
    static constexpr std::array<std::byte, 8> word{};
    int expected = 0;
    for (int pe = 0; pe < joined.n_pes(); ++pe) {
      if (joined.pe(pe).direct) continue;
      network->send(pe, word, static_cast<detail::transport_token>(pe));
      ++expected;
    }
    const detail::deadline until(milliseconds(10'000));
    while ((events.arrived < expected || events.sent < expected) && events.problem.empty() && !until.expired())
      if (!network->progress()) network->wait(milliseconds(20));
    for (int pe = 0; pe < joined.n_pes(); ++pe)
      if (!joined.pe(pe).direct) lanes[static_cast<std::size_t>(pe)] = network->route(pe);
  } catch (const error&) {
    // This PE continues, because the other PEs wait for it in collective calls.
  }
  state.control_plane().barrier();
  network->disconnect(milliseconds(2000));
  return lanes;
}

/// The speed of puts to `pe` in GB/s, the best of several measurements.
double speed_to(world& joined, std::uint64_t* target, const std::uint64_t* source, std::size_t count, int pe) {
  constexpr int repeats = 5;
  const detail::deadline until(milliseconds(200));
  // This put makes the pages, registrations and connections before the measurement.
  put(joined, target, source, count, pe);
  quiet(joined);
  double best = 0;
  for (int i = 0; i < repeats && (i == 0 || !until.expired()); ++i) {
    const auto began = timer::now();
    put(joined, target, source, count, pe);
    quiet(joined);
    const double seconds = std::chrono::duration<double>(timer::now() - began).count();
    best = std::max(best, static_cast<double>(count * sizeof *source) / seconds / 1e9);
  }
  return best;
}

}  // namespace

namespace {

/// The PEs to which `me` measures the speed. In a large world these are only the PEs whose distance is a power of two.
std::vector<int> targets(int me, int n) {
  constexpr int many = 64;
  std::vector<int> found{me};
  for (int distance = 1; distance < n; n <= many ? ++distance : distance *= 2) found.push_back((me + distance) % n);
  return found;
}

}  // namespace

std::vector<pair_route> measure_routes(world& joined, const request& how) {
  const int me = joined.my_pe();
  const int n = joined.n_pes();
  const std::vector<std::string> lanes = lanes_of(joined);
  std::vector<pair_route> mine;
  for (const int pe : targets(me, n))
    mine.push_back({me, pe, joined.pe(pe).direct, pe == me ? "itself" : joined.pe(pe).route,
                    lanes[static_cast<std::size_t>(pe)], 0});
  if (!how.quick) {
    const bool in_turns = n <= most_alone;
    const std::size_t count = (in_turns ? std::size_t{4} << 20 : std::size_t{1} << 20) / sizeof(std::uint64_t);
    symmetric<std::uint64_t> source = joined.allocate<std::uint64_t>(count, initialize::zero);
    symmetric<std::uint64_t> target = joined.allocate<std::uint64_t>(count, initialize::zero);
    for (int turn = 0; turn < (in_turns ? n : 1); ++turn) {
      if (!in_turns || turn == me)
        for (pair_route& each : mine)
          each.gigabytes_per_second = speed_to(joined, target.data(), source.data(), count, each.to);
      joined.barrier_all();
    }
  }
  nlohmann::json told = nlohmann::json::array();
  for (const pair_route& each : mine)
    told.push_back({each.to, each.direct, each.route, each.lanes, each.gigabytes_per_second});
  const std::string text = told.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  const std::vector<detail::contribution> all =
      joined.state().control_plane().all_gather(std::as_bytes(std::span(text)));
  std::vector<pair_route> pairs;
  for (int from = 0; from < n; ++from) {
    const blob& bytes = all[static_cast<std::size_t>(from)].bytes;
    const auto* const first = reinterpret_cast<const char*>(bytes.data());
    for (const nlohmann::json& each : nlohmann::json::parse(first, first + bytes.size()))
      pairs.push_back({from, each[0].get<int>(), each[1].get<bool>(), each[2].get<std::string>(),
                       each[3].get<std::string>(), each[4].get<double>()});
  }
  std::ranges::sort(pairs, {}, [](const pair_route& each) { return std::pair(each.from, each.to); });
  return pairs;
}

namespace {

/// The pairs that get the same verdict.
struct pair_class {
  std::vector<const pair_route*> members;
  [[nodiscard]] std::string text() const {
    constexpr std::size_t enough = 6;
    std::string list;
    for (std::size_t i = 0; i < std::min(enough, members.size()); ++i)
      list += fmt::format("{}{}-{}", i == 0 ? "" : ", ", members[i]->from, members[i]->to);
    if (members.size() > enough) list += fmt::format(" and {} more", members.size() - enough);
    return list;
  }
  [[nodiscard]] std::string speeds() const {
    const auto [least, most] =
        std::ranges::minmax_element(members, {}, [](const pair_route* each) { return each->gigabytes_per_second; });
    if ((*most)->gigabytes_per_second <= 0) return {};
    if (members.size() == 1) return fmt::format(": {:.3g} GB/s", (*most)->gigabytes_per_second);
    return fmt::format(": {:.3g} to {:.3g} GB/s", (*least)->gigabytes_per_second, (*most)->gigabytes_per_second);
  }
};

constexpr double least_of_gpus = 5;    // GB/s; every PCIe link of a GPU is faster
constexpr double share_of_local = 10;  // puts to direct peers may be slower than local puts by this factor

row judge_direct(const pair_class& direct, const std::vector<pair_route>& pairs, bool crowded, bool gpu) {
  std::map<int, double> alone_of;
  for (const pair_route& each : pairs)
    if (each.from == each.to) alone_of[each.from] = each.gigabytes_per_second;
  pair_class slow;
  for (const pair_route* each : direct.members) {
    if (crowded) break;
    const double alone = alone_of[each->from];
    const double speed = each->gigabytes_per_second;
    if (speed > 0 && (gpu ? speed < least_of_gpus : speed * share_of_local < alone)) slow.members.push_back(each);
  }
  if (slow.members.empty())
    return {"direct PEs", verdict::ok, fmt::format("{} by load and store{}", direct.text(), direct.speeds())};
  return {"direct PEs", verdict::slow, fmt::format("{} by load and store{}", slow.text(), slow.speeds()),
          gpu ? "less than any link between GPUs passes" : "ten times less than a PE copies in its own memory",
          gpu ? "nvidia-smi topo -m and nvidia-smi nvlink -s; the rows GPU clocks and NUMA"
              : "numactl --hardware: are the PEs on distant nodes? Are other programs on these CPUs?"};
}

row judge_proxied(const pair_class& some, const job& all, const config& settings, bool gpu) {
  const pair_route& first = *some.members.front();
  const facts& from = all.pes[static_cast<std::size_t>(first.from)];
  const facts& to = all.pes[static_cast<std::size_t>(first.to)];
  const bool one_host =
      all.host_of[static_cast<std::size_t>(first.from)] == all.host_of[static_cast<std::size_t>(first.to)];
  const bool tcp = first.lanes.find("tcp") != std::string::npos;
  const bool remote_memory = first.lanes.find("rc") != std::string::npos ||
                             first.lanes.find("dc") != std::string::npos || first.lanes.find("ud") != std::string::npos;
  row result{"proxied PEs", verdict::ok,
             fmt::format("{} by {}{}{}", some.text(), first.route, first.lanes.empty() ? "" : " (" + first.lanes + ")",
                         some.speeds())};
  const auto slow = [&](std::string means, std::string fix) {
    result.is = verdict::slow;
    result.means = std::move(means);
    result.fix = std::move(fix);
    return result;
  };
  if (one_host && settings.p2p != "all")
    return slow("they are on one host and could share memory",
                fmt::format("unset PGAS_P2P, which is {}", settings.p2p));
  if (one_host)
    return slow("they are on one host, but memory could not be shared between them",
                "the rows sharing and GPU pairs name what is in the way; PGAS_LOG=info says what was tried");
  if (from["boot"] == to["boot"])
    return slow("they are on one machine, in network namespaces of their own",
                "PGAS_SOCKET_DIR=/a/directory that both have mounted");
  if (!from["rdma"].empty() && !remote_memory)
    return slow(fmt::format("{} is active, but UCX does not use it", from["rdma"].front().get<std::string>()),
                "a UCX with InfiniBand (ucx_info -d lists it), unset UCX_TLS and UCX_NET_DEVICES, ulimit -l unlimited");
  if (gpu && tcp) return slow("GPU memory goes over TCP, staged", "a network with RDMA between the hosts");
  return result;
}

}  // namespace

std::vector<row> judge_routes(const std::vector<pair_route>& pairs, const job& all, const config& settings, bool gpu) {
  pair_class direct;
  std::map<std::string, pair_class> proxied;
  for (const pair_route& each : pairs) {
    if (each.from == each.to) continue;
    if (each.direct) {
      direct.members.push_back(&each);
      continue;
    }
    const bool one_host =
        all.host_of[static_cast<std::size_t>(each.from)] == all.host_of[static_cast<std::size_t>(each.to)];
    proxied[fmt::format("{} {} {}", one_host, each.route, each.lanes)].members.push_back(&each);
  }
  std::vector<row> rows;
  if (!direct.members.empty()) rows.push_back(judge_direct(direct, pairs, all.crowded(), gpu));
  for (const auto& [how, some] : proxied) rows.push_back(judge_proxied(some, all, settings, gpu));
  return rows;
}

}  // namespace pgas::doctor
