#include "tools/pgas-trace/merge_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace pgas_trace {

namespace {

using pgas::trace::document;
using pgas::trace::pe_trace;

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(fmt::format("{}: {}", path, std::strerror(errno)));
  std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) throw std::runtime_error(fmt::format("{}: can't be read", path));
  if (content.empty())
    throw std::runtime_error(
        fmt::format("{}: is empty: its PE runs still, or ended without leaving its world; name the other files", path));
  return content;
}

void add_remarks(const document& trace, std::vector<std::string>& remarks) {
  std::vector<int> missing;
  for (int pe = 0; pe < trace.pes.front().pes; ++pe)
    if (std::ranges::find(trace.pes, pe, &pe_trace::pe) == trace.pes.end()) missing.push_back(pe);
  if (!missing.empty())
    remarks.push_back(
        fmt::format("of {} PEs, these are in no file: {}", trace.pes.front().pes, fmt::join(missing, ", ")));
  for (const pe_trace& pe : trace.pes)
    if (pe.lost != 0)
      remarks.push_back(fmt::format("PE {} lost {} events, its oldest: it had no more room for them", pe.pe, pe.lost));
}

}  // namespace

merged_trace merge_files(const std::vector<std::string>& paths) {
  merged_trace result;
  for (const std::string& path : paths) {
    document next;
    try {
      next = pgas::trace::read_perfetto(content_of(path));
    } catch (const std::runtime_error& refused) {
      const std::string why = refused.what();
      throw std::runtime_error(why.starts_with(path) ? why : fmt::format("{}: {}", path, why));
    }
    for (pe_trace& pe : next.pes) {
      if (!result.all.pes.empty() && pe.job != result.all.pes.front().job)
        throw std::runtime_error(fmt::format("{}: is of another job than {}", path, paths.front()));
      if (std::ranges::find(result.all.pes, pe.pe, &pe_trace::pe) != result.all.pes.end())
        throw std::runtime_error(fmt::format("{}: has PE {}, which another file has, too", path, pe.pe));
      result.all.pes.push_back(std::move(pe));
    }
  }
  std::ranges::sort(result.all.pes, {}, &pe_trace::pe);
  add_remarks(result.all, result.remarks);
  return result;
}

}  // namespace pgas_trace
