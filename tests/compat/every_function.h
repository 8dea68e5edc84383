/// @file
/// Calls functions that must fail, each in a separate process, and checks the kind of failure. The header is valid in C
/// and in C++.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/// How a function fails.
enum kind { returns, gives_null, gives_status, ends };

struct function {
  const char* name;
  enum kind what;
  int (*call)(void);  ///< whether the call returned a failure
};

#ifdef __cplusplus
#define IGNORE(CALL) static_cast<void>(CALL)
#else
#define IGNORE(CALL) (void)(CALL)
#endif

/// The target of all pointer arguments.
static long long room[64];
#ifdef __cplusplus
template <class T>
static T some_value() {
  return T{};
}
#define VALUE(TYPE) (some_value<TYPE>())
#define PLACE(TYPE) (static_cast<TYPE>(static_cast<void*>(room)))
#else
#define PLACE(TYPE) ((TYPE)(void*)room)
/* Handles: the default context, the team of all. */
#define VALUE(TYPE) ((TYPE)1)
#endif

enum { has_returned = 100, has_failed = 101 };

/// Calls the function in a child process. *On return* the exit status of the child; -1 if it was killed.
static int status_of(const struct function* item, char* said, size_t bytes) {
  int ends_of[2], status = -1;
  FILE* heard;
  pid_t child = -1;
  if (pipe(ends_of) == 0) child = fork();
  if (child < 0) abort();
  if (child == 0) {
    dup2(ends_of[1], 2);
    close(ends_of[0]);
    close(ends_of[1]);
    _exit(item->call() ? has_failed : has_returned);
  }
  close(ends_of[1]);
  heard = fdopen(ends_of[0], "r");
  if (heard == NULL) abort();
  said[fread(said, 1, bytes - 1, heard)] = 0;
  fclose(heard);
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int try_all(const struct function* all, int count) {
  static const char* const what[] = {"return", "return null", "return a status", "end the process"};
  int i, failures = 0, ended = 0;
  setenv("PGAS_HEAP", "nonsense", 1); /* for functions that initialize */
  for (i = 0; i < count; ++i) {
    char said[4096], begins[256];
    const int status = status_of(&all[i], said, sizeof said);
    const char* const errors = strstr(said, " error: ");
    int good;
    snprintf(begins, sizeof begins, " error: %s: PGAS-E", all[i].name);
    if (all[i].what == ends)
      good = status == 1 && errors != NULL && strncmp(errors, begins, strlen(begins)) == 0 &&
             strchr(said, '\n') == said + strlen(said) - 1;
    else
      good = status == has_failed && (errors == NULL || strstr(errors, "PGAS-E0601") != NULL);
    ended += all[i].what == ends;
    if (!good && ++failures <= 20)
      fprintf(stderr, "%s has to %s; its status is %d, and it says: %s\n", all[i].name, what[all[i].what], status,
              said);
  }
  printf("%d functions, %d of them end the process\n", count, ended);
  return failures != 0 || ended < 900;
}
