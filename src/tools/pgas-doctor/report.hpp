/// @file
/// The output of the doctor: the table, its progress, and the JSON document.
#pragma once

#include <string>
#include <vector>

#include "tools/pgas-doctor/examination.hpp"
#include "tools/pgas-doctor/row.hpp"

namespace pgas::doctor {

/// The format of a table.
struct look {
  std::size_t width = 100;  ///< the largest number of characters in a line
  bool colour = false;
};

/// The table, and the line below it with the result.
[[nodiscard]] std::string table_of(const subject& what, const std::vector<row>& rows, const look& how);

/// The document that docs/doctor.md describes.
[[nodiscard]] std::string document_of(const subject& what, const std::vector<row>& rows);

/// Prints the outputs that `how` requests.
void report(const request& how, const subject& what, const std::vector<row>& rows);

/// Prints to standard error the rows that are not ok. Called on a PE that cannot send its rows to PE 0.
void complain(const subject& what, const std::vector<row>& rows);

/// The progress line. Printed on terminals only, and erased before other output.
class progress {
 public:
  progress();
  void show(const std::string& step);
  void clear();

 private:
  bool terminal_;
  bool shown_ = false;
};

}  // namespace pgas::doctor
