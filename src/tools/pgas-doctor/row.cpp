#include "tools/pgas-doctor/row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace pgas::doctor {

namespace {

constexpr std::array<std::string_view, 4> words{"ok", "unknown", "slow", "fails"};

bool same(const row& a, const row& b) {
  return a.name == b.name && a.is == b.is && a.found == b.found && a.means == b.means && a.fix == b.fix;
}

/// Shortens a long list of rows: omits rows that report the success of the same check with other figures.
std::vector<row> shortened(const std::vector<row>& all) {
  constexpr std::ptrdiff_t many = 4;
  std::vector<row> kept;
  for (const row& each : all) {
    const auto alike = [&](const row& other) { return other.name == each.name && other.is == verdict::ok; };
    const bool known = std::ranges::any_of(kept, alike);
    if (each.is == verdict::ok && std::ranges::count_if(all, alike) > many) {
      if (known) continue;
      kept.push_back(each);
      kept.back().found += "; on the other PEs something else, which is ok, too";
      continue;
    }
    kept.push_back(each);
  }
  return kept;
}

}  // namespace

std::string_view word_of(verdict is) { return words[static_cast<std::size_t>(is)]; }

verdict worst_of(const std::vector<row>& rows) {
  verdict worst = verdict::ok;
  for (const row& each : rows) worst = std::max(worst, each.is);
  return worst;
}

std::vector<row> merge(const std::vector<std::vector<row>>& of_pes) {
  std::vector<row> all;
  for (std::size_t pe = 0; pe < of_pes.size(); ++pe) {
    for (const row& each : of_pes[pe]) {
      const auto known = std::ranges::find_if(all, [&](const row& other) { return same(other, each); });
      if (known != all.end()) {
        known->pes.push_back(static_cast<int>(pe));
        continue;
      }
      // The row is inserted beside the row of the same name from another PE.
      auto at =
          std::find_if(all.rbegin(), all.rend(), [&](const row& other) { return other.name == each.name; }).base();
      if (at == all.begin()) at = all.end();
      row copy = each;
      copy.pes = {static_cast<int>(pe)};
      all.insert(at, std::move(copy));
    }
  }
  for (row& each : all)
    if (each.pes.size() == of_pes.size()) each.pes.clear();
  return shortened(all);
}

std::string name_pes(const std::vector<int>& pes) {
  std::string text = "PE ";
  for (std::size_t first = 0; first < pes.size();) {
    std::size_t last = first;
    while (last + 1 < pes.size() && pes[last + 1] == pes[last] + 1) ++last;
    text += fmt::format("{}{}", first == 0 ? "" : ", ", pes[first]);
    if (last > first) text += fmt::format("-{}", pes[last]);
    first = last + 1;
  }
  return text;
}

nlohmann::json to_json(const row& from) {
  return {{"name", from.name},   {"verdict", word_of(from.is)},
          {"found", from.found}, {"means", from.means},
          {"fix", from.fix},     {"pes", from.pes}};
}

row row_from(const nlohmann::json& from) {
  row result;
  from.at("name").get_to(result.name);
  from.at("found").get_to(result.found);
  from.at("means").get_to(result.means);
  from.at("fix").get_to(result.fix);
  from.at("pes").get_to(result.pes);
  const auto word = std::ranges::find(words, from.at("verdict").get<std::string>());
  result.is = word == words.end() ? verdict::unknown : static_cast<verdict>(word - words.begin());
  return result;
}

}  // namespace pgas::doctor
