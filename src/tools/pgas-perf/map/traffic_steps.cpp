#include "map/traffic_steps.hpp"

#include <cstddef>

namespace pgas::perf {

namespace {

void add_alone(std::vector<traffic_step>& steps, int n, bool disjoint_at_once) {
  const traffic_step idle{pattern::alone, std::vector<int>(static_cast<std::size_t>(n), -1)};
  for (const auto& round : tournament(n)) {
    traffic_step forth = idle;
    traffic_step back = idle;
    for (const auto& [a, b] : round) {
      forth.to[static_cast<std::size_t>(a)] = b;
      back.to[static_cast<std::size_t>(b)] = a;
      if (disjoint_at_once) continue;
      steps.insert(steps.end(), {forth, back});
      forth = back = idle;
    }
    if (disjoint_at_once) steps.insert(steps.end(), {forth, back});
  }
}

}  // namespace

std::vector<std::vector<std::pair<int, int>>> tournament(int n) {
  // The circle method: one seat is fixed, and all others advance by one from round to round. With an odd number of PEs
  // the fixed seat is empty, and the PE opposite the fixed seat is idle in this round.
  const int seats = n + n % 2;
  std::vector<std::vector<std::pair<int, int>>> rounds;
  for (int round = 0; round + 1 < seats; ++round) {
    auto& pairs = rounds.emplace_back();
    const auto moved = [&](int seat) { return (round + seat) % (seats - 1); };
    if (n % 2 == 0) pairs.emplace_back(moved(0), seats - 1);
    for (int seat = 1; seat < seats / 2; ++seat) pairs.emplace_back(moved(seat), moved(seats - 1 - seat));
  }
  return rounds;
}

std::vector<traffic_step> steps_of(pattern in, int n, bool disjoint_at_once) {
  std::vector<traffic_step> steps;
  if (n < 2) return steps;
  if (in == pattern::alone) add_alone(steps, n, disjoint_at_once);
  for (int distance = 1; in == pattern::shift && distance < n; ++distance) {
    traffic_step& each = steps.emplace_back(traffic_step{in, {}});
    for (int pe = 0; pe < n; ++pe) each.to.push_back((pe + distance) % n);
  }
  for (int target = 0; in == pattern::incast && target < n; ++target) {
    traffic_step& each = steps.emplace_back(traffic_step{in, {}});
    for (int pe = 0; pe < n; ++pe) each.to.push_back(pe == target ? -1 : target);
  }
  return steps;
}

std::string_view name_of(pattern in) {
  switch (in) {
    case pattern::alone: return "alone";
    case pattern::shift: return "shift";
    case pattern::incast: return "incast";
    case pattern::all: break;
  }
  return "all";
}

}  // namespace pgas::perf
