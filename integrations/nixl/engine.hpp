/// @file
/// The backend of NIXL: transfers between agents of one host are lists of copies in memory that tickets share.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "backend/backend_engine.h"
#include "copy_worker.hpp"
#include "mailbox.hpp"
#include "memory.hpp"

namespace pgas::nixl {

/// The functions have NIXL's names and meanings. No function throws; errors are logged and returned as a status.
class engine final : public nixlBackendEngine {
 public:
  /// *Errors* as mailbox(). The code that calls NIXL's creator logs the error.
  explicit engine(const nixlBackendInitParams* parameters);
  ~engine() override;

  [[nodiscard]] bool supportsRemote() const override { return true; }
  [[nodiscard]] bool supportsLocal() const override { return true; }
  [[nodiscard]] bool supportsNotif() const override { return true; }
  [[nodiscard]] nixl_mem_list_t getSupportedMems() const override { return supported_memory(); }
  /// Host memory, and memory of GPUs if the build has CUDA's runtime.
  [[nodiscard]] static nixl_mem_list_t supported_memory();

  nixl_status_t registerMem(const nixlBlobDesc& range, const nixl_mem_t& kind, nixlBackendMD*& out) override;
  nixl_status_t deregisterMem(nixlBackendMD* memory) override;
  nixl_status_t getPublicData(const nixlBackendMD* memory, std::string& text) const override;
  nixl_status_t loadRemoteMD(const nixlBlobDesc& range, const nixl_mem_t& kind, const std::string& agent,
                             nixlBackendMD*& out) override;
  nixl_status_t loadLocalMD(nixlBackendMD* memory, nixlBackendMD*& out) override;
  nixl_status_t unloadMD(nixlBackendMD* memory) override;

  nixl_status_t getConnInfo(std::string& text) const override;
  nixl_status_t loadRemoteConnInfo(const std::string& agent, const std::string& text) override;
  nixl_status_t connect(const std::string& agent) override;
  nixl_status_t disconnect(const std::string& agent) override;

  nixl_status_t prepXfer(const nixl_xfer_op_t& operation, const nixl_meta_dlist_t& local,
                         const nixl_meta_dlist_t& remote, const std::string& agent, nixlBackendReqH*& handle,
                         const nixl_opt_b_args_t* options) const override;
  nixl_status_t postXfer(const nixl_xfer_op_t& operation, const nixl_meta_dlist_t& local,
                         const nixl_meta_dlist_t& remote, const std::string& agent, nixlBackendReqH*& handle,
                         const nixl_opt_b_args_t* options) const override;
  nixl_status_t checkXfer(nixlBackendReqH* handle) const override;
  nixl_status_t releaseReqH(nixlBackendReqH* handle) const override;

  nixl_status_t getNotifs(notif_list_t& found) override;
  nixl_status_t genNotif(const std::string& agent, const std::string& text) const override;

 private:
  [[nodiscard]] std::shared_ptr<remote_mailbox> mailbox_of(const std::string& agent) const;

  mailbox own_mailbox_;
  std::mutex taking_;  ///< one thread at a time takes messages
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<remote_mailbox>> mailboxes_;  ///< mailboxes of other agents, by agent name
  std::optional<memory_place> gpu_;                                   ///< the GPU of the memory registered first
  const std::unique_ptr<copy_worker> worker_;
};

}  // namespace pgas::nixl
