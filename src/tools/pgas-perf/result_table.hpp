/// @file
/// The output: a table that grows with each result, and a JSON document at the end.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "measure.hpp"

namespace pgas::perf {

/// The list of rows that `--list` prints.
[[nodiscard]] std::string list_of(const std::vector<row>& rows);

/// The table on standard output, and a progress line on a terminal. *Callers* PE 0.
class table {
 public:
  table(const options& how, world& w, std::size_t points);
  /// Shows the point that is being measured.
  void progress(const row& r, const point& at);
  void add(const result& found);

 private:
  const options& how_;
  std::size_t points_;
  std::size_t begun_ = 0;
  const row* last_ = nullptr;
  bool terminal_;
};

/// Writes all results as one JSON document. *Errors* system if the file cannot be written.
void write_json(const options& how, world& w, const std::vector<result>& all);

}  // namespace pgas::perf
