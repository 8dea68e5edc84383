/// @file
/// Opens the files that settings name: PGAS_LOG_FILE, PGAS_TRACE. Such a name is often predictable and in a directory
/// in which other users can create files, such as /tmp.
#pragma once

#include <string>

#include "common/unique_fd.hpp"

namespace pgas::detail {

/// Opens `path` for writing, creates it with mode 0644 where it does not exist, and never waits. It is not opened if it
/// is a symbolic link or a file of another user, root excepted: another user may have put it there to have a file of
/// this user overwritten, or to read what is written.
/// @param disposition O_TRUNC or O_APPEND.
/// @param why on failure, the reason and the remedy.
/// *On return* none on failure.
[[nodiscard]] unique_fd open_output_file(const std::string& path, int disposition, std::string& why);

}  // namespace pgas::detail
