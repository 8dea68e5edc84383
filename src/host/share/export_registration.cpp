#include "host/share/export_registration.hpp"

#include <utility>

#include "host/share/exporter.hpp"

namespace pgas::detail {

export_registration::export_registration(std::shared_ptr<const exportable_memory> memory, ticket_kind kind)
    : owned_(std::make_unique<std::shared_ptr<exporter>>(exporter::of_process())),
      exporter_(owned_->get()),
      id_(exporter_->add(std::move(memory), kind)) {}

export_registration::~export_registration() {
  if (process_.in_creator())
    exporter_->remove(id_);
  else
    static_cast<void>(owned_.release());  // the thread and the sockets belong to the parent process
}

std::string export_registration::make_ticket(const ticket_options& options, blob payload, std::uint64_t carried) {
  if (!process_.in_creator())
    throw error(
        code::forked_process,
        "memory of the parent process: only the process that shares it can make tickets; make them before fork()");
  return exporter_->make_ticket(id_, options, std::move(payload), carried);
}

void export_registration::revoke() {
  if (process_.in_creator()) exporter_->revoke(id_);
}

std::vector<opener> export_registration::opened_by() const {
  return process_.in_creator() ? exporter_->opened_by(id_) : std::vector<opener>();
}

}  // namespace pgas::detail
