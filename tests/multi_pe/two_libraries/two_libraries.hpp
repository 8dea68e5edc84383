#pragma once

#include "pgas/world.hpp"

[[gnu::visibility("default")]] int first_library(pgas::world& world);
[[gnu::visibility("default")]] int second_library(pgas::world& world);
