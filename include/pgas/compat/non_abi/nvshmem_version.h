/// @file
/// The NVSHMEM version whose interface is offered. Build systems read it from here.
#pragma once

#define NVSHMEM_VENDOR_MAJOR_VERSION 3
#define NVSHMEM_VENDOR_MINOR_VERSION 5
#define NVSHMEM_VENDOR_PATCH_VERSION 0
