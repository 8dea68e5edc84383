"""Tests of share_test.py about the environment of processes: directories of sockets, namespaces, process ids."""
import os
import socket
import subprocess
import sys
import tempfile

from party import GPU, PROGRAM, Party, comes, exporter, pid_of, skipped


def namespaces_need_a_directory():
    apart = ("unshare", "--mount", "--pid", "--fork", "--ipc", "--net", "--mount-proc")
    if subprocess.run([*apart, "true"], stderr=subprocess.DEVNULL).returncode != 0:
        skipped.append("namespaces_need_a_directory: no right to unshare")
        return
    with tempfile.TemporaryDirectory() as folder:
        one = exporter(before=apart)
        Party(before=apart).bad(f"open {one.good('ticket')}", "PGAS-E0401", "PGAS_SOCKET_DIR")
        one.end()
        shared = {"PGAS_SOCKET_DIR": folder}
        one = exporter(before=apart, environment=shared)
        other = Party(before=apart)
        other.good(f"open {one.good('ticket')}")
        other.good("write 64 12")
        assert one.good("read 64") == "12"
        assert len(one.good("openers").split()) == 2
        assert other.good("alive") == "alive"
        one.end()
        assert comes(lambda: other.good("alive") == "dead")
        other.end()
        assert comes(lambda: not os.listdir(folder)), os.listdir(folder)


def nobody_listens(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as one:
        try:
            one.connect(path)
        except ConnectionRefusedError:
            return True
    return False


def a_directory_is_left_clean():
    with tempfile.TemporaryDirectory() as folder:
        shared = {"PGAS_SOCKET_DIR": folder}
        one = exporter(environment=shared)
        ticket = one.good("ticket")
        pid_of(one, ticket)
        assert comes(lambda: one.good("openers") == "openers")
        other = Party()
        other.good(f"open {ticket}")
        (name,) = os.listdir(folder)
        one.kill()
        assert comes(lambda: other.good("alive") == "dead")
        # Linux may close the connection of a killed process before its listening socket.
        assert comes(lambda: nobody_listens(os.path.join(folder, name)))
        other.good("close")
        assert not os.listdir(folder), os.listdir(folder)
        two = exporter(environment=shared)  # both sides are killed, and the next exporter removes the socket
        pid_of(two, two.good("ticket"))
        assert comes(lambda: two.good("openers") == "openers")
        two.kill()
        (left,) = os.listdir(folder)
        assert comes(lambda: nobody_listens(os.path.join(folder, left)))
        os.utime(os.path.join(folder, left), (1, 1))
        three = exporter(environment=shared)
        three.good("ticket")
        assert left not in os.listdir(folder) and len(os.listdir(folder)) == 1

        def killed():
            """Returns the socket file of an exporter that was killed some time ago and has no importers."""
            before = set(os.listdir(folder))
            one = exporter(environment=shared)
            pid_of(one, one.good("ticket"))
            assert comes(lambda: one.good("openers") == "openers")
            one.kill()
            (left,) = set(os.listdir(folder)) - before
            assert comes(lambda: nobody_listens(os.path.join(folder, left)))
            os.utime(os.path.join(folder, left), (1, 1))
            return left

        left = killed()  # the next importer that uses the directory removes the socket
        Party().good(f"open {three.good('ticket')}")
        assert comes(lambda: left not in os.listdir(folder))
        info = os.environ.get("SHARE_INFO")
        if info:
            left = killed()
            subprocess.run([info, "--shared"], env={**os.environ, **shared}, stdout=subprocess.DEVNULL, check=True)
            assert left not in os.listdir(folder) and len(os.listdir(folder)) == 1
        three.end()
        assert comes(lambda: not os.listdir(folder))
        other.end()


def a_reused_pid_is_another_process():
    """Runs in a separate PID namespace, where process ids can be chosen."""
    apart = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")
    choose = "/proc/sys/kernel/ns_last_pid"
    if subprocess.run([*apart, "sh", "-c", f"echo 500 > {choose}"], stderr=subprocess.DEVNULL).returncode != 0:
        skipped.append("a_reused_pid_is_another_process: no right to unshare, or no choice of PIDs")
        return
    subprocess.run([*apart, sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "reused_pid.py"), PROGRAM],
                   check=True, timeout=60)


def uuids():
    """Returns the UUIDs of the GPUs that a program sees."""
    said = subprocess.run(["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"], capture_output=True, text=True)
    all_ = said.stdout.split() if said.returncode == 0 else []
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return all_
    return [one if one.startswith("GPU-") else all_[int(one)] for one in visible.split(",") if one]


def gpus_go_by_uuid():
    """Tests memory of a GPU that is the first GPU here and the second GPU there, memory of a peer, and memory of a
    hidden GPU."""
    if not GPU:
        return
    seen = uuids()
    if len(seen) < 2:
        skipped.append("gpus_go_by_uuid: needs two GPUs")
        return
    one = exporter(environment={"CUDA_VISIBLE_DEVICES": f"{seen[0]},{seen[1]}"})
    turned = Party(environment={"CUDA_VISIBLE_DEVICES": f"{seen[1]},{seen[0]}"})
    turned.good(f"open {one.good('ticket')}")
    assert turned.good("on_its_gpu") == "1"
    turned.good("write 64 21")
    assert one.good("read 64") == "21"
    turned.end()
    peer = Party(environment={"CUDA_VISIBLE_DEVICES": f"{seen[0]},{seen[1]}"})
    peer.good(f"open_on 1 {one.good('ticket')}")  # the memory belongs to GPU 0, and GPU 1 uses it
    peer.good("write 128 22")
    assert one.good("read 128") == "22"
    one.good("write 128 23")
    assert peer.good("read 128") == "23"
    peer.end()
    hidden = Party(environment={"CUDA_VISIBLE_DEVICES": seen[1]})
    said = hidden.ask(f"open {one.good('ticket')}")
    print(f"  a hidden GPU's memory: {said}")
    if said.startswith("opened"):
        hidden.good("write 192 24")
        assert one.good("read 192") == "24"
    else:
        assert "PGAS-E0105" in said and seen[0] in said and "CUDA_VISIBLE_DEVICES" in said and "as its peer" in said, said
    hidden.end()
    one.end()
