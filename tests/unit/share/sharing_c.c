/* The C functions of pgas/sharing.h, from a program in C. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "pgas/sharing.h"

int main(void) {
  pgas_shared_memory* mine = NULL;
  pgas_opened_memory* theirs = NULL;
  pgas_opened_memory* not_opened = NULL;
  char ticket[PGAS_TICKET_BYTES];
  pgas_ticket_options options = {.lifetime_s = 3600, .opens = 1, .user = -1};
  pgas_timeline* ready = NULL;
  pgas_opener openers[4];
  size_t count = 0;

  CHECK(strcmp(pgas_sharing_error(), "") == 0);
  CHECK(pgas_share_new(PGAS_PLACE_HOST, 0, 0, &mine) == 304);
  CHECK(strstr(pgas_sharing_error(), "PGAS-E0304") != NULL);
  CHECK(pgas_share_new(-5, 4096, 0, &mine) == 304);
  CHECK(pgas_share_new(PGAS_PLACE_HOST, 4096, 64, &mine) == 304);
  CHECK(pgas_share_new(PGAS_PLACE_HOST, 4096, 0, NULL) == 304);
  CHECK(mine == NULL);
  CHECK(pgas_share_existing(ticket, sizeof ticket, 0, &mine) == 304);

  CHECK(pgas_share_new(PGAS_PLACE_HOST, 4096, PGAS_SHARE_READ_ONLY, &mine) == 0);
  CHECK(pgas_shared_size(mine) == 4096);
  strcpy(pgas_shared_data(mine), "hello");
  CHECK(pgas_shared_ticket(mine, &options, ticket) == 0);
  CHECK(strlen(ticket) < PGAS_TICKET_BYTES);
  CHECK(pgas_shared_ticket(mine, NULL, NULL) == 304);

  CHECK(pgas_open_memory("nonsense", PGAS_PLACE_ANY, 1000, &theirs) == 204);
  CHECK(theirs == NULL);
  CHECK(pgas_open_memory(ticket, PGAS_PLACE_ANY, 5000, &theirs) == 0);
  CHECK(strcmp(pgas_opened_data(theirs), "hello") == 0);
  CHECK(pgas_opened_size(theirs) == 4096);
  CHECK(pgas_opened_read_only(theirs) == 1);
  CHECK(pgas_opened_exporter(theirs) == getpid());
  CHECK(pgas_opened_check(theirs) == 0);
  CHECK(pgas_shared_openers(mine, openers, 4, &count) == 0);
  CHECK(count == 1 && openers[0].pid == getpid() && openers[0].user == geteuid() && openers[0].since_s > 0);
  CHECK(pgas_shared_openers(mine, NULL, 0, &count) == 0 && count == 1);

  /* A timeline tells when the memory is ready. */
  CHECK(pgas_opened_has_timeline(theirs) == 0);
  CHECK(pgas_opened_wait(theirs, NULL) == 304 && pgas_opened_wait_host(theirs, 10) == 304);
  pgas_opened_close(theirs);
  theirs = NULL;
  CHECK(pgas_timeline_new(PGAS_PLACE_HOST, &ready) == 0);
  options.opens = 0;
  options.ready = ready;
  CHECK(pgas_shared_ticket(mine, &options, ticket) == 0);
  CHECK(pgas_open_memory(ticket, PGAS_PLACE_ANY, 20, &theirs) == 403 && theirs == NULL);
  CHECK(pgas_open_memory_unready(ticket, PGAS_PLACE_ANY, 5000, &theirs) == 0);
  CHECK(pgas_opened_has_timeline(theirs) == 1);
  CHECK(pgas_opened_wait_host(theirs, 10) == 403);
  CHECK(pgas_timeline_set(ready, 1) == 0);
  CHECK(pgas_opened_wait_host(theirs, PGAS_FOREVER) == 0 && pgas_opened_wait(theirs, NULL) == 0);
  pgas_opened_close(theirs);
  CHECK(pgas_open_memory(ticket, PGAS_PLACE_ANY, 5000, &theirs) == 0);
  pgas_timeline_free(ready);

  /* A ticket for reading, of memory that others may write. */
  pgas_shared_memory* writable = NULL;
  pgas_opened_memory* reader = NULL;
  CHECK(pgas_share_new(PGAS_PLACE_HOST, 4096, 0, &writable) == 0);
  options.ready = NULL;
  options.read_only = 1;
  CHECK(pgas_shared_ticket(writable, &options, ticket) == 0);
  CHECK(pgas_open_memory(ticket, PGAS_PLACE_ANY, 5000, &reader) == 0);
  CHECK(pgas_opened_read_only(reader) == 1);
  pgas_opened_close(reader);
  pgas_shared_free(writable);

  CHECK(pgas_shared_ticket(mine, NULL, ticket) == 0);
  CHECK(pgas_shared_revoke(mine) == 0);
  CHECK(pgas_open_memory(ticket, PGAS_PLACE_HOST, 5000, &not_opened) == 104);
  pgas_opened_close(theirs);
  pgas_opened_close(NULL);
  pgas_shared_free(mine);
  pgas_shared_free(NULL);
  CHECK(pgas_shared_data(NULL) == NULL && pgas_opened_data(NULL) == NULL);
  CHECK(pgas_opened_check(NULL) == 304 && pgas_opened_wait(NULL, NULL) == 304);
  CHECK(pgas_opened_has_timeline(NULL) == 0);
  return 0;
}
