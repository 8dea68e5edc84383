#include "host/config/read_environment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <set>

#include "host/config/option_table.hpp"
#include "host/config/option_value.hpp"
#include "pgas/error.hpp"

namespace pgas::config_detail {
namespace {

std::string translate(const alias& from, std::string_view value, const option& row) {
  if (from.shmem_size) {
    const auto bytes = parse_shmem_size(value);
    if (bytes) return std::to_string(std::max(*bytes, static_cast<std::size_t>(row.least)));
    throw error(
        code::config_value,
        fmt::format(
            "{}={} is not allowed; set it to: a number, 0 or more, optionally with a suffix k, m, g or t, such as 64m",
            from.name, value));
  }
  if (from.values.empty()) return std::string(value);
  for (const translation& t : from.values)
    if (t.from == "*" || same_word(t.from, value)) return std::string(t.to);
  std::vector<std::string_view> known;
  for (const translation& t : from.values) known.push_back(t.from);
  throw error(code::config_value,
              fmt::format("{}={} is not allowed; set it to: {}", from.name, value, fmt::join(known, ", ")));
}

/// The current spelling of `value` of `variable`. If the value is a previous spelling, adds a remark.
std::string renamed(reading& result, const option& row, std::string_view variable, std::string_view value) {
  std::string_view word = value;
  for (const translation& t : row.former_words)
    if (same_word(t.from, value)) word = t.to;
  if (variable != row.name || word != value)
    result.remarks.push_back({log_level::warn, fmt::format("{}={} is a former spelling; set {}={} instead", variable,
                                                           value, row.name, word)});
  return std::string(word);
}

/// Sets `row` from its current name or its previous name. Both may be set to the same value.
bool apply_own(reading& result, const option& row, const environment& variables) {
  const auto value = variables.get(row.name);
  const auto former = row.former.empty() ? std::nullopt : variables.get(row.former);
  if (value) {
    assign(result.settings, row, row.name, renamed(result, row, row.name, *value));
    result.origin.emplace(row.name, row.name);
  }
  if (former) {
    config before = result.settings;
    assign(before, row, row.former, renamed(result, row, row.former, *former));
    if (value && print(before, row) != print(result.settings, row))
      throw error(code::config_value,
                  fmt::format("{}={} and {}={} contradict each other: {} is the former name of {}; unset it", row.name,
                              *value, row.former, *former, row.former, row.name));
    result.settings = std::move(before);
    result.origin.emplace(row.name, row.former);
  }
  return value || former;
}

void apply(reading& result, const option& row, const environment& variables) {
  if (apply_own(result, row, variables)) return;
  for (const alias& other : row.aliases) {
    const auto value = variables.get(other.name);
    if (!value) continue;
    assign(result.settings, row, other.name, translate(other, *value, row));
    result.origin.emplace(row.name, other.name);
    return;
  }
}

/// Options that do not exist any more, and their replacements.
constexpr translation removed[] = {
    {"PGAS_METRICS", "`pgas-info --serve :9400` on each host serves the metrics of its PEs"},
};

void remark_on_unknown(reading& result, const environment& variables) {
  std::vector<std::string_view> ours;
  std::set<std::string_view> known;
  for (const option& row : options()) {
    ours.push_back(row.name);
    if (!row.former.empty()) known.insert(row.former);
    for (const alias& other : row.aliases) known.insert(other.name);
  }
  known.insert(ours.begin(), ours.end());
  for (const other_variable& v : launcher_variables()) known.insert(v.name);
  for (const other_variable& v : startup_text_variables()) known.insert(v.name);

  std::vector<std::string_view> foreign;
  for (const auto& [name, value] : variables.all()) {
    if (known.contains(name)) continue;
    if (const auto former = std::ranges::find(removed, name, &translation::from); former != std::end(removed)) {
      result.remarks.push_back(
          {log_level::warn, fmt::format("{} is no option any more and is ignored: {}", name, former->to)});
    } else if (name.starts_with("PGAS_")) {
      const std::string_view meant = nearest(name, ours);
      result.remarks.push_back(
          {log_level::warn,
           meant.empty()
               ? fmt::format("{} is not an option of pgas and is ignored; `pgas-info --config` lists the options", name)
               : fmt::format("{} is not an option of pgas and is ignored; did you mean {}?", name, meant)});
    } else if (name.starts_with("NVSHMEM_") || name.starts_with("SHMEM_") || name.starts_with("SMA_")) {
      foreign.push_back(name);
    }
  }
  if (!foreign.empty())
    result.remarks.push_back({log_level::info, fmt::format("these variables have no counterpart in pgas and are "
                                                           "ignored: {}; `pgas-info --config` lists the supported ones",
                                                           fmt::join(foreign, ", "))});
}

// The number of insertions, deletions and replacements that turn one word into the other, computed with a single row of
// the usual dynamic-programming table.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

environment::environment(std::initializer_list<std::pair<const std::string, std::string>> variables)
    : variables_(variables) {}

environment environment::of_process() {
  environment result;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) result.variables_.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return result;
}

std::optional<std::string_view> environment::get(std::string_view name) const {
  const auto found = variables_.find(name);
  if (found == variables_.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& words) {
  std::string_view best;
  std::size_t distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string_view candidate : words) {
    const std::size_t d = edit_distance(word, candidate);
    if (d >= distance) continue;
    distance = d;
    best = candidate;
  }
  return best;
}

reading read(const environment& variables) {
  reading result;
  for (const option& row : options()) apply(result, row, variables);
  remark_on_unknown(result, variables);
  return result;
}

std::optional<std::string> setting_of_others(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

}  // namespace pgas::config_detail
