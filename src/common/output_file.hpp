/// @file
/// Names and opens output files that a setting names and many processes share: PGAS_LOG_FILE, PGAS_TRACE. The name of
/// such a file is often predictable, and its directory, such as /tmp, is often writable for other users. Also writes
/// text to files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/unique_fd.hpp"

namespace pgas::detail {

/// Replaces the placeholders of the pattern:
///
/// * `%h` the host, `%p` the process, `%%` a percent sign;
/// * `%r` the PE, if it is given.
///
/// If no PE is given, `%r` is not changed. Other letters after `%` are not changed either.
[[nodiscard]] std::string output_file_name(std::string_view pattern, std::optional<int> pe = std::nullopt);

/// Whether the processes of one host get different names: the pattern contains `%p` or `%r`.
[[nodiscard]] bool names_process(std::string_view pattern);

/// Opens `path` for writing. Creates the file with mode 0644 if it does not exist. Never blocks. Refuses symbolic links
/// and files of other users except root. With a symbolic link, another user could make this process overwrite a file of
/// this user. In a file of another user, that user could read the output.
/// @param disposition O_TRUNC or O_APPEND.
/// @param why on failure, the reason and the remedy.
/// *On return* an empty descriptor on failure.
[[nodiscard]] unique_fd open_output_file(const std::string& path, int disposition, std::string& why);

/// Writes the text by one system call, so that the lines of several threads and processes do not mix. If a full pipe
/// accepts only a part, further calls write the rest. Returns 0, or the error number.
int write_all(int fd, std::string_view text) noexcept;

}  // namespace pgas::detail
