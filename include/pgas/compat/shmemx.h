/// @file
/// Where OpenSHMEM libraries declare what is theirs alone. This one has nothing to declare: pgas's own operations have
/// their own headers.
#pragma once

#include "shmem.h"
