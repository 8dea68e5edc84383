// What is linked to a library with the name of another OpenSHMEM, and that library.
#include <unistd.h>

/// With an argument it stays for as long as such a program takes to start.
int main(int argc, char**) {
  if (argc > 1) ::sleep(1);
}
