#include "host/share/imported_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "common/net/socket.hpp"
#include "common/step_times.hpp"
#include "host/log/logger.hpp"
#include "host/share/import_table.hpp"
#include "host/share/share_message.hpp"
#include "pgas/config.hpp"

namespace pgas::detail {

namespace {

/// Where the steps of opening are logged; nowhere if the settings are wrong, which is for others to report.
class import_log {
 public:
  import_log() {
    try {
      log_.emplace(config::from_environment());
    } catch (const error&) {
    }
  }
  [[nodiscard]] static log::logger* verbose() {
    std::optional<log::logger>& log = of_this_process<import_log>().log_;
    return log && log->enabled(log_level::debug) ? &*log : nullptr;
  }

 private:
  std::optional<log::logger> log_;
};

[[noreturn]] void contradicts(const std::string& who) {
  throw error(
      code::handle_invalid,
      fmt::format("{} describes its memory in another way than this version of pgas: use the same on both sides", who));
}

sharing_description take_description(std::span<const std::byte>& bytes, const std::string& who) {
  sharing_description described;
  if (bytes.size() < sizeof described) contradicts(who);
  std::memcpy(&described, bytes.data(), sizeof described);
  bytes = bytes.subspan(sizeof described);
  const bool known = described.way >= sharing_way::memory_file && described.way <= sharing_way::legacy;
  if (!known || described.read_only > 1 || described.carries_timeline > 1 || described.bytes == 0) contradicts(who);
  return described;
}

std::unique_ptr<mapped_import> map(const sharing_description& described, std::span<shared_piece> pieces,
                                   const open_options& options) {
  if (described.way != sharing_way::memory_file)
    return import_gpu_memory(described, pieces, options.place ? options.place->ordinal : -1);
  if (options.place && *options.place != memory_place::host())
    throw error(code::peer_unreachable,
                fmt::format("the ticket is for host memory, which can't be opened on GPU {}: leave "
                            "open_options::place empty",
                            options.place->ordinal));
  return import_host_memory(described, pieces);
}

}  // namespace

imported_memory::imported_memory(const ticket& by, const sharing_description& described,
                                 std::unique_ptr<mapped_import> mapped)
    : description_(described),
      exporter_{by.exporter.host, by.exporter.pid, by.exporter.uid, by.exporter.start},
      mapped_(std::move(mapped)) {}

bool carries_timeline(const ticket& which) {
  std::span<const std::byte> bytes(which.payload);
  return which.kind == ticket_kind::memory && take_description(bytes, name_of(which.exporter)).carries_timeline != 0;
}

std::shared_ptr<imported_memory> imported_memory::open(const ticket& which, ticket_kind kind,
                                                       const open_options& options) {
  const deadline limit(options.timeout);
  const int place = options.place ? options.place->ordinal : -1;
  const import_table::ticket_key key{which.id, kind, place};
  import_table& table = import_table::of_process();
  if (std::shared_ptr<imported_memory> known = table.find_or_reserve(key, which, limit)) {
    known->connection_for(which)->check_ticket();
    return known;
  }
  const import_table::reservation reserved(table, key);
  const std::string who = name_of(which.exporter);
  log::logger* const log = import_log::verbose();
  std::optional<step_times> times;
  if (log != nullptr) times.emplace();
  opened_ticket opened;
  std::span<const std::byte> bytes(which.payload);
  sharing_description described = take_description(bytes, who);
  const bool by_fabric =
      kind == which.kind && kind == ticket_kind::memory && which.exporter.machine != this_machine() && !bytes.empty();
  if (by_fabric) {
    for (; bytes.size() >= sizeof(fabric_piece); bytes = bytes.subspan(sizeof(fabric_piece))) {
      fabric_piece one;
      std::memcpy(&one, bytes.data(), sizeof one);
      opened.pieces.push_back({{handle_kind::fabric, one.handle, {}, false}, one.bytes});
    }
  } else {
    opened = open_ticket(which, kind, limit);
    bytes = opened.description;
    described = take_description(bytes, who);
  }
  const import_table::block_key block{which.exporter.pid, which.exporter.start, described.block, place,
                                      described.read_only != 0};
  std::shared_ptr<imported_memory> memory = table.find_or_map(key, block, [&] {
    return share_deferred<imported_memory>(
        deferred_release::of_users_of(described),
        std::make_unique<imported_memory>(which, described, map(described, opened.pieces, options)));
  });
  if (opened.connection) memory->add(std::move(opened.connection));
  opened.pieces.clear();
  step_times::lap("close descriptors");
  if (times) log->debug("opening {} bytes of {}: {}", described.bytes, who, times->text());
  return memory;
}

exporter_connection* imported_memory::connection_for(const ticket& which) {
  const std::lock_guard lock(mutex_);
  const auto is_it = [&](const auto& one) {
    return one->opened().id == which.id && same_bits(one->opened().key, which.key);
  };
  const auto found = std::ranges::find_if(connections_, is_it);
  return found == connections_.end() ? nullptr : found->get();
}

void imported_memory::add(std::unique_ptr<exporter_connection> connection) {
  const std::lock_guard lock(mutex_);
  // Of a ticket that was revoked nobody asks again; the last connection stays, as alive() needs one.
  connections_.push_back(std::move(connection));
}

bool imported_memory::alive() {
  const std::lock_guard lock(mutex_);
  return connections_.empty() || connections_.back()->alive();
}

void imported_memory::check() {
  const std::lock_guard lock(mutex_);
  if (!connections_.empty()) connections_.back()->check();
}

}  // namespace pgas::detail
