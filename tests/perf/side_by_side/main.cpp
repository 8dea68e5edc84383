// Measures one library. Runs all rows that are linked into this program, one after another. PE 0 prints each row as a
// line of JSON. compare.py starts the program.
//
// Usage: ID_FILE RANK SIZE [OPTIONS]; the options are in report.hpp. The status is 1 if data was wrong.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "bench.hpp"

int main(int argc, char** argv) {
  using namespace side_by_side;
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s ID_FILE RANK SIZE [OPTIONS]\n", argv[0]);
    return 2;
  }
  const options asked = read_options(argc - 3, argv + 3);
  bench pes(argv[1], std::atoi(argv[2]), std::atoi(argv[3]), asked.share);
  report to(asked, pes);
  std::sort(groups().begin(), groups().end(), [](const group& a, const group& b) { return a.number < b.number; });
  for (const group& each : groups()) each.rows(pes, to);
  if (pes.me() == 0) std::printf("{\"end\": true}\n");
  std::fflush(stdout);
  return to.failed() ? 1 : 0;
}
