#include "host/share/registered_export.hpp"

#include <utility>

#include "host/share/exporter.hpp"

namespace pgas::detail {

registered_export::registered_export(std::shared_ptr<const shared_object> what)
    : exporter_(exporter::of_process()), id_(exporter_->add(std::move(what))) {}

registered_export::~registered_export() {
  if (process_.in_creator())
    exporter_->remove(id_);
  else
    new std::shared_ptr<exporter>(std::move(exporter_));  // its thread and its sockets are the parent's
}

std::string registered_export::make_ticket(const ticket_options& options, blob payload, std::uint64_t carried) {
  if (!process_.in_creator())
    throw error(
        code::forked_process,
        "memory of the parent process: only the process that shares it can make tickets; make them before fork()");
  return exporter_->make_ticket(id_, options, std::move(payload), carried);
}

void registered_export::revoke() {
  if (process_.in_creator()) exporter_->revoke(id_);
}

std::vector<opener> registered_export::opened_by() const {
  return process_.in_creator() ? exporter_->opened_by(id_) : std::vector<opener>();
}

}  // namespace pgas::detail
