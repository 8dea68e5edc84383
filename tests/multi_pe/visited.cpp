// PEs that exchange numbers and check them, while another process examines the PEs.
//     visited FILE     exchanges numbers until FILE exists
//     visited NETWORK  exchanges numbers once; fails if this process listens at an address outside NETWORK
#include <arpa/inet.h>
#include <dirent.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "pgas/pgas.hpp"

namespace {

std::set<std::string> own_sockets() {
  std::set<std::string> inodes;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (target.starts_with("socket:[")) inodes.insert(target.substr(8, target.size() - 9));
  }
  return inodes;
}

/// IPv4 addresses, and "IPv6", at which this process accepts connections.
std::vector<std::string> listeners() {
  const std::set<std::string> mine = own_sockets();
  std::vector<std::string> found;
  for (const char* table : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    std::ifstream lines(table);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      std::istringstream fields(line);
      std::string number, local, remote, state, queues, timer, retries, user, timeout, inode;
      fields >> number >> local >> remote >> state >> queues >> timer >> retries >> user >> timeout >> inode;
      if (state != "0A" || !mine.contains(inode)) continue;
      char text[INET_ADDRSTRLEN] = "IPv6";
      const in_addr address{static_cast<in_addr_t>(std::stoul(local.substr(0, 8), nullptr, 16))};
      if (local.find(':') == 8) inet_ntop(AF_INET, &address, text, sizeof text);
      found.emplace_back(text);
    }
  }
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string until = argc > 1 ? argv[1] : "";
  const bool once = !until.starts_with('/');
  try {
    pgas::world world = pgas::world::join();
    const int me = world.my_pe();
    const int n = world.n_pes();
    auto words = world.allocate<std::uint64_t>(static_cast<std::size_t>(n), pgas::initialize::zero);
    auto over = world.allocate<std::uint64_t>(1, pgas::initialize::zero);
    bool right = true;
    for (std::uint64_t round = 1; pgas::g(world, over.data(), me) == 0; ++round) {
      for (int pe = 0; pe < n; ++pe)
        pgas::p(world, words.data() + me, round * 100 + static_cast<std::uint64_t>(me), pe);
      world.barrier_all();
      for (int pe = 0; pe < n; ++pe)
        right =
            right && pgas::g(world, words.data() + pe, (me + 1) % n) == round * 100 + static_cast<std::uint64_t>(pe);
      if (me == 0 && (once || access(until.c_str(), F_OK) == 0))
        for (int pe = 0; pe < n; ++pe) pgas::p(world, over.data(), std::uint64_t{1}, pe);
      world.barrier_all();
      if (round == 1) {
        std::printf("ready %d %d\n", me, static_cast<int>(getpid()));
        std::fflush(stdout);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    if (once) {
      for (const std::string& address : listeners()) {
        std::printf("PE %d listens at %s\n", me, address.c_str());
        right = right && address.starts_with(until);
      }
    }
    std::printf("%s %d\n", right ? "right" : "wrong", me);
    return right ? 0 : 1;
  } catch (const pgas::error& failed) {
    std::printf("failed %s\n", failed.what());
    return 1;
  }
}
