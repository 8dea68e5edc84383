#include "src/tools/pgasrun/tagged_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

namespace pgas::boot {

tagged_stream::tagged_stream(int rank, unique_fd from, output_writer& to)
    : tag_(fmt::format("[{}] ", rank)), from_(std::move(from)), to_(to) {
  ::fcntl(from_.get(), F_SETFL, O_NONBLOCK);
}

bool tagged_stream::pump() {
  if (to_.broken()) return false;  // closing our end tells the PE, as it would be told without tags
  char chunk[64 << 10];  // and no more at once: a PE that prints all the time must not keep the loop to itself
  const ssize_t got = ::read(from_.get(), chunk, sizeof chunk);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (got > 0) pending_.append(chunk, static_cast<std::size_t>(got));
  constexpr std::size_t longest = 1 << 20;  // what prints without an end of line comes in lines of that length
  print_lines(got <= 0 || pending_.size() > longest);
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
