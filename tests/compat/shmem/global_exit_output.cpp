// FOLDER STATUS: writes output in every way that a C++ program has. Then PE 0 ends all PEs, while PE 1 never calls the
// library again.
#include <shmem.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

namespace {

std::string place;  // the prefix of the files of this PE

void write_file(const char* name) { std::ofstream(place + name) << "written"; }

struct writes_when_destroyed {
  ~writes_when_destroyed() { write_file("destructor"); }
};

const writes_when_destroyed destroyed_last;
std::ofstream stream;

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  std::ios::sync_with_stdio(false);
  shmem_init();
  place = std::string(argv[1]) + "/" + std::to_string(shmem_my_pe()) + ".";
  std::printf("printf %d\n", shmem_my_pe());
  std::cout << "cout " << shmem_my_pe() << "\n";
  stream.open(place + "stream");
  stream << "written";
  std::FILE* const file = std::fopen((place + "file").c_str(), "w");
  if (file == nullptr) return 1;
  std::fputs("written", file);
  std::atexit([] { write_file("handler"); });
  shmem_barrier_all();
  if (shmem_my_pe() == 0) shmem_global_exit(std::atoi(argv[2]));
  for (;;) pause();
}
