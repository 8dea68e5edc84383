// The host stacks of a process, printed by an installed debugger.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <memory>

#include "tools/pgas-why/job_report.hpp"

namespace pgas_why {

namespace {

struct output {
  std::string text;
  bool succeeded = false;
};

output run(const std::string& command) {
  const auto close = [](FILE* file) { static_cast<void>(::pclose(file)); };
  FILE* const raw = ::popen(command.c_str(), "r");
  if (raw == nullptr) return {};
  std::unique_ptr<FILE, decltype(close)> pipe(raw, close);
  output got;
  std::array<char, 4096> part{};
  while (const std::size_t n = std::fread(part.data(), 1, part.size(), pipe.get())) got.text.append(part.data(), n);
  got.succeeded = ::pclose(pipe.release()) == 0;
  return got;
}

}  // namespace

std::string stacks_of(pid_t pid) {
  for (const std::string& command :
       {fmt::format("timeout 10 eu-stack -p {} 2>/dev/null", pid),
        fmt::format("timeout 20 gdb -p {} -batch -nx -ex 'thread apply all backtrace' 2>/dev/null", pid)}) {
    output got = run(command);
    if (got.succeeded && got.text.find('#') != std::string::npos) return got.text;
  }
  return fmt::format(
      "no stacks of process {}: install elfutils (eu-stack) or gdb, and allow this user to trace it (sysctl "
      "kernel.yama.ptrace_scope)\n",
      pid);
}

}  // namespace pgas_why
