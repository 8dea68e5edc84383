#include "src/tools/pgasrun/output_writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace pgas::boot {

output_writer::output_writer(event_loop& loop, int to, std::function<void()> drained)
    : loop_(loop), to_(to), drained_(std::move(drained)) {}

void output_writer::print(std::string_view text) {
  const bool was_full = full();
  waiting_ += text;
  if (was_full) return;
  flush();
  if (!full()) return;
  loop_.watch(to_, POLLOUT, [this](short) {
    flush();
    if (full()) return;
    loop_.forget(to_);
    drained_();
  });
}

void output_writer::flush() {
  std::size_t done = 0;
  while (done < waiting_.size()) {
    pollfd socket{.fd = to_, .events = POLLOUT, .revents = 0};
    if (::poll(&socket, 1, 0) <= 0) break;
    // Other processes share the descriptor, so it stays blocking. A ready pipe accepts PIPE_BUF bytes in one step.
    const ssize_t written =
        ::write(to_, waiting_.data() + done, std::min<std::size_t>(waiting_.size() - done, PIPE_BUF));
    if (written < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (written < 0) broken_ = errno == EPIPE;
    done = written < 0 ? waiting_.size() : done + static_cast<std::size_t>(written);
  }
  waiting_.erase(0, done);
}

tagged_stream::tagged_stream(int rank, unique_fd from, output_writer& to)
    : tag_(fmt::format("[{}] ", rank)), from_(std::move(from)), to_(to) {
  ::fcntl(from_.get(), F_SETFL, O_NONBLOCK);
}

bool tagged_stream::pump() {
  if (to_.broken()) return false;  // the caller then closes the pipe, and writes of the PE fail
  char chunk[64 << 10];  // the buffer is limited, so that a PE that prints all the time does not block the loop
  const ssize_t got = ::read(from_.get(), chunk, sizeof chunk);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (got > 0) pending_.append(chunk, static_cast<std::size_t>(got));
  // The longest line; longer output without line ends is cut into several lines.
  constexpr std::size_t longest_line = 1 << 20;
  print_lines(got <= 0 || pending_.size() > longest_line);
  return got > 0;
}

void tagged_stream::print_lines(bool all) {
  if (all && !pending_.empty() && pending_.back() != '\n') pending_ += '\n';
  std::string lines;
  std::size_t begin = 0;
  for (std::size_t end; (end = pending_.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.append(tag_).append(pending_, begin, end + 1 - begin);
  pending_.erase(0, begin);
  to_.print(lines);
}

}  // namespace pgas::boot
