// FOLDER STATUS: PE 1 runs its exit handlers when PE 0 ends all PEs. The handlers continue one after another in one
// thread, and PE 1 ends with the status of PE 0.
#include <shmem.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace {

std::string place;  // the prefix of the files of PE 1
volatile bool handler_has_ended = false;

void write_file(const char* name, const std::string& text) { std::ofstream(place + name) << text << std::flush; }

struct writes_when_destroyed {
  ~writes_when_destroyed() {
    if (!place.empty()) write_file("destructor", handler_has_ended ? "after the handler" : "during the handler");
  }
};

const writes_when_destroyed destroyed_after_the_handlers;

/// The library ignores SIGTERM once a thread ends the process, so an ignored SIGTERM shows that this PE has received
/// the exit of the other PE.
bool is_being_ended() {
  struct sigaction now {};
  return sigaction(SIGTERM, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

void write_status(int status, void*) {
  if (!place.empty()) write_file("status", std::to_string(status));
}

void handle_slowly() {
  write_file("begun", "");
  while (!is_being_ended()) usleep(1000);
  usleep(150'000);
  handler_has_ended = true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  on_exit(write_status, nullptr);  // registered first, so it runs last
  shmem_init();
  const std::string folder = std::string(argv[1]) + "/1.";
  if (shmem_my_pe() == 1) {
    place = folder;
    std::atexit(handle_slowly);
    return 0;
  }
  const std::string begun = folder + "begun";
  while (access(begun.c_str(), F_OK) != 0) usleep(1000);
  shmem_global_exit(std::atoi(argv[2]));
}
