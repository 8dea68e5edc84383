#include "bootstrap/pgasrun/tagged_stream.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace pgas::boot {
namespace {

/// Whoever reads our output sets the pace; where nobody reads it any more, it is lost, as it would be without tags.
void print(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(to, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd one{.fd = to, .events = POLLOUT, .revents = 0};
      (void)::poll(&one, 1, 1000);
    } else if (errno != EINTR) {
      return;
    }
  }
}

}  // namespace

tagged_stream::tagged_stream(int rank, unique_fd from, int to)
    : tag_(fmt::format("[{}] ", rank)), from_(std::move(from)), to_(to) {
  ::fcntl(from_.get(), F_SETFL, O_NONBLOCK);
}

bool tagged_stream::pump() {
  char chunk[16384];
  for (;;) {
    const ssize_t got = ::read(from_.get(), chunk, sizeof chunk);
    if (got > 0) {
      pending_.append(chunk, static_cast<std::size_t>(got));
      print_lines(false);
    } else if (got < 0 && errno == EINTR) {
      continue;
    } else {
      if (got < 0 && errno == EAGAIN) return true;
      print_lines(true);
      return false;
    }
  }
}

void tagged_stream::print_lines(bool all) {
  if (all && !pending_.empty() && pending_.back() != '\n') pending_ += '\n';
  std::string lines;
  std::size_t begin = 0;
  for (std::size_t end; (end = pending_.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.append(tag_).append(pending_, begin, end + 1 - begin);
  pending_.erase(0, begin);
  print(to_, lines);
}

}  // namespace pgas::boot
