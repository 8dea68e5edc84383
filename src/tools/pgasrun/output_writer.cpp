#include "src/tools/pgasrun/output_writer.hpp"

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
    pollfd one{.fd = to_, .events = POLLOUT, .revents = 0};
    if (::poll(&one, 1, 0) <= 0) break;
    // The descriptor is not ours alone, so it stays blocking; but a pipe that is ready takes so much without waiting.
    const ssize_t written =
        ::write(to_, waiting_.data() + done, std::min<std::size_t>(waiting_.size() - done, PIPE_BUF));
    if (written < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (written < 0) broken_ = errno == EPIPE;
    done = written < 0 ? waiting_.size() : done + static_cast<std::size_t>(written);
  }
  waiting_.erase(0, done);
}

}  // namespace pgas::boot
