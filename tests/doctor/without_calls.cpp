// Runs a program under a seccomp filter, like that of a container runtime that does not know some system calls:
//
//     without_calls CALL[,CALL] PROGRAM [ARGUMENTS]
//
// The calls fail with EPERM. The status is 77 if the operating system accepts no filter.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int skipped = 77;

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

const std::map<std::string, unsigned> numbers{
    {"memfd_create", SYS_memfd_create}, {"pidfd_open", SYS_pidfd_open}, {"socketpair", SYS_socketpair}};

/// A filter that fails the given calls and allows all others.
std::vector<sock_filter> filter_of(const std::vector<unsigned>& calls) {
  std::vector<sock_filter> program{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const unsigned call : calls) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return program;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::vector<unsigned> calls;
  std::istringstream names(argv[1]);
  for (std::string name; std::getline(names, name, ',');) calls.push_back(numbers.at(name));
  std::vector<sock_filter> filter = filter_of(calls);
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    std::perror("seccomp");
    return skipped;
  }
  ::execvp(argv[2], argv + 2);
  std::perror(argv[2]);
  return 127;
}
