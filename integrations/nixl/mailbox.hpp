/// @file
/// Notifications: each agent has a mailbox in host memory, and other agents write messages into it. The ticket of the
/// mailbox is the connection information of the agent.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "pgas/shared_memory.hpp"

namespace pgas::nixl {

struct mailbox_page;

/// The mailbox of this agent.
class mailbox {
 public:
  /// *Errors* as shared_memory::make().
  mailbox();
  /// The ticket for other agents.
  [[nodiscard]] const std::string& ticket() const noexcept { return ticket_; }
  /// Takes the oldest message: the sender's name and the text. Empty if there is none. *Callers* one thread at a time.
  /// *Order* the receiver sees what the sender has written before the message. *Errors* transport_failed if a sender
  /// has damaged the mailbox.
  [[nodiscard]] std::optional<std::pair<std::string, std::string>> take();

 private:
  shared_memory memory_;
  mailbox_page* page_;
  std::string ticket_;
};

/// The mailbox of another agent, or of this agent.
class remote_mailbox {
 public:
  /// *Errors* as opened_memory::open().
  explicit remote_mailbox(std::string_view ticket);
  /// Adds a message, without waiting for the receiver. @return false if the mailbox has no room for the message until
  /// the receiver has taken other messages. *Callers* any thread of any process. A process that ends during the call
  /// leaves no message.
  /// *Errors* invalid_argument for a message that is larger than the mailbox; wait_timeout.
  [[nodiscard]] bool post(std::string_view sender, std::string_view text);
  /// Whether the receiver's process runs.
  [[nodiscard]] bool alive() const noexcept { return memory_.alive(); }

 private:
  opened_memory memory_;
  mailbox_page* page_;
};

}  // namespace pgas::nixl
