/// @file
/// Text for people: lines that fit, colours on terminals only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pgas::tools {

/// The columns of help, and of tables where no terminal says otherwise.
inline constexpr std::size_t usual_width = 100;

/// The text in lines broken at blanks, or inside a word that is longer than a line. The first has at most `first`
/// characters, the others `room`.
[[nodiscard]] std::vector<std::string> lines_of(std::string_view text, std::size_t room, std::size_t first);

/// The text in lines of at most `width` columns, without a newline at the end. Further lines are indented by `indent`;
/// the first begins at `column`.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width, std::size_t indent, std::size_t column = 0);

/// The text, in which lines that are indented and longer than `width` are broken. Lines that begin at the left are for
/// programs, too, and stay whole.
[[nodiscard]] std::string fitted(std::string_view text, std::size_t width = usual_width);

/// Whether people see what is written there. mpirun gives PEs pseudo-terminals whose other end may be a file: those are
/// not the terminal that the process belongs to.
[[nodiscard]] bool is_terminal(int descriptor);

/// Whether standard output is to have colours: it is a terminal that has some, and NO_COLOR is unset or empty.
[[nodiscard]] bool wants_colour();

/// The columns of the terminal that standard output is; `otherwise` where it is none, or does not say.
[[nodiscard]] std::size_t columns_or(std::size_t otherwise);

}  // namespace pgas::tools
