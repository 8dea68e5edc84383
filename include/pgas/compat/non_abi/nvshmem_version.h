/// @file
/// The NVSHMEM version of this interface. Build systems read it from this file.
#pragma once

#define NVSHMEM_VENDOR_MAJOR_VERSION 3
#define NVSHMEM_VENDOR_MINOR_VERSION 5
#define NVSHMEM_VENDOR_PATCH_VERSION 0
