#include "unit/connect/pes.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "host/connect/peer_descriptor.hpp"

namespace pgas::unit_test {

std::vector<std::optional<error>> run_threads(int n, const std::function<void(bootstrap&)>& body) {
  auto exchanges = make_thread_bootstraps(n, std::chrono::seconds(30));
  std::vector<std::optional<error>> ends(static_cast<std::size_t>(n));
  std::vector<std::thread> threads;
  for (std::size_t pe = 0; pe < ends.size(); ++pe)
    threads.emplace_back([&, pe] {
      try {
        body(*exchanges[pe]);
      } catch (const error& thrown) {
        ends[pe] = thrown;
      } catch (const std::exception& thrown) {
        ADD_FAILURE() << "PE " << pe << ": " << thrown.what();
      }
      exchanges[pe].reset();
    });
  for (std::thread& thread : threads) thread.join();
  return ends;
}

void expect_no_error(const std::vector<std::optional<error>>& ends) {
  for (const std::optional<error>& end : ends) EXPECT_FALSE(end) << end->what();
}

void expect_all(const std::vector<std::optional<error>>& ends, code why, std::optional<int> pe, std::string_view text) {
  for (const std::optional<error>& end : ends) {
    ASSERT_TRUE(end);
    EXPECT_EQ(end->code(), why) << end->what();
    EXPECT_EQ(end->pe(), pe.value_or(end->pe())) << end->what();
    EXPECT_NE(std::string_view(end->what()).find(text), std::string_view::npos) << end->what();
  }
}

namespace {

constexpr std::size_t most_rounds = 8;
constexpr std::size_t most_bytes = 4096;

struct part {
  std::uint32_t bytes;
  std::byte content[most_bytes];
};
struct round {
  std::atomic<int> arrived;
  part parts[16];
};

}  // namespace

class shared_page {
 public:
  explicit shared_page(int n)
      : size(n),
        pending_collectives(static_cast<round*>(
            ::mmap(nullptr, sizeof(round) * most_rounds, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~shared_page() { ::munmap(pending_collectives, sizeof(round) * most_rounds); }
  shared_page(const shared_page&) = delete;
  shared_page& operator=(const shared_page&) = delete;

  const int size;
  round* const pending_collectives;
};

std::shared_ptr<shared_page> make_shared_page(int n) { return std::make_shared<shared_page>(n); }

namespace {

class process_bootstrap : public bootstrap {
 public:
  process_bootstrap(std::shared_ptr<shared_page> page, int rank) : page_(std::move(page)), rank_(rank) {}
  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return page_->size; }
  std::vector<blob> all_gather(std::span<const std::byte> mine) override {
    if (next_ == most_rounds || mine.size() > most_bytes) throw std::logic_error("the test's bootstrap is too small");
    round& here = page_->pending_collectives[next_++];
    part& own = here.parts[rank_];
    own.bytes = static_cast<std::uint32_t>(mine.size());
    if (!mine.empty()) std::memcpy(own.content, mine.data(), mine.size());
    here.arrived.fetch_add(1);
    for (int i = 0; here.arrived.load() < size(); ++i) {
      if (i == 20'000) throw error(code::bootstrap_timeout, "a process of the test did not come");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::vector<blob> all;
    for (int pe = 0; pe < size(); ++pe) {
      const part& theirs = here.parts[pe];
      all.emplace_back(theirs.content, theirs.content + theirs.bytes);
    }
    return all;
  }
  void barrier() override { static_cast<void>(all_gather({})); }
  void abort(std::string_view) noexcept override {}

 private:
  std::shared_ptr<shared_page> page_;
  int rank_;
  std::size_t next_ = 0;
};

[[noreturn]] void be_pe(std::shared_ptr<shared_page> page, int rank, int report,
                        const std::function<void(bootstrap&)>& body) {
  std::string message;
  ::alarm(60);
  try {
    process_bootstrap exchange(std::move(page), rank);
    body(exchange);
  } catch (const std::exception& thrown) {
    message = thrown.what();
  }
  const ssize_t written = ::write(report, message.data(), message.size());
  ::_exit(written == static_cast<ssize_t>(message.size()) ? 0 : 1);
}

}  // namespace

std::unique_ptr<bootstrap> make_process_bootstrap(std::shared_ptr<shared_page> page, int rank) {
  return std::make_unique<process_bootstrap>(std::move(page), rank);
}

std::vector<process_end> run_processes(int n, const std::function<void(bootstrap&)>& body) {
  const std::shared_ptr<shared_page> page = make_shared_page(n);
  std::vector<pid_t> pids;
  std::vector<int> reports;
  for (int rank = 0; rank < n; ++rank) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
    const pid_t pid = ::fork();
    if (pid == 0) be_pe(page, rank, ends[1], body);
    ::close(ends[1]);
    pids.push_back(pid);
    reports.push_back(ends[0]);
  }
  std::vector<process_end> result(pids.size());
  for (std::size_t i = 0; i < pids.size(); ++i) {
    char text[4096];
    for (ssize_t got = 0; (got = ::read(reports[i], text, sizeof(text))) > 0;)
      result[i].message.append(text, static_cast<std::size_t>(got));
    ::close(reports[i]);
    int status = 0;
    ::waitpid(pids[i], &status, 0);
    if (WIFSIGNALED(status)) result[i].signal = WTERMSIG(status);
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0) result[i].message += " (bad exit)";
  }
  return result;
}

std::vector<std::optional<error>> run_threads_on(const std::vector<int>& hosts,
                                                 const std::function<void(bootstrap&)>& body) {
  return run_threads(static_cast<int>(hosts.size()), [&](bootstrap& exchange) {
    host_bootstrap there(exchange, hosts[static_cast<std::size_t>(exchange.rank())]);
    body(there);
  });
}

std::vector<process_end> run_processes_on(const std::vector<int>& hosts, const std::function<void(bootstrap&)>& body) {
  return run_processes(static_cast<int>(hosts.size()), [&](bootstrap& exchange) {
    host_bootstrap there(exchange, hosts[static_cast<std::size_t>(exchange.rank())]);
    body(there);
  });
}

std::vector<blob> host_bootstrap::all_gather(std::span<const std::byte> mine) {
  const int host = std::exchange(host_, 0);
  if (host == 0) return outer_bootstrap::all_gather(mine);
  detail::peer_descriptor introduction = detail::decode_descriptors({blob(mine.begin(), mine.end())}).front();
  introduction.host = "host-" + std::to_string(host);
  introduction.machine = detail::short_for("machine of " + introduction.host);
  return outer_bootstrap::all_gather(detail::encode(introduction));
}

}  // namespace pgas::unit_test
