/// @file
/// A page of host memory that tickets of one kind open. Timelines and events both use it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/share/exported_memory.hpp"
#include "host/share/import_table.hpp"
#include "host/share/ticket.hpp"

namespace pgas::detail {

/// process_name() of this process, computed once. *Errors* system.
[[nodiscard]] std::uint64_t this_process_name();

/// A page that this process has made or opened. Move-only.
///
/// *Callers* one thread at a time; any thread for alive() and const functions. A child of fork() may only call the
/// destructor, which does nothing in the child.
class shared_page {
 public:
  /// Makes a page of zeros. *Errors* as shared_memory::make().
  [[nodiscard]] static shared_page make(ticket_kind kind, std::size_t bytes);
  /// Opens a ticket of kind `kind`. If `kind` is a timeline, a memory ticket that carries a timeline is also accepted.
  /// *Errors* as opened_memory::open(); handle_invalid if the page is smaller than `bytes`.
  [[nodiscard]] static shared_page open(ticket_kind kind, const ticket& which, std::size_t bytes,
                                        const open_options& options);
  shared_page(shared_page&&) noexcept = default;
  shared_page& operator=(shared_page&&) = delete;

  /// Another object for the same opened page. Both objects use the same mapping.
  [[nodiscard]] shared_page again() const { return {kind_, nullptr, theirs_}; }
  [[nodiscard]] void* data() const noexcept { return mine_ ? mine_->memory().data() : theirs_->data(); }
  /// The whole pages that contain the first `bytes` bytes.
  [[nodiscard]] std::span<std::byte> pages(std::size_t bytes) const noexcept;
  [[nodiscard]] bool is_mine() const noexcept { return mine_ != nullptr; }

  /// The exported memory, for tickets. *Errors* invalid_argument unless this process made the page.
  [[nodiscard]] exported_memory& mine();
  [[nodiscard]] std::string make_ticket(const ticket_options& options);

  /// The process that made an opened page.
  [[nodiscard]] const memory_exporter& exporter() const noexcept { return theirs_->exporter(); }
  [[nodiscard]] bool alive() const { return theirs_->alive(); }

 private:
  shared_page(ticket_kind kind, std::unique_ptr<exported_memory> mine, std::shared_ptr<imported_memory> theirs)
      : kind_(kind), mine_(std::move(mine)), theirs_(std::move(theirs)) {}

  ticket_kind kind_;
  std::unique_ptr<exported_memory> mine_;
  std::shared_ptr<imported_memory> theirs_;
};

}  // namespace pgas::detail
