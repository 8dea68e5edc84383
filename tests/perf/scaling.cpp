// The cost of a world for each PE. scaling.py starts this program. After each step, the program prints the resources of
// its process, as counted by the operating system:
//     STEP PE private-KiB heap-KiB mapped-KiB shared-KiB unix-sockets tcp-sockets descriptors threads milliseconds
//
// private: memory that only this process has, and that it has written; heap: the memory of its own heap and of other
// heaps that it has accessed; mapped: the whole size of these heaps; shared: the memory of UCX that it shares with
// other processes and has accessed.
#include <dirent.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "pgas/pgas.hpp"

namespace {

struct cost {
  long long private_kib = 0;
  long long heap_kib = 0;
  long long mapped_kib = 0;
  long long shared_kib = 0;
  int unix_sockets = 0;
  int tcp_sockets = 0;
  int descriptors = 0;
  int threads = 0;
};

void count_memory(cost& costs) {
  std::ifstream maps("/proc/self/smaps");
  std::string line;
  enum { other, heap, ucx } kind = other;
  while (std::getline(maps, line)) {
    const std::size_t colon = line.find(':');
    const std::string field = line.substr(0, colon);
    if (field.find(' ') != std::string::npos || field.find('-') != std::string::npos) {  // a mapping's first line
      const auto named = [&](const char* name) { return line.find(name) != std::string::npos; };
      kind = named("/memfd:pgas") ? heap : named("/SYSV") || named("/ucx_") || named("/memfd:ucx") ? ucx : other;
    } else if (field == "Size" || field == "Rss" || field == "Private_Dirty") {
      const long long kib = std::stoll(line.substr(colon + 1));
      if (field == "Private_Dirty" && kind == other) costs.private_kib += kib;
      if (field == "Size" && kind == heap) costs.mapped_kib += kib;
      if (field == "Rss" && kind == heap) costs.heap_kib += kib;
      if (field == "Rss" && kind == ucx) costs.shared_kib += kib;
    }
  }
}

/// A socket with a peer is a connection; a socket without a peer is a listener.
void count_descriptors(cost& costs) {
  DIR* const open = ::opendir("/proc/self/fd");
  while (const dirent* const entry = ::readdir(open)) {
    if (entry->d_name[0] == '.') continue;
    const int fd = std::stoi(entry->d_name);
    if (fd == ::dirfd(open)) continue;
    ++costs.descriptors;
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) continue;
    if (peer.ss_family == AF_UNIX) ++costs.unix_sockets;
    if (peer.ss_family == AF_INET || peer.ss_family == AF_INET6) ++costs.tcp_sockets;
  }
  ::closedir(open);
}

cost measure() {
  cost now;
  count_memory(now);
  count_descriptors(now);
  DIR* const tasks = ::opendir("/proc/self/task");
  while (const dirent* const entry = ::readdir(tasks)) now.threads += entry->d_name[0] != '.';
  ::closedir(tasks);
  return now;
}

void say(const char* step, int pe, std::chrono::steady_clock::duration took) {
  const cost now = measure();
  std::printf("%s %d %lld %lld %lld %lld %d %d %d %d %lld\n", step, pe, now.private_kib, now.heap_kib, now.mapped_kib,
              now.shared_kib, now.unix_sockets, now.tcp_sockets, now.descriptors, now.threads,
              static_cast<long long>(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
  std::fflush(stdout);
}

}  // namespace

int main() try {
  using clock = std::chrono::steady_clock;
  say("alone", 0, {});
  const auto before = clock::now();
  pgas::world world = pgas::world::join();
  const auto joined = clock::now();
  const int me = world.my_pe();
  const int n = world.n_pes();
  // An allocation waits for all PEs, and sends messages only over the sockets of the world.
  constexpr std::size_t large = 16 << 10;  // larger than a message
  auto landing = world.allocate<char>(large);
  say("idle", me, joined - before);
  auto next = world.allocate<char>(1);

  const auto began = clock::now();
  const std::vector<char> bytes(large);
  for (int step = 1; step < n; ++step) {
    const int pe = (me + step) % n;
    pgas::put(world, next.data(), bytes.data(), 1, pe);
    pgas::put(world, landing.data(), landing.data(), large, pe);
  }
  world.barrier_all();
  const auto done = clock::now();
  auto all_here = world.allocate<char>(1);
  say("busy", me, done - began);
  auto all_counted = world.allocate<char>(1);
  return 0;
} catch (const pgas::error& failed) {
  std::fprintf(stderr, "%s\n", failed.what());
  return 1;
}
