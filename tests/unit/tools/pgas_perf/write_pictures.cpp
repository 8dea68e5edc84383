// Writes pictures and pages of maps of several sizes into a folder, for pictures_are_xml.py.
#include <cstdio>
#include <fstream>
#include <string>

#include "map/map_picture.hpp"
#include "synthetic_map.hpp"

int main(int argc, char** argv) {
  using namespace pgas::perf;
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  for (const std::size_t n : {1U, 2U, 6U, 40U}) {
    const world_map world = wild_world(n);
    const map_comparison against = compare(world, world, 0.1);
    const std::string name = folder + '/' + std::to_string(n);
    std::ofstream svg(name + ".svg");
    std::ofstream page(name + ".html");
    svg << svg_of(world);
    page << html_of(world, n == 2 ? nullptr : &against);
    if (!svg.flush() || !page.flush()) {
      std::perror(name.c_str());
      return 1;
    }
  }
}
