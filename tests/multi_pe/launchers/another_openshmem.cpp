// A library with the name of another OpenSHMEM, and a program that is linked to it.
#include <unistd.h>

/// With an argument, the program runs as long as a program of another OpenSHMEM takes to start.
int main(int argc, char**) {
  if (argc > 1) ::sleep(1);
}
