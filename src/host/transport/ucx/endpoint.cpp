#include "host/transport/ucx/endpoint.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "common/unique_fd.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {
namespace {

/// The time limit for UCX to end the requests to a failed peer. Closing the endpoint can take the same time again.
constexpr std::chrono::seconds close_timeout{1};

struct key_header {
  std::uint64_t magic;
  std::uint64_t checksum;  ///< the checksum of all bytes after this field
  std::uint64_t address;
  std::uint64_t bytes;
};

constexpr std::uint64_t key_magic = 0x3159'454b'5843'5550;
constexpr std::size_t sum_from = 2 * sizeof(std::uint64_t);

/// FNV-1a.
[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0xcbf2'9ce4'8422'2325;
  for (const std::byte byte : bytes) sum = (sum ^ static_cast<std::uint64_t>(byte)) * 0x100'0000'01b3;
  return sum;
}

}  // namespace

blob ucx_memory_key::packed() const {
  key_header header{key_magic, 0, address, bytes};
  blob result(sizeof header + rkey.size());
  std::memcpy(result.data(), &header, sizeof header);
  if (!rkey.empty()) std::memcpy(result.data() + sizeof header, rkey.data(), rkey.size());
  header.checksum = checksum(std::span(result).subspan(sum_from));
  std::memcpy(result.data(), &header, sizeof header);
  return result;
}

ucx_memory_key ucx_memory_key::unpack(int pe, std::span<const std::byte> packed) {
  key_header header{};
  if (packed.size() > sizeof header) std::memcpy(&header, packed.data(), sizeof header);
  if (header.magic != key_magic || header.checksum != checksum(packed.subspan(sum_from)))
    throw error{code::handle_invalid,
                fmt::format("the {} bytes received as the key of PE {}'s memory are not a key", packed.size(), pe), pe};
  const auto rkey = packed.subspan(sizeof header);
  return {header.address, header.bytes, blob(rkey.begin(), rkey.end())};
}

/// The callbacks. UCX calls them from its progress function and its closing functions.
struct ucx_callbacks {
  static void failed(void* arg, ucp_ep_h, ucs_status_t status) {
    auto& peer = *static_cast<ucx_endpoint*>(arg);
    peer.fail(peer.worker_.library().status_string(status));
  }

  static void ended(void* request, ucs_status_t status, void* user_data) {
    auto& batch = *static_cast<ucx_batch*>(user_data);
    ucx_endpoint& peer = *batch.peer;
    --peer.requests_;
    peer.completions_.request_ended(batch, status);
    peer.worker_.library().request_free(request);
  }
};

ucx_endpoint::ucx_endpoint(int pe, int me, blob address, const ucx_worker& worker, ucx_completion_queue& completions)
    : pe_(pe), address_(std::move(address)), worker_(worker), completions_(completions) {
  for (const auto what : {ucx_header::kind::data, ucx_header::kind::connect, ucx_header::kind::disconnect})
    headers_[static_cast<std::size_t>(what)] = {.what = what, .pe = me};
}

void ucx_endpoint::fail(const std::string& why) {
  if (failure_) return;
  failure_ = why;
  completions_.add_failed(*this);
}

void ucx_endpoint::connect() {
  if (endpoint_ != nullptr || failure_) return;
  fill_standard_descriptors();  // the program has perhaps closed standard descriptors after it joined
  ucp_ep_params_t wanted{};
  wanted.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  wanted.address = reinterpret_cast<const ucp_address_t*>(address_.data());
  wanted.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  wanted.err_handler = {ucx_callbacks::failed, this};
  const ucs_status_t status = worker_.library().ep_create(worker_.get(), &wanted, &endpoint_);
  if (status != UCS_OK) {
    endpoint_ = nullptr;
    fail(fmt::format("connecting: {}{}", worker_.library().status_string(status), worker_.why_unreachable()));
    return;
  }
  send(ucx_header::kind::connect, {}, std::nullopt);
}

std::string ucx_endpoint::route() const {
  if (endpoint_ == nullptr) return {};
  char* text = nullptr;
  std::size_t bytes = 0;
  std::FILE* const stream = ::open_memstream(&text, &bytes);
  if (stream == nullptr) return {};
  worker_.library().ep_print_info(endpoint_, stream);
  std::fclose(stream);
  // "#   lane[0]:  1:tcp/lo.0 md[1]  -> ...", one line for each device.
  std::string ways;
  std::string_view rest(text, bytes);
  for (auto lane = rest.find("lane["); lane != rest.npos; lane = rest.find("lane[")) {
    rest.remove_prefix(lane);
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size());
    const auto begin = line.find(':', std::min(line.find("]:") + 2, line.size()));
    const auto end = line.find_first_of(". ", begin);
    if (begin == line.npos || end == line.npos) continue;
    const std::string_view way = line.substr(begin + 1, end - begin - 1);
    if (ways.find(way) == ways.npos) ways += fmt::format("{}{}", ways.empty() ? "" : ", ", way);
  }
  std::free(text);
  return ways;
}

// ---- operations

ucp_request_param_t ucx_endpoint::reporting_to(ucx_batch& batch) const {
  ucp_request_param_t wanted{};
  wanted.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  wanted.cb.send = ucx_callbacks::ended;
  wanted.user_data = &batch;
  return wanted;
}

void ucx_endpoint::started(ucs_status_ptr_t request, ucx_batch& batch) {
  if (UCS_PTR_IS_PTR(request))
    ++requests_;  // UCX calls the callback later, and only from UCX's progress function
  else
    completions_.request_ended(batch, UCS_PTR_STATUS(request));
}

ucp_rkey_h ucx_endpoint::rkey_of(std::uint64_t imported, const ucx_memory_key& key) {
  if (const auto found = rkeys_.find(imported); found != rkeys_.end()) return found->second;
  ucp_rkey_h result = nullptr;
  const ucs_status_t status = worker_.library().ep_rkey_unpack(endpoint_, key.rkey.data(), &result);
  if (status != UCS_OK) {
    fail(fmt::format("unpacking the key of its memory: {}", worker_.library().status_string(status)));
    return nullptr;
  }
  rkeys_.emplace(imported, result);
  return result;
}

bool ucx_endpoint::start() {
  ++incomplete_;
  connect();
  if (failure_ && incomplete_ == 1)
    completions_.add_failed(*this);  // the failure counts as a loss now that an operation is incomplete
  return !failure_;
}

void ucx_endpoint::put(std::uint64_t imported, const ucx_memory_key& key, std::uint64_t offset, const void* local,
                       std::size_t bytes, transport_token token) {
  if (!start()) return;
  const ucp_rkey_h rkey = rkey_of(imported, key);
  if (rkey == nullptr) return;
  if (puts_ == nullptr) {
    puts_ = &completions_.take(*this, 1);
    completions_.add_unflushed(*this);
  }
  ++puts_->pending;
  puts_->tokens.push_back(token);
  const ucp_request_param_t wanted = reporting_to(*puts_);
  started(worker_.library().put_nbx(endpoint_, local, bytes, key.address + offset, rkey, &wanted), *puts_);
}

void ucx_endpoint::flush() {
  if (puts_ == nullptr) return;
  ucx_batch& batch = *std::exchange(puts_, nullptr);
  if (endpoint_ == nullptr || failure_) {
    completions_.request_ended(batch, UCS_ERR_CANCELED);
    return;
  }
  const ucp_request_param_t wanted = reporting_to(batch);
  started(worker_.library().ep_flush_nbx(endpoint_, &wanted), batch);
}

void ucx_endpoint::get(std::uint64_t imported, const ucx_memory_key& key, std::uint64_t offset, void* local,
                       std::size_t bytes, transport_token token) {
  if (!start()) return;
  const ucp_rkey_h rkey = rkey_of(imported, key);
  if (rkey == nullptr) return;
  ucx_batch& batch = completions_.take(*this, 1);
  batch.tokens.push_back(token);
  const ucp_request_param_t wanted = reporting_to(batch);
  started(worker_.library().get_nbx(endpoint_, local, bytes, key.address + offset, rkey, &wanted), batch);
}

void ucx_endpoint::send(ucx_header::kind what, std::span<const std::byte> message,
                        std::optional<transport_token> token) {
  if (token ? !start() : endpoint_ == nullptr || failure_) return;
  ucx_batch& batch = completions_.take(*this, 1);
  if (token) batch.tokens.push_back(*token);
  ucp_request_param_t wanted = reporting_to(batch);
  // Messages are sent without a handshake (eager), because they are small: a handshake would take longer than a copy.
  wanted.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
  wanted.flags = UCP_AM_SEND_FLAG_EAGER;
  const ucx_header& header = headers_[static_cast<std::size_t>(what)];
  const auto& send_in = worker_.library().am_send_nbx;
  const std::size_t packed_bytes = sizeof header + message.size();
  if (packed_bytes > batch.packed.size())
    return started(send_in(endpoint_, 0, &header, sizeof header, message.data(), message.size(), &wanted), batch);
  std::memcpy(batch.packed.data(), &header, sizeof header);
  if (!message.empty()) std::memcpy(batch.packed.data() + sizeof header, message.data(), message.size());
  started(send_in(endpoint_, 0, nullptr, 0, batch.packed.data(), packed_bytes, &wanted), batch);
}

void ucx_endpoint::forget(std::uint64_t imported) noexcept {
  const auto found = rkeys_.find(imported);
  if (found == rkeys_.end() || failure_) return;  // after a failure, UCX may use the key until the endpoint is closed
  worker_.library().rkey_destroy(found->second);
  rkeys_.erase(found);
}

void ucx_endpoint::release_rkeys() noexcept {
  for (const auto& [imported, rkey] : rkeys_) worker_.library().rkey_destroy(rkey);
  rkeys_.clear();
}

// ---- the end

void ucx_endpoint::close() noexcept {
  if (endpoint_ == nullptr) return;
  if (requests_ == 0) release_rkeys();
  ucp_request_param_t wanted{};
  wanted.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  wanted.flags = UCP_EP_CLOSE_FLAG_FORCE;
  const ucs_status_ptr_t request = worker_.library().ep_close_nbx(std::exchange(endpoint_, nullptr), &wanted);
  if (UCS_PTR_IS_PTR(request)) closing_ = request;
  finish_closing();
}

void ucx_endpoint::finish_closing() noexcept {
  if (closing_ != nullptr) {
    if (worker_.library().request_check_status(closing_) == UCS_INPROGRESS) return;
    worker_.library().request_free(std::exchange(closing_, nullptr));
  }
  if (endpoint_ == nullptr) release_rkeys();
}

bool ucx_endpoint::close_after_failure() noexcept {
  finish_closing();
  if (closed()) return true;
  const auto now = std::chrono::steady_clock::now();
  if (!close_by_) close_by_ = now + close_timeout;
  if (endpoint_ != nullptr && (requests_ == 0 || now >= *close_by_)) {
    // UCX 1.13 crashes if an endpoint is closed while a put over TCP is half sent, so the close waits for the requests.
    // Over TCP, UCX ends the requests of a failed endpoint without a close. Over shared memory, UCX ends these requests
    // only after a close, so the wait has a time limit.
    close();
    close_by_ = now + close_timeout;
  } else if (closing_ != nullptr && now >= *close_by_) {
    // Over shared memory, UCX's close would never end: it waits for room in the queue of the dead peer.
    worker_.library().request_free(std::exchange(closing_, nullptr));
    release_rkeys();
  }
  return closed();
}

bool ucx_endpoint::disconnect() {
  if (failure_) return close_after_failure();
  if (endpoint_ == nullptr) return true;
  flush();
  if (!disconnect_sent_ && requests_ == 0) {
    disconnect_sent_ = true;
    send(ucx_header::kind::disconnect, {}, std::nullopt);
    puts_ = &completions_.take(*this, 1);
    flush();  // after this flush, all messages have left this process
  }
  return disconnect_sent_ && requests_ == 0 && peer_disconnected_;
}

}  // namespace pgas::detail
