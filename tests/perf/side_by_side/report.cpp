#include "report.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <regex>
#include <thread>

namespace side_by_side {

namespace {

constexpr double longest_run = 0.06;  // seconds

/// Ends the process if a row has not ended in time. Kernels that wait for a lost peer never end.
class watchdog {
 public:
  static void row(int seconds, const char* name) {
    static watchdog item;
    item.name_ = name;
    item.deadline_ = now() + seconds;
  }

 private:
  watchdog() {
    std::thread([this] {
      for (;;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        if (now() <= deadline_) continue;
        std::fprintf(stderr, "%s has not ended in time\n", name_.load());
        _exit(4);  // destructors would wait for the GPU
      }
    }).detach();
  }
  static long now() {
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  std::atomic<const char*> name_{""};
  std::atomic<long> deadline_{now() + 600};
};

/// JSON cannot express infinities and NaN, so they become 0.
double number(double value) { return std::isfinite(value) ? value : 0; }

bool higher_is_better(const row& kernel_row) { return std::strcmp(kernel_row.unit, "GB/s") == 0; }

/// Converts the seconds of an iteration to the row's unit.
double in_unit(const row& kernel_row, double seconds) {
  if (higher_is_better(kernel_row)) return static_cast<double>(kernel_row.bytes) / seconds / 1e9;
  return seconds * (std::strcmp(kernel_row.unit, "ms") == 0 ? 1e3 : 1e6);
}

}  // namespace

options read_options(int argc, char** argv) {
  options found;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&] { return i + 1 < argc ? argv[++i] : ""; };
    if (word == "--quick") {
      found.quick = true;
      found.repetitions = 2;
      found.milliseconds = 1;
    } else if (word == "--share") {
      found.share = true;
    } else if (word == "--only") {
      found.only = value();
    } else if (word == "--first") {
      found.first = std::atoi(value());
    } else if (word == "-n") {
      found.iterations = std::atoi(value());
    } else if (word == "-r") {
      found.repetitions = std::max(1, std::atoi(value()));
    } else if (word == "-t") {
      found.collective_threads = std::clamp(std::atoi(value()), 1, 512);
    } else if (word == "--seconds") {
      found.seconds = std::atoi(value());
    } else {
      std::fprintf(stderr, "%s: unknown; see report.hpp\n", word.c_str());
      std::exit(2);
    }
  }
  return found;
}

report::report(const options& asked, together& pes) : options_(asked), pes_(pes) {}

bool report::begin(const row& kernel_row) {
  const int mine = index_++;
  if (mine < options_.first) return false;
  if (!options_.only.empty() && !std::regex_search(kernel_row.name, std::regex(options_.only))) return false;
  watchdog::row(options_.seconds, kernel_row.name);
  if (pes_.me() == 0) {
    std::printf("{\"begin\": %d, \"row\": \"%s\", \"bytes\": %zu, \"blocks\": %d, \"threads\": %d}\n", mine,
                kernel_row.name, kernel_row.bytes, kernel_row.blocks, kernel_row.threads);
    std::fflush(stdout);
  }
  return true;
}

void report::measure(const row& kernel_row, const work& how) {
  if (!begin(kernel_row)) return;
  const auto once = [&](int iterations) {
    how.prepare();
    pes_.barrier();
    return pes_.largest(how.run(iterations)) / iterations;
  };
  int iterations = options_.iterations;
  if (iterations == 0) {
    const int least = options_.quick ? std::min(kernel_row.least, 20) : kernel_row.least;
    once(2);                                                        // the first run also loads the code
    const double each = std::max(once(std::min(least, 10)), 1e-8);  // not 0, even if the clock has not advanced
    iterations = static_cast<int>(std::clamp(options_.milliseconds / 1e3 / each, 1.0 * least, 50000.0));
    iterations = std::clamp(static_cast<int>(longest_run / each), 2, iterations);
  }
  std::vector<double> values;
  for (int i = 0; i < options_.repetitions; ++i) values.push_back(in_unit(kernel_row, once(iterations)));
  pes_.barrier();
  print(kernel_row, values, iterations, pes_.total(how.wrong(iterations)));
}

void report::add(const row& kernel_row, const std::function<std::vector<double>(std::uint64_t& wrong)>& values) {
  if (!begin(kernel_row)) return;
  std::uint64_t wrong = 0;
  const std::vector<double> found = values(wrong);
  print(kernel_row, found, 1, pes_.total(wrong));
}

void report::print(const row& kernel_row, std::vector<double> values, int iterations, std::uint64_t wrong) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  if (!std::isfinite(median)) ++wrong;  // no PE has measured a time
  failed_ = failed_ || wrong != 0;
  if (pes_.me() != 0) return;
  std::printf(
      "{\"row\": \"%s\", \"bytes\": %zu, \"blocks\": %d, \"threads\": %d, \"unit\": \"%s\", \"value\": %.6g, "
      "\"better\": \"%s\", \"checked\": %s, \"wrong\": %llu, \"low\": %.6g, \"high\": %.6g, \"iterations\": %d, "
      "\"repetitions\": %zu}\n",
      kernel_row.name, kernel_row.bytes, kernel_row.blocks, kernel_row.threads, kernel_row.unit, number(median),
      higher_is_better(kernel_row) ? "higher" : "lower", wrong == 0 ? "true" : "false",
      static_cast<unsigned long long>(wrong), number(values.front()), number(values.back()), iterations, values.size());
  std::fflush(stdout);
}

}  // namespace side_by_side
