"""What pgas is to reach on two H200s with NVLink, by row, bytes, blocks and threads (None: any). Everything else is to be
ahead of NVSHMEM, and so are these."""
KIB, MIB = 1 << 10, 1 << 20

# The figure that is wanted, in the row's unit; at least or at most this, as the row's unit has it.
TWO_PES = {
    ("put_bw", 32 * MIB, 4, 1024): 185,
    ("put_bw", 32 * MIB, 32, 1024): 367,
    ("get_bw", 32 * MIB, 4, 1024): 150,
    ("get_bw", 32 * MIB, 32, 1024): 370,
    ("p_bw", 32 * MIB, 32, 1024): 345,
    ("signal_pp", 0, 1, 1): 1.60,
    ("p_pp", 8, 1, None): 3.9,
    ("put_signal_pp", 8, 1, 1): 4.1,
    ("put_signal_pp", KIB, 1, 1): 7.5,
    ("put_signal_pp", 64 * KIB, 1, 1): 130,
    ("packet_pp", 8, 1, None): 1.61,  # packets by hand, and a tenth
    ("packet_pp", KIB, 1, None): 1.69,
    ("packet_pp", 4 * KIB, 1, None): 2.41,
    ("put_lat", 8, 1, None): 1.15,
    ("put_lat", 64 * KIB, 1, None): 3.1,
    ("atomic_fetch_add", 8, 1, 1): 1.08,
    ("atomic_inc", 8, 1, 1): 1.08,
    ("barrier_all", 0, 1, 1): 1.5,
    ("sync_all", 0, 1, 1): 0.90,
    ("allreduce", 64, 1, None): 1.7,
    ("allreduce", 512 * KIB, 1, None): 15,
    ("alltoall", 128, 1, None): 1.7,
    ("alltoall", MIB, 1, None): 20,
    ("stream_allreduce", 128 * MIB, 0, 0): 395,  # 340 GB/s
    ("stream_put", 64 * MIB, 0, 0): 394,
    ("host_put", 64 * MIB, 0, 0): 394,
}


def target(row, pes):
    """The figure wanted of a row, or None."""
    if pes != 2:
        return None
    for threads in (row["threads"], None):
        found = TWO_PES.get((row["row"], row["bytes"], row["blocks"], threads))
        if found is not None:
            return found
    return None
