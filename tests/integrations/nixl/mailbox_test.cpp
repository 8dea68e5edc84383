// A sender that ends while it writes a message leaves no part of the message, and other senders can send.
//
//     mailbox_test            the receiver, which starts the sender
//     mailbox_test TICKET     the sender
#include "mailbox.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>

namespace {

using pgas::nixl::mailbox;
using pgas::nixl::remote_mailbox;

/// Ends by SIGSEGV while it copies the text of its second message, that is, while it holds the lock of the mailbox.
void send(const char* ticket) {
  remote_mailbox box(ticket);
  if (!box.post("sender", "first")) return;
  const void* const unreadable = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  static_cast<void>(box.post("sender", {static_cast<const char*>(unreadable), 4096}));
}

int run_sender(const char* program, const std::string& ticket) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl(program, program, ticket.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

bool is(const std::optional<std::pair<std::string, std::string>>& message, const char* sender, const char* text) {
  return message && message->first == sender && message->second == text;
}

int receive(const char* program) {
  mailbox box;
  const int status = run_sender(program, box.ticket());
  remote_mailbox again(box.ticket());
  int failures = 0;
  const auto expect = [&](bool holds, const char* what) {
    if (!holds) std::printf("not so: %s\n", what);
    failures += holds ? 0 : 1;
  };
  expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "the sender ends while it writes");
  expect(again.post("other", "second"), "another sender sends");
  expect(is(box.take(), "sender", "first"), "the first message is whole");
  expect(is(box.take(), "other", "second"), "the message of the other sender is next");
  expect(!box.take(), "no other message exists");
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    if (count == 1) return receive(arguments[0]);
    send(arguments[1]);
  } catch (const std::exception& failed) {
    std::printf("%s\n", failed.what());
  }
  return 1;
}
