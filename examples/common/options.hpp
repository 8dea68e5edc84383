/// @file
/// The command line of an example: a table of options, which prints --help and parses the words. The file does not
/// depend on PEs, so the MPI programs use it too.
///
///     examples::command_line line("20_stencil3d", "3-D heat equation.", "pgasrun -n 4 20_stencil3d --size 64,64,64");
///     line.add("--size", "X,Y,Z", size, 1, "points of the grid");
///     line.add("--csv", csv, "prints two lines of comma-separated values");
///     if (const auto end = line.read(argc, argv, world.my_pe() == 0)) return *end;
///     if (impossible) return line.refuse("a grid of ... has no room for 7 PEs: ...", world.my_pe() == 0);
#pragma once

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace examples {

/// The exit status for a wrong command line; a wrong result has the status 1.
inline constexpr int wrong_command_line = 2;

class command_line {
 public:
  command_line(std::string name, std::string summary, std::string example)
      : name_(std::move(name)), summary_(std::move(summary)), example_(std::move(example)) {}

  /// An option without a value.
  void add(const char* word, bool& into, const char* meaning) {
    options_.push_back({word, "", meaning, "", [&into](const std::string&) {
                          into = true;
                          return std::string();
                        }});
  }

  /// A whole number of at least `least`.
  void add(const char* word, const char* value, int& into, int least, const char* meaning) {
    options_.push_back({word, value, meaning, std::to_string(into),
                        [&into, least](const std::string& text) { return read_number(text, least, into); }});
  }

  /// Several whole numbers separated by commas, such as 64,32,32. A single number stands for all of them.
  template <std::size_t N>
  void add(const char* word, const char* value, std::array<int, N>& into, int least, const char* meaning) {
    options_.push_back({word, value, meaning, into == std::array<int, N>{} ? "" : joined(into),
                        [&into, least](const std::string& text) { return read_numbers(text, least, into); }});
  }

  /// A number greater than 0.
  void add(const char* word, const char* value, double& into, const char* meaning) {
    char usual[32];
    std::snprintf(usual, sizeof usual, "%g", into);
    options_.push_back({word, value, meaning, usual, [&into](const std::string& text) {
                          char* end = nullptr;
                          const double number = std::strtod(text.c_str(), &end);
                          const bool all = !text.empty() && *end == '\0';
                          if (!all || !(number > 0 && number <= std::numeric_limits<double>::max()))
                            return std::string("is no number greater than 0");
                          into = number;
                          return std::string();
                        }});
  }

  /// Any text, such as the name of a file.
  void add(const char* word, const char* value, std::string& into, const char* meaning) {
    options_.push_back({word, value, meaning, into, [&into](const std::string& text) {
                          into = text;
                          return text.empty() ? std::string("is empty") : std::string();
                        }});
  }

  /// One of several words; `into` receives the index of the word, which can be the value of an enumeration.
  template <class Choice>
  void add(const char* word, Choice& into, std::vector<std::string> words, const char* meaning) {
    std::string all;
    for (const auto& each : words) {
      if (!all.empty()) all += '|';
      all += each;
    }
    const std::string usual = words[static_cast<std::size_t>(into)];
    options_.push_back({word, all, meaning, usual, [&into, words, all](const std::string& text) {
                          for (std::size_t i = 0; i < words.size(); ++i)
                            if (words[i] == text) {
                              into = static_cast<Choice>(i);
                              return std::string();
                            }
                          return "is none of " + all;
                        }});
  }

  /// Reads the command line. Returns nothing if the program continues. Otherwise returns the exit status of the
  /// program: 0 after --help, or the status for a wrong command line. The error is printed if `speaks` is true (on one
  /// PE).
  [[nodiscard]] std::optional<int> read(int argc, char** argv, bool speaks) const {
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      if (word == "--help" || word == "-h") {
        if (speaks) std::fputs(help().c_str(), stdout);
        return 0;
      }
      const option* const found = find(word);
      if (found == nullptr) return refuse("'" + word + "' is no option of this program", speaks);
      if (found->value.empty()) {
        found->take("");
        continue;
      }
      if (i + 1 >= argc) return refuse(word + " needs a value: " + found->value, speaks);
      const std::string text = argv[++i];
      if (const std::string problem = found->take(text); !problem.empty())
        return refuse(word + " " + text + ": '" + text + "' " + problem, speaks);
    }
    return std::nullopt;
  }

  /// Prints the problem. Returns the exit status for it.
  [[nodiscard]] int refuse(const std::string& problem, bool speaks) const {
    if (speaks)
      std::fprintf(stderr, "%s: %s\n  %s --help lists all options\n", name_.c_str(), problem.c_str(), name_.c_str());
    return wrong_command_line;
  }

  [[nodiscard]] std::string help() const {
    std::string text = summary_ + "\n\n";
    for (const auto& each : options_) {
      std::string left = "  " + each.word + (each.value.empty() ? "" : " " + each.value);
      left += left.size() < column ? std::string(column - left.size(), ' ') : "\n" + std::string(column, ' ');
      text += left + each.meaning + (each.usual.empty() ? "" : " (" + each.usual + ")") + "\n";
    }
    return text + "  --help" + std::string(column - 8, ' ') + "prints this\n\nExample: " + example_ + "\n";
  }

 private:
  struct option {
    std::string word, value, meaning, usual;
    /// Returns the problem of a value, or an empty string if the value is accepted.
    std::function<std::string(const std::string&)> take;
  };

  static constexpr std::size_t column = 26;  // the column at which meanings begin

  const option* find(const std::string& word) const {
    for (const auto& each : options_)
      if (each.word == word) return &each;
    return nullptr;
  }

  static std::string read_number(const std::string& text, int least, int& into) {
    char* end = nullptr;
    errno = 0;
    const long number = std::strtol(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0') return "is not a whole number";
    if (errno != 0 || number > std::numeric_limits<int>::max()) return "is too large";
    if (number < least) return "is less than " + std::to_string(least);
    into = static_cast<int>(number);
    return {};
  }

  template <std::size_t N>
  static std::string read_numbers(const std::string& text, int least, std::array<int, N>& into) {
    std::array<int, N> numbers{};
    std::size_t n = 0;
    for (std::size_t at = 0; at <= text.size(); ++n) {
      const std::size_t comma = text.find(',', at) == std::string::npos ? text.size() : text.find(',', at);
      if (n == N) return "has more than " + std::to_string(N) + " numbers";
      if (const auto problem = read_number(text.substr(at, comma - at), least, numbers[n]); !problem.empty())
        return problem;
      at = comma + 1;
    }
    if (n == 1) numbers.fill(numbers[0]);
    if (n != 1 && n != N) return "has " + std::to_string(n) + " numbers, not " + std::to_string(N);
    into = numbers;
    return {};
  }

  template <std::size_t N>
  static std::string joined(const std::array<int, N>& numbers) {
    std::string text;
    for (const int each : numbers) {
      if (!text.empty()) text += ',';
      text += std::to_string(each);
    }
    return text;
  }

  std::string name_, summary_, example_;
  std::vector<option> options_;
};

}  // namespace examples
