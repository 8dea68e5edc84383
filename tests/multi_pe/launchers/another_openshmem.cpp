// A library with the name of another OpenSHMEM, and a program that is linked to it.
#include <unistd.h>

/// With an argument, the program runs as long as such a program takes to start.
int main(int argc, char**) {
  if (argc > 1) ::sleep(1);
}
