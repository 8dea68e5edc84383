/// @file
/// Text for people: lines that fit the terminal, and colours on terminals only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pgas::tools {

/// The width of help texts in columns. Also the width of tables if the width of the terminal is not known.
inline constexpr std::size_t usual_width = 100;

/// The text in lines. Lines are broken at blanks, or inside a word that is longer than a line. The first line has at
/// most `first` characters, and each other line at most `room`.
[[nodiscard]] std::vector<std::string> lines_of(std::string_view text, std::size_t room, std::size_t first);

/// The text in lines of at most `width` columns, without a newline at the end. The first line begins at `column`;
/// further lines are indented by `indent`.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width, std::size_t indent, std::size_t column = 0);

/// The text, with indented lines broken if they are longer than `width`. Lines without indentation are not broken,
/// because programs also read these lines.
[[nodiscard]] std::string fitted(std::string_view text, std::size_t width = usual_width);

/// Whether the descriptor is the terminal of the process's session, so that a person sees the output. A pseudo-terminal
/// that mpirun gives to a PE is not such a terminal, because mpirun can write the output to a file.
[[nodiscard]] bool is_terminal(int descriptor);

/// Whether standard output uses colours: true if it is a terminal with colours, and NO_COLOR is unset or empty.
[[nodiscard]] bool wants_colour();

/// The columns of the terminal of standard output. Returns `otherwise` if standard output is no terminal, or does not
/// report its width.
[[nodiscard]] std::size_t columns_or(std::size_t otherwise);

}  // namespace pgas::tools
