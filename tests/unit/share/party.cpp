// A process that shares and opens memory. Each line of its standard input is a request, and the process answers each
// request with one line. share_test.py runs several such processes, which are unrelated.
#include "party.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "pgas/error.hpp"
#include "pgas/timeline.hpp"

namespace {

pgas::shared_memory mine;
pgas::timeline ready;
std::vector<pgas::opened_memory> opened;

std::string numbers() {
  std::size_t fds = 0;
  for ([[maybe_unused]] const auto& item : std::filesystem::directory_iterator("/proc/self/fd")) ++fds;
  std::size_t pages = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  std::size_t maps = 0;
  std::ifstream file("/proc/self/maps");
  for (std::string line; std::getline(file, line);) ++maps;
  std::ostringstream text;
  text << fds << " " << maps << " " << pages << " " << resident;
  return text.str();
}

/// The bandwidth in bytes per microsecond, the best of several copies.
double bandwidth(void* to, const void* from, std::size_t bytes) {
  double best = 0;
  for (int i = 0; i < 15; ++i)
    best = std::max(best, static_cast<double>(bytes) / party::time([&] { party::copy(to, from, bytes); }));
  return best;
}

std::string answer(const std::string& line) {
  std::istringstream words(line);
  std::string what;
  words >> what;
  std::ostringstream out;
  if (what == "share") {  // BYTES [read_only]
    std::size_t bytes = 0;
    std::string rights;
    words >> bytes >> rights;
    const auto importers = rights == "read_only" ? pgas::access::read_only : pgas::access::read_write;
    mine = pgas::shared_memory::make(party::place, bytes, {.importers = importers});
    out << "shared " << mine.size();
  } else if (what == "ticket") {  // OPENS SECONDS USER
    pgas::ticket_options options;
    long seconds = 0;
    long user = -1;
    words >> options.opens >> seconds >> user;
    options.lifetime = std::chrono::seconds(seconds);
    if (user >= 0) options.user = static_cast<uid_t>(user);
    out << mine.ticket(options);
  } else if (what == "ready") {  // [USER]: makes a ticket that carries a timeline and whose memory counts as ready
    pgas::ticket_options options;
    long user = -1;
    words >> user;
    if (user >= 0) options.user = static_cast<uid_t>(user);
    ready = pgas::timeline::make(party::place);
    ready.set(1);
    options.ready = &ready;
    out << mine.ticket(options);
  } else if (what == "open") {  // TICKET
    std::string ticket;
    words >> ticket;
    opened.push_back(pgas::opened_memory::open(ticket));
    out << "opened " << opened.back().size() << " " << opened.back().exporter().pid;
  } else if (what == "open_on") {  // GPU TICKET: opens the ticket on this GPU; later kernels also run on this GPU
    int ordinal = 0;
    std::string ticket;
    words >> ordinal >> ticket;
    opened.push_back(pgas::opened_memory::open(ticket, {.place = pgas::memory_place::gpu(ordinal)}));
    party::use(ordinal);
    out << "opened " << opened.back().size();
  } else if (what == "on_its_gpu") {
    // Kernels now run on the GPU of the memory opened last. The answer is the number of this GPU in this process.
    const int ordinal = party::gpu_of(opened.back().data());
    party::use(ordinal);
    out << ordinal;
  } else if (what == "write") {  // OFFSET VALUE: writes to the memory opened last, else to the shared memory
    std::size_t offset = 0;
    unsigned value = 0;
    words >> offset >> value;
    party::write(static_cast<char*>(opened.empty() ? mine.data() : opened.back().data()) + offset, value);
    out << "written";
  } else if (what == "read") {
    std::size_t offset = 0;
    words >> offset;
    out << party::read(static_cast<char*>(opened.empty() ? mine.data() : opened.back().data()) + offset);
  } else if (what == "alive") {
    out << (opened.back().alive() ? "alive" : "dead");
  } else if (what == "check") {
    opened.back().check();
    out << "fine";
  } else if (what == "openers") {
    std::vector<pid_t> pids;
    for (const pgas::opener& process : mine.opened_by()) pids.push_back(process.pid);
    std::sort(pids.begin(), pids.end());
    out << "openers";
    for (const pid_t pid : pids) out << " " << pid;
  } else if (what == "revoke") {
    mine.revoke();
    out << "revoked";
  } else if (what == "free") {
    mine = pgas::shared_memory();
    ready = pgas::timeline();
    out << "freed";
  } else if (what == "close") {
    opened.clear();
    out << "closed";
  } else if (what == "numbers") {
    out << numbers();
  } else if (what == "series") {  // TIMES TICKET
    int times = 0;
    std::string ticket;
    words >> times >> ticket;
    for (int i = 0; i < times; ++i) static_cast<void>(pgas::opened_memory::open(ticket));
    out << "done";
  } else if (what == "together") {  // THREADS TIMES TICKET
    int threads = 0;
    int times = 0;
    std::string ticket;
    words >> threads >> times >> ticket;
    std::atomic<int> good{0};
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&] {
        for (int i = 0; i < times; ++i) good += pgas::opened_memory::open(ticket).size() > 0 ? 1 : 0;
      });
    for (std::thread& item : all) item.join();
    out << good;
  } else if (what == "times") {  // TICKET: the median microseconds of the first and of the second open
    std::string ticket;
    words >> ticket;
    std::vector<double> first;
    std::vector<double> again;
    for (int i = 0; i < 200; ++i) {
      pgas::opened_memory kept;
      first.push_back(party::time([&] { kept = pgas::opened_memory::open(ticket); }));
      again.push_back(party::time([&] { static_cast<void>(pgas::opened_memory::open(ticket)); }));
    }
    std::sort(first.begin(), first.end());
    std::sort(again.begin(), again.end());
    out << first[100] << " " << again[100];
  } else if (what == "bandwidth") {  // the GB/s of copies from local memory, and from the memory opened last
    const std::size_t bytes = opened.back().size();
    void* const to = party::allocate(bytes);
    void* const local = party::allocate(bytes);
    party::copy(local, opened.back().data(), bytes);
    double remote = 0;
    double here = 0;
    for (int i = 0; i < 5; ++i) {
      here = std::max(here, bandwidth(to, local, bytes));
      remote = std::max(remote, bandwidth(to, opened.back().data(), bytes));
    }
    out << here / 1000 << " " << remote / 1000;
  } else {
    out << "unknown " << what;
  }
  return out.str();
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::string text;
    try {
      text = answer(line);
    } catch (const pgas::error& failure) {
      text = std::string("error ") + failure.what();
    }
    std::replace(text.begin(), text.end(), '\n', ' ');
    std::cout << text << std::endl;
  }
}
