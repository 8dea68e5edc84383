#include "copy_worker.hpp"

#include <algorithm>
#include <utility>

#include "pgas/copy_blocks.hpp"
#include "report.hpp"

namespace pgas::nixl {

namespace {

/// The time between two attempts to send a notification to an agent whose mailbox is full.
constexpr std::chrono::microseconds retry_pause{200};

}  // namespace

copy_worker::copy_worker(std::string agent) : agent_(std::move(agent)), thread_([this] { run(); }) {}

copy_worker::~copy_worker() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void copy_worker::post(transfer& work) {
  {
    const std::lock_guard lock(mutex_);
    work.status_.store(NIXL_IN_PROG, std::memory_order_relaxed);
    posted_.push_back(&work);
  }
  changed_.notify_all();
}

bool copy_worker::release(transfer& work, std::chrono::seconds limit) {
  std::unique_lock lock(mutex_);
  if (std::erase(posted_, &work) > 0) {
    work.status_.store(NIXL_ERR_CANCELED, std::memory_order_relaxed);
    return true;
  }
  return changed_.wait_for(lock, limit, [&] { return work.status() != NIXL_IN_PROG; });
}

void copy_worker::run() {
  for (;;) {
    transfer* next = nullptr;
    {
      std::unique_lock lock(mutex_);
      if (running_.empty()) changed_.wait(lock, [this] { return ending_ || !posted_.empty(); });
      if (ending_) break;
      if (!posted_.empty()) {
        next = posted_.front();
        posted_.pop_front();
      }
    }
    if (next != nullptr) begin(*next);
    std::erase_if(running_, [this](transfer* work) { return advance(*work); });
    if (next != nullptr || running_.empty()) continue;
    const bool any_copies = std::any_of(running_.begin(), running_.end(), [](transfer* work) { return work->stream_; });
    if (any_copies)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(retry_pause);
  }
  for (transfer* work : running_) end(*work, NIXL_ERR_CANCELED);
  for (transfer* work : std::exchange(posted_, {})) end(*work, NIXL_ERR_CANCELED);
}

void copy_worker::begin(transfer& work) {
  const nixl_status_t status = reported("a transfer of agent " + agent_, [&] {
    const copy_list list(work.blocks.data(), work.blocks.size());
    if (work.place == memory_place::host()) {
      copy_blocks(work.place, nullptr, list);
      work.stream_ = nullptr;
    } else {
      work.stream_ = &streams_.try_emplace(work.place.ordinal, work.place).first->second;
      work.end_ = work.stream_->copy(list);
    }
    return NIXL_SUCCESS;
  });
  if (status == NIXL_SUCCESS)
    running_.push_back(&work);
  else
    end(work, status);
}

bool copy_worker::advance(transfer& work) {
  const nixl_status_t status = reported("a transfer of agent " + agent_, [&] { return outcome(work); });
  if (status == NIXL_IN_PROG) return false;
  end(work, status);
  return true;
}

nixl_status_t copy_worker::outcome(transfer& work) {
  if (work.stream_ != nullptr) {
    if (!work.stream_->has_reached(work.end_)) return NIXL_IN_PROG;
    work.stream_ = nullptr;
  }
  for (const std::shared_ptr<const opened_memory>& memory : work.mappings)
    if (!memory->alive()) return NIXL_ERR_REMOTE_DISCONNECT;
  if (!work.message || work.message->to->post(agent_, work.message->text)) return NIXL_SUCCESS;
  return work.message->to->alive() ? NIXL_IN_PROG : NIXL_ERR_REMOTE_DISCONNECT;
}

void copy_worker::end(transfer& work, nixl_status_t status) {
  {
    const std::lock_guard lock(mutex_);
    work.status_.store(status, std::memory_order_release);
  }
  changed_.notify_all();
}

}  // namespace pgas::nixl
