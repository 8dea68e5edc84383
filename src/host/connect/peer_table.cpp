#include "host/connect/peer_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/connect/peer_descriptor.hpp"

namespace pgas::detail {

peer_table::peer_table(const std::vector<peer_descriptor>& all, int number) : me(number), hosts(hosts_of(all)) {
  std::vector<int> so_far(all.size());  // for each host, the number of its PEs that were already visited
  peers.reserve(all.size());
  const peer_descriptor& mine = all[static_cast<std::size_t>(me)];
  for (std::size_t pe = 0; pe < all.size(); ++pe) {
    const bool same_numbers =
        hosts[pe] == hosts[static_cast<std::size_t>(me)] && all[pe].pid_namespace == mine.pid_namespace;
    peers.push_back({*host_names.insert(all[pe].host).first, all[pe].pid, hosts[pe],
                     so_far[static_cast<std::size_t>(hosts[pe])]++, same_numbers});
  }
}

bool peer_table::several_hosts() const {
  return std::ranges::any_of(hosts, [](int host) { return host != 0; });
}

std::string peer_table::describe(int pe) const {
  return fmt::format("PE {} (host {}, pid {})", pe, at(pe).host, at(pe).pid);
}

std::string peer_table::describe(const std::vector<int>& pes) const {
  constexpr std::size_t most = 16;
  std::string names;
  for (std::size_t i = 0; i < std::min(pes.size(), most); ++i) names += (i == 0 ? "" : ", ") + describe(pes[i]);
  return pes.size() > most ? names + fmt::format(" and {} more", pes.size() - most) : names;
}

}  // namespace pgas::detail
