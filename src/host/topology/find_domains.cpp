#include "host/topology/find_domains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "host/connect/control_message.hpp"
#include "host/exchange/agreement.hpp"
#include "host/exchange/collective_step.hpp"
#include "host/exchange/control_group.hpp"
#include "host/topology/p2p_setting.hpp"

namespace pgas::detail {

namespace {

/// The text for the log about the restrictions of a heap whose addresses the device chooses.
constexpr const char* fixed_size =
    ", so each PE creates its whole heap in one step (PGAS_HEAP_LIMIT) and can't register external memory";

/// The number of each PE's group, indexed by PE. A group is the set of PEs that have the same host and the same set of
/// PGAS_P2P.
std::vector<int> groups_by_host_and_set(const control_group& everyone, const std::vector<int>& sets) {
  std::map<std::pair<int, int>, int> group;
  std::vector<int> group_of;
  for (int pe = 0; pe < everyone.n_pes(); ++pe)
    group_of.push_back(group
                           .try_emplace({everyone.peer(pe).host_index, sets[static_cast<std::size_t>(pe)]},
                                        static_cast<int>(group.size()))
                           .first->second);
  return group_of;
}

/// The result of an attempt to share memory by one kind of handle.
struct finding {
  /// Whether every PE could create a segment of this kind; if false, the kind cannot be used.
  bool works;
  std::vector<int> group_of;    ///< indexed by PE; PEs with the same number can map one another's segments
  std::vector<error> failures;  ///< in PE order: the errors of PEs for which a step failed that should succeed
};

/// A segment of this PE for one attempt.
class probe_segment {
 public:
  probe_segment(device& device, std::size_t bytes, handle_kind kind)
      : device_(device), segment_(device.create(bytes, kind)) {}
  ~probe_segment() { device_.destroy(segment_); }
  probe_segment(const probe_segment&) = delete;
  probe_segment& operator=(const probe_segment&) = delete;
  [[nodiscard]] segment_id get() const noexcept { return segment_; }

 private:
  device& device_;
  segment_id segment_;
};

/// Imports a segment, maps it at any address, and unmaps it.
void try_to_map(device& device, const exported_handle& handle, std::size_t bytes) {
  const segment_id segment = device.import_segment(handle, bytes);
  if (device.places(handle.kind)) return device.destroy(segment);
  void* at = nullptr;
  try {
    at = device.reserve(bytes, nullptr);
    device.map(at, bytes, segment);
  } catch (...) {
    if (at != nullptr) device.release(at, bytes);
    device.destroy(segment);
    throw;
  }
  device.unmap(at, bytes);
  device.release(at, bytes);
  device.destroy(segment);
}

/// The PEs with which a PE can share memory, as runs of consecutive PEs in ascending order. Each run is two numbers:
/// its first PE, and the PE after its last PE. Most PEs have one run.
using run_bounds = std::vector<std::int32_t>;

run_bounds bounds_of(const std::vector<bool>& row) {
  run_bounds bounds;
  for (std::size_t pe = 0; pe < row.size(); ++pe)
    if (row[pe] != (bounds.size() % 2 == 1)) bounds.push_back(static_cast<std::int32_t>(pe));
  return bounds;
}

bool contains(const run_bounds& bounds, std::size_t pe) {
  return (std::ranges::upper_bound(bounds, static_cast<std::int32_t>(pe)) - bounds.begin()) % 2 == 1;
}

/// Puts each PE into the first group whose members all share memory with it in both directions.
std::vector<int> groups_of(const std::vector<run_bounds>& rows) {
  const std::size_t n = rows.size();
  const auto mutual = [&](std::size_t a, std::size_t b) { return contains(rows[a], b) && contains(rows[b], a); };
  std::vector<int> group_of(n, -1);
  int groups = 0;
  for (std::size_t pe = 0; pe < n; ++pe) {
    for (int group = 0; group < groups && group_of[pe] < 0; ++group) {
      bool with_all = true;
      for (std::size_t other = 0; other < pe; ++other)
        with_all = with_all && (group_of[other] != group || mutual(pe, other));
      if (with_all) group_of[pe] = group;
    }
    if (group_of[pe] < 0) group_of[pe] = groups++;
  }
  return group_of;
}

int count_domains(const std::vector<int>& group_of) { return *std::max_element(group_of.begin(), group_of.end()) + 1; }

/// The host, the set and the device of a PE. A PE that can share memory with another PE can share memory with all PEs
/// that have the same host, set and device as the other PE.
using kin = std::tuple<int, int, std::uint64_t>;

/// Executes the attempts of a world.
class prober {
 public:
  prober(device& device, const control_group& everyone, std::vector<int> sets, std::size_t bytes)
      : device_(device), everyone_(everyone), sets_(std::move(sets)), bytes_(bytes) {
    std::vector<std::uint64_t> devices(sets_.size());
    if (device.properties().kind != heap_kind::host)
      devices = gather_value(everyone, std::uint64_t{std::hash<std::string>()(device.properties().uuid)});
    for (std::size_t pe = 0; pe < sets_.size(); ++pe)
      kin_.emplace_back(everyone.peer(static_cast<int>(pe)).host_index, sets_[pe], devices[pe]);
  }

  /// Every PE creates a segment, and maps one segment of each device with which it may share memory. Collective.
  [[nodiscard]] finding attempt_kind(handle_kind kind) const {
    const int me = everyone_.my_pe();
    const int n = everyone_.n_pes();
    std::optional<probe_segment> own;
    step_result mine;
    mine.call = {collective_step::kind::probe, 0, bytes_, 0, 0};
    mine.failure = attempt(everyone_, fmt::format("make a segment to share by {}", to_string(kind)), [&] {
      own.emplace(device_, bytes_, kind);
      mine.handle = device_.export_segment(own->get());
    });
    // If several PEs use a device, the segment of one of these PEs represents the segments of all of them. A PE does
    // not map its own segment.
    std::map<kin, std::vector<int>> exporters;
    bool exports = false;
    for (int pe = 0; pe < n; ++pe) {
      std::vector<int>& pes = exporters[kin_[static_cast<std::size_t>(pe)]];
      if (pes.size() == 2) continue;
      pes.push_back(pe);
      exports = exports || pe == me;
    }
    if (!exports) mine.handle = {};
    std::vector<step_result> all = exchange(everyone_, mine);
    mine.handle.fd.reset();
    if (const std::optional<error> different = find_mismatch(all)) throw error(*different);

    std::vector<bool> row(static_cast<std::size_t>(n));
    row[static_cast<std::size_t>(me)] = true;
    std::optional<error> failed = mine.failure;
    std::set<kin> mapped;
    for (const auto& [exporter, pes] : exporters) {
      const int pe = pes.front() != me ? pes.front() : pes.back();
      if (pe == me) continue;
      step_result& theirs = all[static_cast<std::size_t>(pe)];
      if (theirs.failure || sets_[static_cast<std::size_t>(pe)] != sets_[static_cast<std::size_t>(me)]) continue;
      const bool expected = expect_p2p(me, pe);
      if (!expected && kind == handle_kind::posix_fd) continue;  // descriptors cannot be sent to other hosts
      const std::optional<error> refused = attempt(everyone_, fmt::format("map the segment of PE {}", pe), [&] {
        if (theirs.fds_lost)
          throw error(code::system, "the descriptor was lost because this process can't open more files (ulimit -n)");
        try_to_map(device_, theirs.handle, bytes_);
      });
      theirs.handle.fd.reset();
      if (!refused)
        mapped.insert(exporter);
      else if (expected && !failed)
        failed = refused;
    }
    for (int pe = 0; pe < n; ++pe)
      if (mapped.contains(kin_[static_cast<std::size_t>(pe)])) row[static_cast<std::size_t>(pe)] = true;
    // After these exchanges no PE uses the segments any more. The rows are exchanged only if the row of some PE is
    // not the expected row.
    finding found;
    found.works =
        std::none_of(all.begin(), all.end(), [](const step_result& each) { return each.failure.has_value(); });
    const bool as_expected = !failed && row == expected_row();
    if (reduce_value(everyone_, as_expected, [](bool a, bool b) { return a && b; })) {
      found.group_of = expected_groups();
      return found;
    }
    const run_bounds bounds = bounds_of(row);
    std::vector<run_bounds> rows(static_cast<std::size_t>(n));
    everyone_.gather_each(std::as_bytes(std::span(bounds)), {},
                          [&](int pe, std::span<const std::byte> bytes, const contribution&) {
                            run_bounds& theirs = rows[static_cast<std::size_t>(pe)];
                            theirs.resize(bytes.size() / sizeof theirs[0]);
                            if (!theirs.empty())
                              std::memcpy(theirs.data(), bytes.data(), theirs.size() * sizeof theirs[0]);
                          });
    found.group_of = groups_of(rows);
    for (const contribution& theirs : everyone_.all_gather(failed ? encode_error(*failed) : blob()))
      if (!theirs.bytes.empty()) found.failures.push_back(decode_error(theirs.bytes));
    return found;
  }

  /// Whether, on every host, all PEs that are allowed to share memory can do so.
  [[nodiscard]] bool complete(const std::vector<int>& group_of) const {
    std::map<int, int> found;  // by the expected group
    const std::vector<int> expected = expected_groups();
    for (std::size_t pe = 0; pe < expected.size(); ++pe)
      if (found.try_emplace(expected[pe], group_of[pe]).first->second != group_of[pe]) return false;
    return true;
  }

 private:
  /// Whether two PEs should be able to share segments of any kind.
  [[nodiscard]] bool expect_p2p(int a, int b) const {
    return everyone_.peer(a).host_index == everyone_.peer(b).host_index &&
           sets_[static_cast<std::size_t>(a)] == sets_[static_cast<std::size_t>(b)];
  }

  /// The groups that result if each attempt to share segments succeeds for all pairs of PEs that expect_p2p() accepts.
  [[nodiscard]] std::vector<int> expected_groups() const { return groups_by_host_and_set(everyone_, sets_); }

  [[nodiscard]] std::vector<bool> expected_row() const {
    std::vector<bool> row;
    for (int pe = 0; pe < everyone_.n_pes(); ++pe) row.push_back(expect_p2p(everyone_.my_pe(), pe));
    return row;
  }

  device& device_;
  const control_group& everyone_;
  const std::vector<int> sets_;  ///< the result of parse_p2p_sets()
  std::vector<kin> kin_;         ///< by PE
  const std::size_t bytes_;
};

}  // namespace

sharing_offer offer_of(const device& device, const config& settings, bool allow_proxied) {
  const handle_kind wanted = settings.mem_handle;
  sharing_offer offer;
  offer.p2p = 14695981039346656037u;
  for (const char letter : settings.p2p)  // FNV-1a
    offer.p2p = (offer.p2p ^ static_cast<unsigned char>(letter)) * 1099511628211u;
  offer.allow_proxied = allow_proxied ? 1 : 0;
  std::size_t count = 0;
  for (const handle_kind kind : device.handle_kinds())
    if ((wanted == handle_kind::automatic || kind == wanted) && count < offer.kinds.size()) offer.kinds[count++] = kind;
  // The device can support the requested kind even if handle_kinds() does not list this kind.
  if (count == 0 && device.places(wanted)) offer.kinds[count++] = wanted;
  return offer;
}

std::optional<probe_result> expected_domains(const device& device, const control_group& everyone,
                                             const config& settings, const sharing_offer& offer) {
  const std::vector<int> sets = parse_p2p_sets(settings.p2p, everyone.n_pes());
  // Handles of other kinds can also work between hosts, so only an attempt can find the domains.
  if (offer.kinds[0] != handle_kind::posix_fd || !device.spans(offer.kinds[0])) return std::nullopt;
  return probe_result{offer.kinds[0], domains(everyone.my_pe(), groups_by_host_and_set(everyone, sets))};
}

void report_kind(const control_group& everyone, handle_kind kind, log::logger& log) {
  if (everyone.my_pe() == 0) log.info("memory is shared by {} handles", to_string(kind));
}

probe_result find_domains(device& device, const control_group& everyone, const config& settings, std::size_t bytes,
                          const sharing_offer& mine, bool same_offers, log::logger& log) {
  const prober probe(
      device, everyone,
      same_offers ? parse_p2p_sets(settings.p2p, everyone.n_pes()) : agree_on_p2p_sets(everyone, settings.p2p), bytes);
  const handle_kind wanted = settings.mem_handle;
  const std::vector<sharing_offer> lists = same_offers ? std::vector(1, mine) : gather_value(everyone, mine);
  std::vector<handle_kind> candidates;
  for (const sharing_offer& list : lists)
    for (const handle_kind kind : list.kinds)
      if (kind != handle_kind::automatic && std::find(candidates.begin(), candidates.end(), kind) == candidates.end())
        candidates.push_back(kind);

  std::string refusals;
  bool short_of_files = false;  // a PE had no free descriptor: other kinds will fail too, and UCX would abort
  const auto refuse = [&](handle_kind kind, const std::string& why) {
    refusals += fmt::format("{}{}: {}", refusals.empty() ? "" : "; ", to_string(kind), why);
  };
  int at_fault = -1;
  std::optional<std::pair<handle_kind, std::vector<int>>> best;
  for (const handle_kind kind : candidates) {
    const auto without =
        std::find_if(lists.begin(), lists.end(), [kind](const sharing_offer& list) { return !list.has(kind); });
    if (without != lists.end()) {
      at_fault = static_cast<int>(without - lists.begin());
      refuse(kind, fmt::format("PE {} does not offer it", at_fault));
      continue;
    }
    finding found = probe.attempt_kind(kind);
    if (found.works && probe.complete(found.group_of)) {
      if (everyone.my_pe() == 0) {
        const std::string choice =
            fmt::format("memory is shared by {} handles{}{}{}", to_string(kind), device.places(kind) ? fixed_size : "",
                        refusals.empty() ? "" : "; tried before: ", refusals);
        if (device.places(kind) && wanted != kind)
          log.warn("{}", choice);
        else
          log.info("{}", choice);
      }
      return {kind, domains(everyone.my_pe(), found.group_of)};
    }
    constexpr std::size_t enough = 4;
    std::string why;
    for (std::size_t i = 0; i < std::min(found.failures.size(), enough); ++i)
      why += (i == 0 ? "" : ", ") + text_of(found.failures[i]);
    if (found.failures.size() > enough) why += fmt::format(", and {} more PEs", found.failures.size() - enough);
    if (!found.failures.empty()) at_fault = found.failures.front().pe();
    for (const error& failed : found.failures) short_of_files = short_of_files || failed.code() == code::system;
    refuse(kind, why);
    if (found.works && (!best || count_domains(found.group_of) < count_domains(best->second)))
      best.emplace(kind, std::move(found.group_of));
  }
  if (refusals.empty()) {
    refusals = "no device offers any kind of handle";
    everyone.barrier();  // without the barrier, a PE that leaves first would look lost
  }
  const bool all_may =
      std::all_of(lists.begin(), lists.end(), [](const sharing_offer& list) { return list.allow_proxied != 0; });
  if (best && all_may && !short_of_files) {
    if (everyone.my_pe() == 0)
      log.warn("memory can't be shared between all PEs of a host, PEs of different domains use the proxy. {}",
               refusals);
    return {best->first, domains(everyone.my_pe(), best->second)};
  }
  throw error(code::handle_exchange,
              fmt::format("no kind of handle works between all PEs. {}{}", refusals,
                          wanted == handle_kind::automatic
                              ? ""
                              : fmt::format(". PGAS_MEM_HANDLE={} allows only that kind", to_string(wanted))),
              at_fault);
}

std::string to_string(handle_kind kind) {
  switch (kind) {
    case handle_kind::automatic: return "automatic";
    case handle_kind::fabric: return "fabric";
    case handle_kind::posix_fd: return "posix_fd";
    case handle_kind::named: return "named";
    case handle_kind::cuda_ipc: return "cuda_ipc";
  }
  return "unknown";
}

}  // namespace pgas::detail
