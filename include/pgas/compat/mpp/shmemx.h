/// @file
/// The old name of <shmemx.h>.
#pragma once

#include "../shmemx.h"
