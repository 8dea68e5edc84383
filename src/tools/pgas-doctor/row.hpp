/// @file
/// The rows of the table: the subject of the check, the finding, its meaning for a program, and its fix.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace pgas::doctor {

/// The verdict of a row on programs that are started like the doctor.
enum class verdict {
  ok,       ///< programs run
  unknown,  ///< the doctor cannot decide, or the finding matters only later
  slow,     ///< programs run, but slower or with less memory or fewer devices than the machine has
  fails     ///< programs do not run
};

struct row {
  std::string name;  ///< the name of the check, the same on all PEs
  verdict is = verdict::ok;
  std::string found;
  std::string means{};     ///< the meaning; empty if the row is ok
  std::string fix{};       ///< a command or a setting; empty if the row is ok
  std::vector<int> pes{};  ///< the PEs that report the finding, ascending; empty: the row describes the whole job
};

/// The route from one PE to another.
struct pair_route {
  int from = 0;
  int to = 0;
  bool direct = true;
  std::string route;                ///< the text of world::pe(): "load and store"
  std::string lanes;                ///< the devices that carry the bytes to a proxied PE: "tcp/eth0"
  double gigabytes_per_second = 0;  ///< 0: not measured
};

/// The word for a verdict, such as "fails".
[[nodiscard]] std::string_view word_of(verdict is);

/// The worst verdict in `rows`; ok if there are no rows.
[[nodiscard]] verdict worst_of(const std::vector<row>& rows);

/// Merges equal rows of several PEs into one, in the order of the first PE's rows.
[[nodiscard]] std::vector<row> merge(const std::vector<std::vector<row>>& of_pes);

/// "PE 2", "PE 0-3, 5"
[[nodiscard]] std::string name_pes(const std::vector<int>& pes);

[[nodiscard]] nlohmann::json to_json(const row& from);
/// *Errors* nlohmann::json::exception for a document that is not from to_json().
[[nodiscard]] row row_from(const nlohmann::json& from);

}  // namespace pgas::doctor
