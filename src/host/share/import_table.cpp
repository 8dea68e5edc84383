#include "host/share/import_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "common/fork_guard.hpp"
#include "common/step_times.hpp"
#include "common/value_bytes.hpp"
#include "host/log/logger.hpp"
#include "host/share/share_message.hpp"
#include "pgas/config.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

/// The log for the steps of opening a ticket. Logs nothing if the settings are wrong; other code reports wrong
/// settings.
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
  if (!take_value(bytes, described)) contradicts(who);
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

// ---- imported_memory

imported_memory::imported_memory(const ticket& by, const sharing_description& described,
                                 std::unique_ptr<mapped_import> mapped)
    : description_(described),
      exporter_{by.exporter.host, by.exporter.pid, by.exporter.uid, by.exporter.start},
      mapped_(std::move(mapped)) {}

exporter_connection* imported_memory::connection_for(const ticket& which) {
  const std::lock_guard lock(mutex_);
  const auto is_it = [&](const auto& item) {
    return item->opened().id == which.id && same_bits(item->opened().key, which.key);
  };
  const auto found = std::ranges::find_if(connections_, is_it);
  return found == connections_.end() ? nullptr : found->get();
}

void imported_memory::add(std::unique_ptr<exporter_connection> connection) {
  const std::lock_guard lock(mutex_);
  // Connections of revoked tickets stay in the list, because alive() uses the last connection.
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

// ---- import_table

import_table& import_table::of_process() { return of_this_process<import_table>(); }

bool carries_timeline(const ticket& which) {
  std::span<const std::byte> bytes(which.payload);
  return which.kind == ticket_kind::memory && take_description(bytes, name_of(which.exporter)).carries_timeline != 0;
}

std::shared_ptr<imported_memory> import_table::open(const ticket& which, ticket_kind kind,
                                                    const open_options& options) {
  const deadline limit(options.timeout);
  const int place = options.place ? options.place->ordinal : -1;
  const ticket_key key{which.id, kind, place};
  if (std::shared_ptr<imported_memory> known = find_or_reserve(key, which, limit)) {
    known->connection_for(which)->check_ticket();
    return known;
  }
  const reservation reserved(*this, key);
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
    for (fabric_piece piece; take_value(bytes, piece);)
      opened.pieces.push_back({{handle_kind::fabric, piece.handle, {}, false}, piece.bytes});
  } else {
    opened = open_ticket(which, kind, limit);
    bytes = opened.description;
    described = take_description(bytes, who);
  }
  const block_key block{which.exporter.pid, which.exporter.start, described.block, place, described.read_only != 0};
  std::shared_ptr<imported_memory> memory = find_or_map(key, block, [&] {
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

std::shared_ptr<imported_memory> import_table::find_or_reserve(const ticket_key& key, const ticket& which,
                                                               const deadline& limit) {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto known = by_ticket_.find(key);
    if (std::shared_ptr<imported_memory> memory = known == by_ticket_.end() ? nullptr : known->second.lock();
        memory && memory->connection_for(which) != nullptr)
      return memory;
    // Only one thread opens the ticket, so that the exporter counts one opening and the memory is mapped once.
    if (opening_.insert(key).second) return nullptr;
    if (opened_.wait_until(lock, limit.at()) == std::cv_status::timeout && opening_.contains(key))
      throw error(code::wait_timeout,
                  fmt::format("another thread is still opening the ticket of {}", name_of(which.exporter)));
  }
}

import_table::reservation::~reservation() {
  const std::lock_guard lock(of_.mutex_);
  of_.opening_.erase(key_);
  of_.opened_.notify_all();
}

std::shared_ptr<imported_memory> import_table::find_or_map(
    const ticket_key& key, const block_key& block, const std::function<std::shared_ptr<imported_memory>()>& map) {
  const std::lock_guard lock(mutex_);
  const auto same = by_block_.find(block);
  std::shared_ptr<imported_memory> memory = same == by_block_.end() ? nullptr : same->second.lock();
  if (!memory) memory = map();
  // Removes the entries of memory that was closed, so that the maps stay small.
  std::erase_if(by_ticket_, [](const auto& entry) { return entry.second.expired(); });
  std::erase_if(by_block_, [](const auto& entry) { return entry.second.expired(); });
  by_ticket_[key] = memory;
  by_block_[block] = memory;
  return memory;
}

bool import_table::overlaps(const void* pointer, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(by_block_, [&](const auto& entry) {
    const std::shared_ptr<imported_memory> memory = entry.second.lock();
    if (!memory) return false;
    const auto start = reinterpret_cast<std::uintptr_t>(memory->data());
    return begin < start + memory->description().bytes && start < begin + bytes;
  });
}

}  // namespace pgas::detail
