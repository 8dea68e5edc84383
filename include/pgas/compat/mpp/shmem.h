/// @file
/// The old name of <shmem.h>.
#pragma once

#include "../shmem.h"
