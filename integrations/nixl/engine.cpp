#include "engine.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "pgas/error.hpp"
#include "report.hpp"

namespace pgas::nixl {

namespace {

constexpr std::chrono::seconds longest_release{10};

memory_place place_of(nixl_mem_t kind, const nixlBasicDesc& range) {
  return kind == VRAM_SEG ? memory_place::gpu(static_cast<int>(range.devId)) : memory_place::host();
}

/// The device that copies between the two lists. *Errors* invalid_argument if there is no such device.
memory_place place_of_transfer(const nixl_meta_dlist_t& local, const nixl_meta_dlist_t& remote) {
  if (local.getType() != remote.getType())
    throw error(code::invalid_argument,
                "a transfer is from host memory to host memory, or from GPU memory to GPU memory");
  const memory_place place = place_of(local.getType(), local[0]);
  for (const nixlMetaDesc& block : local)
    if (place_of(local.getType(), block) != place)
      throw error(code::invalid_argument,
                  "the local blocks of a transfer are on several GPUs: use a transfer for each GPU");
  return place;
}

std::string text_of(const std::string& call, const nixlBasicDesc& range) {
  return call + ": " + std::to_string(range.len) + " bytes at " + std::to_string(range.addr);
}

}  // namespace

engine::engine(const nixlBackendInitParams* parameters)
    : nixlBackendEngine(parameters), worker_(std::make_unique<copy_worker>(parameters->localAgent)) {}

engine::~engine() = default;

nixl_mem_list_t engine::supported_memory() {
  nixl_mem_list_t kinds{DRAM_SEG};
  if (has_gpu_streams()) kinds.push_back(VRAM_SEG);
  return kinds;
}

nixl_status_t engine::registerMem(const nixlBlobDesc& range, const nixl_mem_t& kind, nixlBackendMD*& out) {
  return reported(text_of("registerMem", range), [&] {
    out = new registered_memory(range);
    const std::lock_guard lock(mutex_);
    if (kind == VRAM_SEG && !gpu_) gpu_ = place_of(kind, range);
    return NIXL_SUCCESS;
  });
}

nixl_status_t engine::deregisterMem(nixlBackendMD* memory) {
  delete memory;
  return NIXL_SUCCESS;
}

nixl_status_t engine::getPublicData(const nixlBackendMD* memory, std::string& text) const {
  text = static_cast<const registered_memory*>(memory)->ticket();
  return NIXL_SUCCESS;
}

nixl_status_t engine::loadRemoteMD(const nixlBlobDesc& range, const nixl_mem_t& kind, const std::string& agent,
                                   nixlBackendMD*& out) {
  return reported(text_of("loadRemoteMD of agent " + agent, range), [&] {
    auto memory = std::make_unique<remote_memory>(range, range.metaInfo);
    std::optional<memory_place> place = memory_place::host();
    if (kind == VRAM_SEG) {
      const std::lock_guard lock(mutex_);
      place = gpu_;
    }
    // If no GPU is known yet, the first transfer opens the memory.
    if (place) static_cast<void>(memory->opened_for(*place));
    out = memory.release();
    return NIXL_SUCCESS;
  });
}

nixl_status_t engine::loadLocalMD(nixlBackendMD* memory, nixlBackendMD*& out) {
  return reported("loadLocalMD", [&] {
    const auto& mine = static_cast<const registered_memory&>(*memory);
    out = new remote_memory(mine.range(), mine.ticket());
    return NIXL_SUCCESS;
  });
}

nixl_status_t engine::unloadMD(nixlBackendMD* memory) {
  delete memory;
  return NIXL_SUCCESS;
}

nixl_status_t engine::getConnInfo(std::string& text) const {
  text = own_mailbox_.ticket();
  return NIXL_SUCCESS;
}

nixl_status_t engine::loadRemoteConnInfo(const std::string& agent, const std::string& text) {
  return reported("loadRemoteConnInfo of agent " + agent, [&] {
    auto opened = std::make_shared<remote_mailbox>(text);
    const std::lock_guard lock(mutex_);
    mailboxes_[agent] = std::move(opened);
    return NIXL_SUCCESS;
  });
}

nixl_status_t engine::connect(const std::string& agent) {
  if (agent == localAgent) return loadRemoteConnInfo(agent, own_mailbox_.ticket());
  return mailbox_of(agent) ? NIXL_SUCCESS : NIXL_ERR_NOT_FOUND;
}

nixl_status_t engine::disconnect(const std::string& agent) {
  const std::lock_guard lock(mutex_);
  return mailboxes_.erase(agent) > 0 ? NIXL_SUCCESS : NIXL_ERR_NOT_FOUND;
}

std::shared_ptr<remote_mailbox> engine::mailbox_of(const std::string& agent) const {
  const std::lock_guard lock(mutex_);
  const auto found = mailboxes_.find(agent);
  return found != mailboxes_.end() ? found->second : nullptr;
}

nixl_status_t engine::prepXfer(const nixl_xfer_op_t& operation, const nixl_meta_dlist_t& local,
                               const nixl_meta_dlist_t& remote, const std::string& agent, nixlBackendReqH*& handle,
                               const nixl_opt_b_args_t* /*options*/) const {
  if (local.isEmpty() || local.descCount() != remote.descCount()) return NIXL_ERR_INVALID_PARAM;
  return reported("prepXfer to agent " + agent, [&] {
    auto work = std::make_unique<transfer>();
    work->place = place_of_transfer(local, remote);
    const auto count = static_cast<std::size_t>(local.descCount());
    work->blocks.reserve(count);
    std::map<nixlBackendMD*, std::shared_ptr<const opened_memory>> opened;
    for (std::size_t i = 0; i < count; ++i) {
      auto& memory = static_cast<remote_memory&>(*remote[i].metadataP);
      std::shared_ptr<const opened_memory>& mapping = opened[&memory];
      if (!mapping) {
        mapping = memory.opened_for(work->place);
        work->mappings.push_back(mapping);
      }
      std::byte* const theirs = memory.translate(*mapping, remote[i]);
      auto* const mine = reinterpret_cast<std::byte*>(local[i].addr);
      if (operation == NIXL_READ)
        work->blocks.push_back({mine, theirs, local[i].len});
      else
        work->blocks.push_back({theirs, mine, local[i].len});
    }
    handle = work.release();
    return NIXL_SUCCESS;
  });
}

nixl_status_t engine::postXfer(const nixl_xfer_op_t& /*operation*/, const nixl_meta_dlist_t& /*local*/,
                               const nixl_meta_dlist_t& /*remote*/, const std::string& agent, nixlBackendReqH*& handle,
                               const nixl_opt_b_args_t* options) const {
  return reported("postXfer to agent " + agent, [&] {
    auto& work = static_cast<transfer&>(*handle);
    if (work.status() == NIXL_IN_PROG) return NIXL_ERR_REPOST_ACTIVE;
    work.message.reset();
    if (options != nullptr && options->hasNotif) {
      std::shared_ptr<remote_mailbox> to = mailbox_of(agent);
      if (!to) return NIXL_ERR_NOT_FOUND;
      work.message = notification{std::move(to), options->notifMsg};
    }
    worker_->post(work);
    return NIXL_IN_PROG;
  });
}

nixl_status_t engine::checkXfer(nixlBackendReqH* handle) const { return static_cast<transfer*>(handle)->status(); }

nixl_status_t engine::releaseReqH(nixlBackendReqH* handle) const {
  if (!worker_->release(static_cast<transfer&>(*handle), longest_release)) {
    report("releaseReqH: a transfer that has begun does not end");
    return NIXL_ERR_BACKEND;
  }
  delete handle;
  return NIXL_SUCCESS;
}

nixl_status_t engine::getNotifs(notif_list_t& found) {
  return reported("getNotifs", [&] {
    const std::lock_guard lock(taking_);
    while (auto message = own_mailbox_.take()) found.push_back(std::move(*message));
    return NIXL_SUCCESS;
  });
}

nixl_status_t engine::genNotif(const std::string& agent, const std::string& text) const {
  return reported("genNotif to agent " + agent, [&] {
    const std::shared_ptr<remote_mailbox> to = mailbox_of(agent);
    if (!to) return NIXL_ERR_NOT_FOUND;
    if (to->post(localAgent, text)) return NIXL_SUCCESS;
    if (!to->alive()) return NIXL_ERR_REMOTE_DISCONNECT;
    report("genNotif: agent " + agent + " has not read its notifications, and its mailbox is full");
    return NIXL_ERR_BACKEND;
  });
}

}  // namespace pgas::nixl
