/* The C functions of pgas/sharing.h for timelines and events, from a program in C. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "pgas/sharing.h"

int main(void) {
  pgas_timeline* mine = NULL;
  pgas_timeline* theirs = NULL;
  pgas_ipc_event* event = NULL;
  pgas_shared_memory* memory = NULL;
  char ticket[PGAS_TICKET_BYTES];
  pgas_ticket_options options = {.lifetime_s = 3600, .opens = 1, .user = -1};
  uint64_t value = 99;
  uint64_t* word = NULL;
  int reached = 0;

  CHECK(pgas_timeline_new(-7, &mine) == 304 && mine == NULL);
  CHECK(pgas_timeline_new(PGAS_PLACE_HOST, NULL) == 304);
  CHECK(pgas_timeline_new(PGAS_PLACE_HOST, &mine) == 0);
  CHECK(pgas_timeline_ticket(mine, NULL, NULL) == 304);
  CHECK(pgas_timeline_ticket(mine, &options, ticket) == 0);
  CHECK(strlen(ticket) < PGAS_TICKET_BYTES);
  CHECK(pgas_timeline_open("nonsense", PGAS_PLACE_ANY, 1000, &theirs) == 204 && theirs == NULL);
  CHECK(pgas_timeline_open(ticket, PGAS_PLACE_ANY, 5000, &theirs) == 0);
  CHECK(pgas_timeline_ticket(theirs, NULL, ticket) == 304);

  CHECK(pgas_timeline_query(theirs, &value) == 0 && value == 0);
  CHECK(pgas_timeline_record(mine, NULL, 4) == 0);
  CHECK(pgas_timeline_wait(theirs, NULL, 4) == 0);
  CHECK(pgas_timeline_query(theirs, &value) == 0 && value == 4);
  CHECK(pgas_timeline_set(mine, 5) == 0);
  CHECK(pgas_timeline_recorded(theirs, &value) == 0 && value == 5);
  CHECK(pgas_timeline_wait_host(theirs, 5, PGAS_FOREVER) == 0);
  CHECK(pgas_timeline_wait_host(theirs, 6, 10) == 403);
  CHECK(strstr(pgas_sharing_error(), "PGAS-E0403") != NULL);
  CHECK(pgas_timeline_word(theirs, &word) == 0 && *word == 5);
  CHECK(pgas_timeline_set(mine, UINT64_MAX) == 304);
  CHECK(pgas_timeline_check(theirs) == 0);
  pgas_timeline_free(mine);
  CHECK(pgas_timeline_check(theirs) == 401);
  CHECK(pgas_timeline_wait_host(theirs, 6, PGAS_FOREVER) == 401);
  CHECK(pgas_timeline_query(theirs, &value) == 0 && value == 5);
  pgas_timeline_free(theirs);
  pgas_timeline_free(NULL);
  CHECK(pgas_timeline_query(NULL, &value) == 304);

  CHECK(pgas_event_new(PGAS_PLACE_HOST, &event) == 501 && event == NULL);
  CHECK(strstr(pgas_sharing_error(), "pgas::timeline") != NULL);
  CHECK(pgas_share_new(PGAS_PLACE_HOST, 4096, 0, &memory) == 0);
  CHECK(pgas_shared_ticket(memory, NULL, ticket) == 0);
  CHECK(pgas_event_open(ticket, 5000, &event) == 204 && event == NULL);
  CHECK(pgas_event_record(NULL, NULL, NULL) == 304);
  CHECK(pgas_event_reached(NULL, &reached) == 304 && pgas_event_check(NULL) == 304);
  pgas_event_free(NULL);
  pgas_shared_free(memory);
  return 0;
}
