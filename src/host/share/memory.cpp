#include "host/share/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "common/net/socket.hpp"
#include "common/step_times.hpp"
#include "host/log/format_bytes.hpp"
#include "host/log/logger.hpp"
#include "host/share/share_message.hpp"
#include "pgas/config.hpp"

namespace pgas::detail {

namespace {

/// A piece by fabric handle in a ticket.
struct fabric_piece {
  std::uint64_t bytes;
  std::array<std::byte, 64> handle;
};

/// A ticket's contents: the description, and the handles for other hosts where they fit.
blob contents_of(const exportable_memory& memory, bool carries_timeline, bool read_only) {
  blob payload;
  sharing_description described = memory.description();
  if (read_only) described.read_only = 1;
  described.carries_timeline = carries_timeline ? 1 : 0;
  append(payload, described);
  const std::vector<shared_piece> pieces = memory.fabric_pieces();
  if (pieces.size() <= (ticket::max_payload - payload.size()) / sizeof(fabric_piece))
    for (const shared_piece& piece : pieces) append(payload, fabric_piece{piece.bytes, piece.handle.bytes});
  return payload;
}

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

deferred_release& streams_of(const sharing_description& described) {
  return described.way == sharing_way::memory_file ? deferred_release::of_host_streams()
                                                   : deferred_release::of_gpu_streams();
}

struct memory_of_this_process final : deferred_object {
  explicit memory_of_this_process(std::unique_ptr<exportable_memory> its) : memory(std::move(its)) {}
  const std::unique_ptr<exportable_memory> memory;
};

/// For dropped memory that is to make room for new memory: as long as a program may notice, and no longer.
constexpr std::chrono::milliseconds longest_wait_for_room{1000};

class exported_object final : public shared_object {
 public:
  exported_object(std::shared_ptr<const exportable_memory> memory, ticket_kind kind, bool read_only = false)
      : memory_(std::move(memory)), kind_(kind), read_only_(read_only) {}
  [[nodiscard]] ticket_kind kind() const noexcept override { return kind_; }
  [[nodiscard]] blob description() const override {
    blob bytes;
    sharing_description is = memory_->description();
    if (read_only_) is.read_only = 1;
    append(bytes, is);
    return bytes;
  }
  [[nodiscard]] std::size_t pieces() const noexcept override { return memory_->pieces(); }
  [[nodiscard]] shared_piece piece(std::size_t number) const override {
    return read_only_ ? memory_->read_only_piece(number) : memory_->piece(number);
  }
  [[nodiscard]] std::shared_ptr<const shared_object> read_only() const override {
    return std::make_shared<exported_object>(memory_, kind_, true);
  }
  [[nodiscard]] std::string text() const override {
    if (kind_ != ticket_kind::memory) return std::string(name_of(kind_));
    const sharing_description& is = memory_->description();
    return fmt::format("{} of {} memory{}", format_bytes(is.bytes), is.way == sharing_way::memory_file ? "host" : "GPU",
                       is.read_only != 0 || read_only_ ? ", read-only" : "");
  }

 private:
  std::shared_ptr<const exportable_memory> memory_;
  ticket_kind kind_;
  bool read_only_;
};

}  // namespace

std::shared_ptr<const exportable_memory> share_memory(std::unique_ptr<exportable_memory> memory) {
  deferred_release& by = streams_of(memory->description());
  const auto owner =
      share_deferred<memory_of_this_process>(by, std::make_unique<memory_of_this_process>(std::move(memory)));
  return {owner, owner->memory.get()};
}

std::shared_ptr<const exportable_memory> make_memory(memory_place place, std::size_t bytes, access importers) {
  const auto make = [&] {
    return place == memory_place::host() ? make_host_memory(bytes, importers)
                                         : make_gpu_memory(place.ordinal, bytes, importers);
  };
  std::unique_ptr<exportable_memory> made;
  try {
    made = make();
  } catch (const error& failed) {
    if (failed.code() != code::out_of_memory) throw;
    deferred_release& dropped =
        place == memory_place::host() ? deferred_release::of_host_streams() : deferred_release::of_gpu_streams();
    if (dropped.kept() == 0) throw;
    static_cast<void>(dropped.await_all(longest_wait_for_room));
    made = make();
  }
  return share_memory(std::move(made));
}

export_registration& exported_memory::registered() {
  if (!registered_)
    registered_ = std::make_unique<export_registration>(std::make_shared<exported_object>(memory_, kind_));
  return *registered_;
}

std::string exported_memory::make_ticket(const ticket_options& options, std::uint64_t carried) {
  const bool read_only = options.importers == access::read_only;
  if (read_only && kind_ != ticket_kind::memory)
    throw error(code::invalid_argument,
                fmt::format("a ticket of {} can't be read-only: processes that open it write to it", name_of(kind_)));
  if (read_only) memory_->allow_read_only();
  return registered().make_ticket(options, contents_of(*memory_, carried != 0, read_only), carried);
}

std::uint64_t exported_memory::export_id() { return registered().id(); }

void exported_memory::revoke() {
  if (registered_) registered_->revoke();
}

std::vector<opener> exported_memory::opened_by() const {
  return registered_ ? registered_->opened_by() : std::vector<opener>();
}

/// What this process has mapped, and which tickets it is opening just now.
struct imported_memory::table {
  using ticket_key = std::tuple<std::uint64_t, ticket_kind, int>;          ///< id, what it was opened for, place
  using block_key = std::tuple<pid_t, std::uint64_t, bits128, int, bool>;  ///< exporter, block, place, read-only
  std::mutex mutex;
  std::condition_variable opened;
  std::set<ticket_key> opening;
  std::map<ticket_key, std::weak_ptr<imported_memory>> by_ticket;
  std::map<block_key, std::weak_ptr<imported_memory>> by_block;

  static table& of_process() { return of_this_process<table>(); }

  [[nodiscard]] std::shared_ptr<imported_memory> find(const ticket_key& key) {
    const auto known = by_ticket.find(key);
    return known == by_ticket.end() ? nullptr : known->second.lock();
  }
  /// Erases the entries of closed memory first, so that the maps do not grow.
  void add(const ticket_key& ticket, const block_key& block, const std::shared_ptr<imported_memory>& memory) {
    std::erase_if(by_ticket, [](const auto& entry) { return entry.second.expired(); });
    std::erase_if(by_block, [](const auto& entry) { return entry.second.expired(); });
    by_ticket[ticket] = memory;
    by_block[block] = memory;
  }
};

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
  const table::ticket_key key{which.id, kind, place};
  table& all = table::of_process();
  std::unique_lock lock(all.mutex);
  for (;;) {
    if (std::shared_ptr<imported_memory> known = all.find(key)) {
      exporter_connection* const proven = known->connection_for(which);
      if (proven != nullptr) {
        lock.unlock();
        proven->check_ticket();
        return known;
      }
    }
    // One of several threads opens it: it is counted once, and mapped once.
    if (all.opening.insert(key).second) break;
    if (all.opened.wait_until(lock, limit.at()) == std::cv_status::timeout && all.opening.contains(key))
      throw error(code::wait_timeout,
                  fmt::format("another thread is still opening the ticket of {}", name_of(which.exporter)));
  }
  lock.unlock();
  const auto finish = [&] {
    all.opening.erase(key);
    all.opened.notify_all();
  };
  try {
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
    const table::block_key block{which.exporter.pid, which.exporter.start, described.block, place,
                                 described.read_only != 0};
    lock.lock();
    const auto same = all.by_block.find(block);
    std::shared_ptr<imported_memory> memory = same == all.by_block.end() ? nullptr : same->second.lock();
    if (!memory) {
      // Other tickets for the same memory wait: it is mapped once.
      memory = share_deferred<imported_memory>(
          streams_of(described),
          std::make_unique<imported_memory>(which, described, map(described, opened.pieces, options)));
    }
    if (opened.connection) memory->add(std::move(opened.connection));
    opened.pieces.clear();
    step_times::lap("close descriptors");
    if (times) log->debug("opening {} bytes of {}: {}", described.bytes, who, times->text());
    all.add(key, block, memory);
    finish();
    return memory;
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    finish();
    throw;
  }
}

bool imported_memory::overlaps(const void* pointer, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
  table& all = table::of_process();
  const std::lock_guard lock(all.mutex);
  return std::ranges::any_of(all.by_block, [&](const auto& entry) {
    const std::shared_ptr<imported_memory> one = entry.second.lock();
    if (!one) return false;
    const auto start = reinterpret_cast<std::uintptr_t>(one->data());
    return begin < start + one->description().bytes && start < begin + bytes;
  });
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
