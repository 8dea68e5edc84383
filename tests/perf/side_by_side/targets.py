"""The targets of pgas on H200s with NVLink. Every row is to be better than NVSHMEM in the same run. The rows below have
a further target: a figure in the row's unit, a share of the hand-written kernel's figure, or a ratio to NVSHMEM."""
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
ANY = None


def figure(value):
    return lambda raw, nvshmem, higher_is_better: value


def of_raw(share):
    """The figure of the hand-written kernel, times `share`."""
    return lambda raw, nvshmem, higher_is_better: None if raw is None else raw * share


def ahead_of_nvshmem(times):
    return lambda raw, nvshmem, higher_is_better: (
        None if nvshmem is None else nvshmem * times if higher_is_better else nvshmem / times)


def bus_bandwidth(gb_per_s, size, crossings):
    """Returns the time, in us, of a collective whose `size` bytes cross each link `crossings` times (the busBW of
    NCCL's tests)."""
    return figure(size * crossings / gb_per_s / 1e3)


# The targets for any number of PEs, by row, bytes, blocks and threads.
ALWAYS = {
    ("put_bw", ANY, ANY, ANY): of_raw(0.98),
    ("get_bw", ANY, ANY, ANY): of_raw(0.97),
    ("p_bw", ANY, ANY, ANY): figure(345),
    ("g_bw", ANY, ANY, ANY): figure(100),
    ("signal_pp", ANY, ANY, ANY): figure(1.60),
    ("p_pp", 8, ANY, ANY): figure(3.9),
    ("packet_pp", ANY, ANY, ANY): of_raw(1.10),
    ("ll_pp", ANY, ANY, ANY): of_raw(1.10),
    ("put_signal_pp", 8, 1, 1): figure(3.9),
    ("put_signal_pp", KIB, 1, 1): figure(6),
    ("put_signal_pp", 64 * KIB, 1, 1): figure(100),
    ("put_signal_pp", 64 * KIB, 1, 1024): figure(7.3),
    ("put_signal_bulk_pp", KIB, 1, 1): figure(6),
    ("put_signal_bulk_pp", 64 * KIB, 1, 1): figure(12),
    ("put_lat", 8, ANY, ANY): figure(1.15),
    ("put_lat", 64 * KIB, ANY, ANY): figure(3.1),
    ("get_lat", 64 * KIB, ANY, ANY): figure(3.5),
    ("atomic_fetch_add", ANY, ANY, ANY): figure(1.0),
    ("atomic_inc", ANY, ANY, ANY): figure(1.0),
    ("memory_joined", ANY, ANY, ANY): figure(16),
    ("memory_first", ANY, ANY, ANY): figure(16),
    ("malloc_first", GIB, ANY, ANY): figure(1.0),
    ("halo_p", 16 * MIB, ANY, ANY): ahead_of_nvshmem(1.3),
    ("halo_signal", 16 * MIB, ANY, ANY): ahead_of_nvshmem(1.3),
}
# Further targets for two PEs, and for four PEs.
BY_PES = {
    2: {
        ("barrier_all", ANY, 1, 1): figure(1.45),
        ("sync_all", ANY, 1, 1): figure(0.90),
        ("stream_allreduce", KIB, ANY, ANY): figure(5),
        ("stream_allreduce", 512 * KIB, ANY, ANY): figure(9),
        ("stream_allreduce", 32 * MIB, ANY, ANY): figure(115),
    },
    4: {
        ("barrier_all", ANY, 1, 1): figure(1.7),
        ("sync_all", ANY, 1, 1): figure(1.05),
        ("allreduce", 64, ANY, ANY): figure(2.0),
        ("allreduce", 8 * KIB, ANY, ANY): figure(3.5),
        ("allreduce", 64 * KIB, ANY, ANY): figure(8),
        ("allreduce", 512 * KIB, ANY, ANY): figure(25),
        ("alltoall", 128, ANY, ANY): figure(2.2),
        ("alltoall", MIB, ANY, ANY): figure(22),
        ("fcollect", 64, ANY, ANY): figure(2.0),
        ("fcollect", MIB, ANY, ANY): figure(24),
        ("broadcast", 64 * KIB, ANY, ANY): figure(5),
        ("broadcast", MIB, ANY, ANY): figure(28),
        ("stream_allreduce", KIB, ANY, ANY): figure(6),
        ("stream_alltoall", KIB, ANY, ANY): figure(6),
        ("stream_fcollect", KIB, ANY, ANY): figure(6),
        ("stream_allreduce", 128 * MIB, ANY, ANY): bus_bandwidth(345, 128 * MIB, 2 * 3 / 4),
        ("stream_alltoall", 128 * MIB, ANY, ANY): bus_bandwidth(345, 128 * MIB, 3 / 4),
        ("stream_fcollect", 128 * MIB, ANY, ANY): bus_bandwidth(345, 128 * MIB, 3 / 4),
    },
}


def target(row, pes, raw, nvshmem, higher_is_better):
    """Returns the target of a row, or None. `raw` and `nvshmem` are the figures of the hand-written kernel and of
    NVSHMEM in the same run, or None."""
    for table in (BY_PES.get(pes, {}), ALWAYS):
        for (name, size, blocks, threads), wanted in table.items():
            if (name == row["row"] and size in (ANY, row["bytes"]) and blocks in (ANY, row["blocks"])
                    and threads in (ANY, row["threads"])):
                return wanted(raw, nvshmem, higher_is_better)
    return None
