#include "host/transport/ucx/ucx_transport.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace pgas::detail {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

/// The interval at which endpoints that wait to be closed are polled.
constexpr milliseconds while_closing{50};
/// The time limit for requests to peers that do not disconnect, and for closing.
constexpr milliseconds longest_closing{2000};

/// Whether the CPU can read the byte at `address`. The CPU cannot read memory of a GPU. A UCX without CUDA support
/// treats GPU memory as memory of the CPU, and the process would crash at the first access.
[[nodiscard]] bool cpu_can_read(const void* address) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    throw error{code::system, fmt::format("pipe2: {}", std::strerror(errno))};
  const unique_fd out(ends[0]);
  const unique_fd in(ends[1]);
  // The operating system reads the byte for this process. If the byte cannot be read, write() fails with EFAULT.
  return ::write(in.get(), address, 1) == 1;
}

}  // namespace

std::unique_ptr<transport> make_ucx_transport(const ucx_settings& settings) {
  return std::make_unique<ucx_transport>(settings);
}

ucx_transport::ucx_transport(const ucx_settings& settings)
    : log_(*settings.log), me_(settings.pe), worker_(settings), wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (!wake_) throw error{code::system, fmt::format("eventfd: {}", std::strerror(errno))};
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = 0;
  handler.cb = arrived;
  handler.arg = this;
  const ucs_status_t status = worker_.library().worker_set_am_recv_handler(worker_.get(), &handler);
  if (status != UCS_OK)
    throw error{code::transport_failed,
                fmt::format("UCX: receiving messages: {}", worker_.library().status_string(status))};
}

ucx_transport::~ucx_transport() {
  if (events_ != nullptr) close_all(longest_closing);  // sends no disconnect messages, so peers see a loss
  if (std::any_of(peers_.begin(), peers_.end(), [](const auto& peer) { return peer->unfinished(); }))
    worker_.leave_unfinished();
  for (const auto& [id, memory] : exposed_) (void)worker_.library().mem_unmap(worker_.context(), memory);
}

void ucx_transport::connect(std::vector<blob> addresses, transport_events& events) {
  for (std::size_t pe = 0; pe < addresses.size(); ++pe) {
    if (addresses[pe].empty())
      throw error{code::transport_failed,
                  fmt::format("PE {} has no UCX address: it uses another transport, or none", pe),
                  static_cast<int>(pe)};
    peers_.push_back(
        std::make_unique<ucx_endpoint>(static_cast<int>(pe), me_, std::move(addresses[pe]), worker_, completions_));
  }
  told_lost_.resize(peers_.size());
  events_ = &events;
}

std::string ucx_transport::route(int pe) const {
  return pe >= 0 && static_cast<std::size_t>(pe) < peers_.size() ? peers_[static_cast<std::size_t>(pe)]->route() : "";
}

// ---- memory

std::optional<exposed_memory> ucx_transport::expose(void* address, std::size_t bytes, std::string& why_not) {
  const bool host = bytes == 0 || cpu_can_read(address);
  if (!host && !worker_.reaches_cuda()) {
    why_not = fmt::format("UCX {} was built or installed without CUDA support", worker_.library().version);
    return std::nullopt;
  }
  ucp_mem_map_params_t wanted{};
  wanted.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
  wanted.address = address;
  wanted.length = bytes;
  ucp_mem_h memory = nullptr;
  ucs_status_t status = worker_.library().mem_map(worker_.context(), &wanted, &memory);
  if (status != UCS_OK) {
    why_not = fmt::format("registering {} bytes: {}", bytes, worker_.library().status_string(status));
    return std::nullopt;
  }
  ucp_mem_attr_t known{};
  known.field_mask = UCP_MEM_ATTR_FIELD_MEM_TYPE;
  void* rkey = nullptr;
  std::size_t rkey_bytes = 0;
  status = worker_.library().mem_query(memory, &known);
  if (status == UCS_OK && !host && known.mem_type == UCS_MEMORY_TYPE_HOST) status = UCS_ERR_UNSUPPORTED;
  if (status == UCS_OK) status = worker_.library().rkey_pack(worker_.context(), memory, &rkey, &rkey_bytes);
  if (status != UCS_OK) {
    (void)worker_.library().mem_unmap(worker_.context(), memory);
    why_not = fmt::format("asking for access to {} bytes: {}", bytes, worker_.library().status_string(status));
    return std::nullopt;
  }
  const auto* const first = static_cast<const std::byte*>(rkey);
  const ucx_memory_key key{reinterpret_cast<std::uintptr_t>(address), bytes, blob(first, first + rkey_bytes)};
  worker_.library().rkey_buffer_release(rkey);
  const std::lock_guard lock(exposed_mutex_);
  exposed_.emplace(next_exposed_, memory);
  return exposed_memory{next_exposed_++, key.packed()};
}

void ucx_transport::withdraw(const exposed_memory& memory) noexcept {
  ucp_mem_h handle = nullptr;
  {
    const std::lock_guard lock(exposed_mutex_);
    const auto found = exposed_.find(memory.id);
    if (found == exposed_.end()) return;
    handle = found->second;
    exposed_.erase(found);
  }
  const ucs_status_t status = worker_.library().mem_unmap(worker_.context(), handle);
  if (status != UCS_OK) log_.warn("UCX does not deregister memory: {}", worker_.library().status_string(status));
}

std::uint64_t ucx_transport::import_memory(int pe, std::span<const std::byte> key) {
  if (pe < 0 || static_cast<std::size_t>(pe) >= peers_.size())
    throw error{code::handle_invalid, fmt::format("a key of PE {} in a job of {} PEs", pe, peers_.size()), pe};
  imported_.emplace(next_import_,
                    imported_memory{peers_[static_cast<std::size_t>(pe)].get(), ucx_memory_key::unpack(pe, key)});
  return next_import_++;
}

void ucx_transport::forget(std::uint64_t number) noexcept {
  const auto found = imported_.find(number);
  if (found == imported_.end()) return;
  found->second.peer->forget(number);
  imported_.erase(found);
}

// ---- work

ucx_transport::imported_memory& ucx_transport::imported(std::uint64_t number, std::uint64_t offset, std::size_t bytes) {
  const auto found = imported_.find(number);
  if (found == imported_.end()) throw error{code::transport_failed, "a put or get names memory that is not imported"};
  check_range(found->second.peer->pe(), offset, bytes, found->second.key.bytes);
  return found->second;
}

void ucx_transport::put(std::uint64_t number, std::uint64_t offset, const void* local, std::size_t bytes,
                        transport_token token) {
  const imported_memory& memory = imported(number, offset, bytes);
  memory.peer->put(number, memory.key, offset, local, bytes, token);
}

void ucx_transport::get(std::uint64_t number, std::uint64_t offset, void* local, std::size_t bytes,
                        transport_token token) {
  const imported_memory& memory = imported(number, offset, bytes);
  memory.peer->get(number, memory.key, offset, local, bytes, token);
}

void ucx_transport::send(int pe, std::span<const std::byte> message, transport_token token) {
  check_message(pe, static_cast<int>(peers_.size()), message.size(), max_message());
  peers_[static_cast<std::size_t>(pe)]->send(ucx_header::kind::data, message, token);
}

// Called by UCX. Must not throw. Events are reported later, outside of UCX.
ucs_status_t ucx_transport::arrived(void* self, const void* header, std::size_t header_bytes, void* data,
                                    std::size_t bytes, const ucp_am_recv_param_t* param) {
  auto& me = *static_cast<ucx_transport*>(self);
  arrival message{};
  const auto* first = static_cast<const std::byte*>(data);
  const bool packed = header_bytes == 0 && bytes >= sizeof message.header && bytes <= ucx_packed_bytes;
  if (packed) {
    header = data;
    header_bytes = sizeof message.header;
    first += sizeof message.header;
    bytes -= sizeof message.header;
  }
  if (header_bytes == sizeof message.header) std::memcpy(&message.header, header, sizeof message.header);
  const bool sound = header_bytes == sizeof message.header && message.header.magic == ucx_header::expected_magic &&
                     message.header.what <= ucx_header::kind::disconnect && message.header.pe >= 0 &&
                     static_cast<std::size_t>(message.header.pe) < me.peers_.size() && bytes <= me.max_message() &&
                     (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0;
  if (!sound) {
    if (!std::exchange(me.warned_, true))
      me.log_.warn("UCX delivered a message of another job ({} + {} bytes); such messages are ignored", header_bytes,
                   bytes);
    return UCS_OK;
  }
  message.bytes = bytes;
  const bool keep = !packed && (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) != 0;
  if (keep)
    message.kept = data;
  else if (bytes <= message.small.size())
    std::copy_n(first, bytes, message.small.begin());
  else
    message.copy.assign(first, first + bytes);
  me.arrivals_.push_back(std::move(message));
  return keep ? UCS_INPROGRESS : UCS_OK;
}

void ucx_transport::release(const arrival& message) noexcept {
  if (message.kept != nullptr) worker_.library().am_data_release(worker_.get(), message.kept);
}

bool ucx_transport::drive() {
  bool busy = false;
  for (ucx_endpoint* const peer : completions_.take_unflushed()) {
    peer->flush();
    busy = true;
  }
  return worker_.library().worker_progress(worker_.get()) != 0 || busy;
}

void ucx_transport::deliver_arrivals() {
  std::vector<arrival> now = std::exchange(arrivals_, std::move(spare_));
  for (const arrival& message : now) {
    ucx_endpoint& from = *peers_[static_cast<std::size_t>(message.header.pe)];
    if (message.header.what == ucx_header::kind::disconnect) from.note_disconnect();
    if (message.header.what == ucx_header::kind::connect) from.connect();
    if (message.header.what == ucx_header::kind::data && events_ != nullptr &&
        !told_lost_[static_cast<std::size_t>(from.pe())]) {
      events_->message(from.pe(), message.contents());
    }
    release(message);
  }
  now.clear();
  spare_ = std::move(now);
}

void ucx_transport::deliver_ended() {
  for (ucx_batch* const batch : completions_.take_ended()) {
    ucx_endpoint& peer = *batch->peer;
    if (batch->status != UCS_OK) {
      peer.fail(worker_.library().status_string(batch->status));
    } else {
      peer.completed(batch->tokens.size());
      if (events_ != nullptr && !told_lost_[static_cast<std::size_t>(peer.pe())])
        for (const transport_token token : batch->tokens) events_->done(token);
    }
    completions_.release(*batch);
  }
}

void ucx_transport::deliver_losses() {
  for (ucx_endpoint* const peer : completions_.take_failed()) {
    if (!peer->closed()) to_close_.push_back(peer);
    const auto pe = static_cast<std::size_t>(peer->pe());
    if (events_ == nullptr || told_lost_[pe] || !peer->is_lost()) continue;
    told_lost_[pe] = true;
    events_->lost(peer->pe(), "UCX: " + *peer->failure());
  }
  std::erase_if(to_close_, [](ucx_endpoint* peer) { return peer->close_after_failure(); });
}

bool ucx_transport::progress() {
  if (events_ == nullptr) return false;
  const bool busy = drive() || !arrivals_.empty() || completions_.any();
  deliver_arrivals();
  deliver_ended();
  deliver_losses();
  return busy;
}

void ucx_transport::wait(nanoseconds limit) {
  if (!arrivals_.empty() || completions_.any()) return;
  if (!to_close_.empty()) limit = std::min<nanoseconds>(limit, while_closing);
  const ucs_status_t armed = worker_.library().worker_arm(worker_.get());
  if (armed == UCS_ERR_BUSY) return;  // an event has arrived before the call; progress() handles it
  if (armed != UCS_OK)
    throw error{code::transport_failed, fmt::format("UCX: waiting: {}", worker_.library().status_string(armed))};
  pollfd both[] = {{worker_.event_fd(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
  const auto whole = std::chrono::floor<std::chrono::seconds>(limit);
  const timespec most{static_cast<time_t>(whole.count()), static_cast<long>((limit - whole).count())};
  if (::ppoll(both, 2, &most, nullptr) > 0 && (both[1].revents & POLLIN) != 0) {
    std::uint64_t count = 0;
    (void)!::read(wake_.get(), &count, sizeof count);
  }
}

void ucx_transport::wake() noexcept {
  const std::uint64_t unit = 1;
  static_cast<void>(::syscall(SYS_write, wake_.get(), &unit, sizeof unit));  // write() would be a cancellation point
}

// ---- the end

bool ucx_transport::disconnect_all() {
  bool all = true;
  for (const auto& peer : peers_) all = peer->disconnect() && all;
  return all;
}

void ucx_transport::disconnect(milliseconds limit) noexcept {
  const auto give_up = steady_clock::now() + limit;
  events_ = nullptr;
  try {
    while (!disconnect_all() && steady_clock::now() < give_up) {
      const bool busy = drive();
      deliver_arrivals();
      deliver_ended();
      deliver_losses();
      if (!busy) wait(std::min(while_closing, std::chrono::ceil<milliseconds>(give_up - steady_clock::now())));
    }
  } catch (const std::exception& failed) {
    log_.warn("UCX: leaving: {}", failed.what());
  }
  close_all(std::min(limit, longest_closing));
}

void ucx_transport::close_all(milliseconds limit) noexcept {
  const auto drive_until = [&](auto reached) {
    const auto give_up = steady_clock::now() + limit / 2;
    while (!std::all_of(peers_.begin(), peers_.end(), reached) && steady_clock::now() < give_up)
      (void)worker_.library().worker_progress(worker_.get());
  };
  // An endpoint is closed after its requests have ended, for the reason in ucx_endpoint::close_after_failure(). This
  // order also applies to a peer that lives.
  drive_until([](const auto& peer) { return peer->idle(); });
  for (const auto& peer : peers_) peer->close();
  drive_until([](const auto& peer) {
    peer->finish_closing();
    return peer->closed();
  });
  for (const arrival& message : std::exchange(arrivals_, {})) release(message);
  to_close_.clear();
}

}  // namespace pgas::detail
