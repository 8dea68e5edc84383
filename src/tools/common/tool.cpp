#include "tools/common/tool.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <utility>

namespace pgas::tools {

namespace {

command describe(const CLI::App& app);

/// CLI11 prints the help that the formatter returns. A subcommand with a separate page does not inherit the formatter.
class page_formatter : public CLI::FormatterBase {
 public:
  explicit page_formatter(page says) : says_(std::move(says)) {}
  std::string make_help(const CLI::App* app, std::string /*name*/, CLI::AppFormatMode /*mode*/) const override {
    return help_of(describe(*app));
  }
  [[nodiscard]] const page& says() const { return says_; }

 private:
  page says_;
};

std::vector<std::string> words_in_braces(const std::string& text) {
  const std::size_t open = text.find('{');
  const std::size_t close = text.find('}', open);
  if (open == std::string::npos || close == std::string::npos) return {};
  return CLI::detail::split(text.substr(open + 1, close - open - 1), ',');
}

option describe(const CLI::Option& from) {
  option found;
  for (const std::string& name : from.get_snames()) found.names.push_back('-' + name);
  for (const std::string& name : from.get_lnames()) found.names.push_back("--" + name);
  const bool is_argument = found.names.empty();
  if (is_argument) found.names.push_back(from.get_name(true));
  found.meaning = from.get_description();
  if (from.get_items_expected_max() == 0) return found;
  const std::string type = from.get_type_name();
  found.value = is_argument ? found.names.front() : type.substr(0, type.find(':'));
  found.choices = words_in_braces(type);
  found.list = from.get_delimiter() == ',' && !found.choices.empty();
  found.many = is_argument && from.get_expected_max() > 1;
  if (!from.get_default_str().empty()) found.meaning += fmt::format(" (default: {})", from.get_default_str());
  return found;
}

command describe(const CLI::App& app) {
  command found;
  const CLI::App* const parent = app.get_parent();
  found.name = parent == nullptr ? app.get_name() : parent->get_name() + ' ' + app.get_name();
  if (const auto formatter = std::dynamic_pointer_cast<page_formatter>(app.get_formatter()))
    found.says = formatter->says();
  for (const CLI::Option* const each : app.get_options()) {
    if (each->get_group().empty()) continue;
    option item = describe(*each);
    (each->nonpositional() ? found.options : found.arguments).push_back(std::move(item));
  }
  for (const CLI::App* const each : app.get_subcommands([](const CLI::App*) { return true; }))
    found.commands.push_back(describe(*each));
  found.starts_program = app.get_prefix_command();
  return found;
}

/// Ends the parsing after a text has been printed.
[[noreturn]] void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
  throw CLI::Success();
}

std::string completion_of(const command& program, const std::string& shell) {
  if (shell == "bash") return bash_completion_of(program);
  return shell == "zsh" ? zsh_completion_of(program) : fish_completion_of(program);
}

/// The text of a command-line error, with the command that prints the options.
std::string complaint(const CLI::App* app, const CLI::Error& why) {
  const std::vector<CLI::App*> commands = app->get_subcommands();
  return fmt::format("{0}: {1}\n{0}{2} --help lists the options\n", app->get_name(), why.what(),
                     commands.empty() ? "" : ' ' + commands.front()->get_name());
}

}  // namespace

void set_page(CLI::App& app, page says) {
  app.formatter(std::make_shared<page_formatter>(std::move(says)));
  app.set_help_flag("-h,--help", "print this");
  app.add_flag_callback("--man", [&app] { print(manual_of(describe(app), PGAS_TOOLS_VERSION)); })->group("");
  if (app.get_parent() != nullptr) return;
  app.set_version_flag("-V,--version", fmt::format("{} (pgas) {}", app.get_name(), PGAS_TOOLS_VERSION),
                       "print the version");
  app.add_option_function<std::string>("--completion",
                                       [&app](const std::string& shell) { print(completion_of(describe(app), shell)); })
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->group("");
  app.failure_message(complaint);
}

int end_with(const CLI::App& app, const CLI::ParseError& stop) { return app.exit(stop) == 0 ? 0 : wrong_command_line; }

std::string write_file(const std::string& path, std::string_view content) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  return file ? "" : fmt::format("{} cannot be written: {}", path, std::strerror(errno));
}

std::string write_output(const std::string& path, std::string_view content) {
  if (path != "-") return write_file(path, content);
  fmt::print("{}", content);
  std::fflush(stdout);
  return "";
}

}  // namespace pgas::tools
