/// @file
/// The rows of the table: what was looked at, what was found there, what it means for a program, its fix.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace pgas::doctor {

/// The verdict of a row on programs that are started like the doctor.
enum class verdict {
  ok,       ///< they run with it
  unknown,  ///< the doctor can't say, or it only counts later
  slow,     ///< they run, but slower or with less than the machine has
  fails     ///< they don't run
};

struct row {
  std::string name;  ///< the same for the same check on all PEs
  verdict is = verdict::ok;
  std::string found;
  std::string means{};     ///< empty where it is ok
  std::string fix{};       ///< a command or a setting; empty where it is ok
  std::vector<int> pes{};  ///< that found it, ascending; empty: it is about the whole job
};

/// From one PE to another.
struct pair_route {
  int from = 0;
  int to = 0;
  bool direct = true;
  std::string route;                ///< as world::pe() says: "load and store"
  std::string lanes;                ///< the devices that carry the bytes to a proxied PE: "tcp/eth0"
  double gigabytes_per_second = 0;  ///< 0: not measured
};

/// "fails"
[[nodiscard]] std::string_view word_of(verdict is);

/// The member of `rows` that is worst; ok where there is none.
[[nodiscard]] verdict worst_of(const std::vector<row>& rows);

/// Rows that say the same on several PEs as one, in the order of the first PE's.
[[nodiscard]] std::vector<row> merge(const std::vector<std::vector<row>>& of_pes);

/// "PE 2", "PE 0-3, 5"
[[nodiscard]] std::string name_pes(const std::vector<int>& pes);

[[nodiscard]] nlohmann::json to_json(const row& from);
/// *Errors* nlohmann::json::exception for anything that to_json() has not made.
[[nodiscard]] row row_from(const nlohmann::json& from);

}  // namespace pgas::doctor
