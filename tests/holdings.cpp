#include "holdings.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <thread>

namespace pgas::unit_test {

namespace {

std::size_t entries_of(const char* folder, const char* containing = "") {
  std::size_t count = 0;
  std::error_code none;
  for (auto at = std::filesystem::directory_iterator(folder, none); at != std::filesystem::directory_iterator();
       at.increment(none))
    if (at->path().filename().string().find(containing) != std::string::npos) ++count;
  return count;
}

}  // namespace

holdings count_holdings() {
  // Sanitizers start a thread of their own together with the first thread of the program. Therefore a thread is started
  // and joined here before any count. A thread that was joined stays listed for a moment.
  [[maybe_unused]] static const bool warm = [] {
    pid_t first = 0;
    std::thread([&] { first = gettid(); }).join();
    while (std::filesystem::exists("/proc/self/task/" + std::to_string(first)))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return true;
  }();
  holdings now;
  now.fds = entries_of("/proc/self/fd");
  now.threads = entries_of("/proc/self/task");
  now.shm_files = entries_of("/dev/shm", "pgas");
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line))
    for (const char* name : {"memfd:pgas-", "/SYSV", "ucx_shm"})
      if (line.find(name) != std::string::npos) ++now.mappings;
  return now;
}

holdings settled_holdings() {
  holdings last = count_holdings();
  for (int i = 0, same = 0; i < 200 && same < 10; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const holdings now = count_holdings();
    same = now == last ? same + 1 : 0;
    last = now;
  }
  return last;
}

holdings settle_at(const holdings& expected) {
  // A thread that was joined stays listed for a moment, so both counts may include joined threads: the count now and
  // the count in `expected`.
  const auto count = [&] {
    holdings now = count_holdings();
    now.threads = std::max(now.threads, expected.threads);
    return now;
  };
  for (int i = 0; i < 200 && !(count() == expected); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return count();
}

std::ostream& operator<<(std::ostream& out, const holdings& h) {
  return out << h.fds << " descriptors, " << h.mappings << " mappings, " << h.threads << " threads, " << h.shm_files
             << " files in /dev/shm";
}

}  // namespace pgas::unit_test
