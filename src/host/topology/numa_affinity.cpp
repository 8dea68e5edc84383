#include "host/topology/numa_affinity.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace pgas::detail {

namespace {

/// The elements of `allowed` that occur in a list such as "0-3,8". Empty if the text is malformed.
std::vector<int> listed(const std::string& list, const std::vector<int>& allowed) {
  std::vector<int> found;
  std::istringstream text(list);
  int first = 0;
  while (text >> first) {
    int last = first;
    if (text.peek() == '-' && !(text.ignore() >> last)) return {};
    std::copy_if(allowed.begin(), allowed.end(), std::back_inserter(found),
                 [&](int cpu) { return cpu >= first && cpu <= last; });
    if (text.peek() != ',') break;
    text.ignore();
  }
  return found;
}

}  // namespace

locality locality_of(const std::string& pci, const std::vector<int>& allowed, const std::filesystem::path& devices) {
  locality found;
  if (pci.empty()) return found;
  std::ifstream(devices / pci / "numa_node") >> found.node;
  if (found.node < 0) return {};
  std::string list;
  std::getline(std::ifstream(devices / pci / "local_cpulist"), list);
  found.cpus = listed(list, allowed);
  if (found.cpus.size() == allowed.size()) found.cpus.clear();
  return found;
}

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cpus;  // the machine has more CPUs than a cpu_set_t holds
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) cpus.push_back(cpu);
  return cpus;
}

affinity_scope::affinity_scope(const std::vector<int>& cpus) noexcept {
  CPU_ZERO(&before_);
  if (cpus.empty() || ::sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  for (const int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &wanted);
  moved_ = ::sched_setaffinity(0, sizeof wanted, &wanted) == 0;
}

affinity_scope::~affinity_scope() {
  if (moved_) static_cast<void>(::sched_setaffinity(0, sizeof before_, &before_));
}

}  // namespace pgas::detail
