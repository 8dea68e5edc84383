// A forked child has its own copies of static data. The child ends like other programs, and the parent's variables and
// streams do not change.
#include <shmem.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace {

std::ofstream stream;
long numbers[100000];
int word = 1;

bool report(bool good, const char* what) {
  if (!good) std::fprintf(stderr, "%s\n", what);
  return good;
}

}  // namespace

int main() {
  shmem_init();
  const std::string name = "static_fork." + std::to_string(shmem_my_pe());
  stream.open(name);
  numbers[99999] = 5;
  const pid_t child = fork();
  if (child == 0) {
    const bool same = word == 1 && numbers[99999] == 5 && numbers[7] == 0;
    word = 2;
    numbers[7] = 7;
    std::exit(same ? 0 : 9);
  }
  int status = -1;
  waitpid(child, &status, 0);
  bool good = report(status == 0, "the child has other values, or did not end");
  good = report(word == 1 && numbers[7] == 0, "the child has changed the parent's variables") && good;
  stream << "of the parent" << std::flush;
  std::stringstream text;
  text << std::ifstream(name).rdbuf();
  good = report(text.str() == "of the parent", "the child has closed the parent's stream") && good;
  std::remove(name.c_str());
  shmem_barrier_all();
  const int right = (shmem_my_pe() + 1) % shmem_n_pes();
  shmem_int_p(&word, 40, right);
  shmem_barrier_all();
  good = report(word == 40, "static data is not symmetric after a fork") && good;
  shmem_finalize();
  return good ? 0 : 1;
}
