/// @file
/// Takes back what sides.h defines for the expansion of the families.
#pragma once

#undef PGAS_NVSHMEM_FN
#undef PGAS_NVSHMEM_DEVICE_FN
#undef PGAS_NVSHMEM_DEVICE_ONLY
#undef PGAS_NVSHMEM_CONTEXT
#undef PGAS_NVSHMEM_GROUP_warp
#undef PGAS_NVSHMEM_GROUP_block
#undef PGAS_NVSHMEM_SIDES
#undef PGAS_NVSHMEM_TYPES
