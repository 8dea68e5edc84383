// KIND STATUS: PE 1 ends all PEs with this status. Meanwhile, in each PE, a thread is in a call of the kind KIND. The
// call holds the lock of a stream and does not return. KIND "cancelled": another thread has requested to cancel the
// thread that ends all PEs.
#include <pthread.h>
#include <shmem.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

namespace {

[[noreturn]] void hold(const std::string& kind) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  if (kind == "getchar" || kind == "cin") dup2(ends[0], 0);
  if (kind == "getchar") std::getchar();
  if (kind == "cin") std::cin.get();
  if (kind == "lines") {
    char line[80];
    if (std::fgets(line, sizeof line, fdopen(ends[0], "r")) != nullptr) std::abort();
  }
  std::FILE* const full = fdopen(ends[1], "w");
  if (kind == "full" || kind == "flushing") {
    std::setvbuf(full, nullptr, _IOFBF, kind == "full" ? 4000 : 1 << 20);
    for (int i = 0; i < 2000; ++i) std::fputs(std::string(100, 'x').c_str(), full);  // a pipe has 64 KiB
    std::fflush(nullptr);
  }
  for (;;) pause();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  const std::string kind = argv[1];
  shmem_init();
  std::thread([kind] { hold(kind); }).detach();
  usleep(200000);
  shmem_barrier_all();
  if (shmem_my_pe() == 1) {
    if (kind == "cancelled") pthread_cancel(pthread_self());
    shmem_global_exit(std::atoi(argv[2]));
  }
  for (;;) pause();
}
