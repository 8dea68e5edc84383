"""A prefill process hands the pages of requests, layer by layer, to the paged cache of a decode process. The two programs
start independently, find each other through tickets in a folder, and either may be killed and restarted. The C++ program
26_kv_cache.cpp does the same and explains the protocol.

    python kv_cache.py prefill FOLDER
    python kv_cache.py decode FOLDER push|pull REQUESTS

The arrays are torch tensors on GPU 0 if PGAS_HEAP is cuda, and NumPy arrays in host memory otherwise.
"""

import os
import signal
import sys
import time

import pgas

LAYERS, WINDOW, MOST, PAGES, WORDS = 61, 3, 8, 40, 256  # MOST: pages of a request; PAGES: of a layer of the cache
GPU = 0 if os.environ.get("PGAS_HEAP") == "cuda" else None
LIBRARY = "numpy" if GPU is None else "torch"
LOST = (pgas.Code.peer_lost, pgas.Code.handle_invalid, pgas.Code.authentication)
steps = 0


def step():
    """Step EXAMPLE_DIES_AT ends the process, for tests."""
    global steps
    steps += 1
    if steps == int(os.environ.get("EXAMPLE_DIES_AT", "0")):
        os.kill(os.getpid(), signal.SIGKILL)


def write_lines(file, lines):
    with open(file + ".new", "w") as out:
        out.write("".join(f"{line}\n" for line in lines))
    os.rename(file + ".new", file)


def read_lines(file):
    try:
        with open(file) as text:
            return text.read().split("\n")[:-1]
    except FileNotFoundError:
        return []


def number_of(request, layer, page):
    """The content of a page."""
    return (request * LAYERS + layer) * MOST + page + 1


def value_of(k, layer):
    """The value of `filled` when a layer of order k is there."""
    return (k - 1) * LAYERS + layer + 1


def serve(own, filled, answer):
    push = answer[1] == "push"
    orders, ordered, cache = pgas.open(answer[2]), pgas.Timeline.open(answer[3]), pgas.open(answer[4])
    k = 0
    while True:
        k += 1
        step()
        ordered.wait_host(k)
        request, n, *to = (int(each) for each in orders[k % WINDOW])
        if n == 0:
            return
        for layer in range(LAYERS):
            mine = own[layer][k % WINDOW * MOST:][:n]
            for page in range(n):
                mine[page] = number_of(request, layer, page)
            if push:
                pgas.copy_list(cache[layer], mine, destination_index=to[:n])
            step()
            filled.record(value_of(k, layer))


def prefill(folder):
    while True:
        own = pgas.shared_empty((LAYERS, WINDOW * MOST, WORDS), "int64", device=GPU, like=LIBRARY)
        filled = pgas.Timeline(GPU)
        offer = [filled.ticket(), pgas.share(own)]
        write_lines(f"{folder}/prefill", offer)
        step()
        answer = []
        while len(answer) != 5 or answer[0] != offer[0]:
            time.sleep(0.005)
            answer = read_lines(f"{folder}/decode")
            if answer == ["done"]:
                return
        try:
            serve(own, filled, answer)
        except pgas.Error as failed:
            if failed.code not in LOST:
                raise
            print("prefill offers its work again:", failed)


class Decoder:
    def __init__(self, folder, push, requests):
        self.folder, self.push, self.requests = folder, push, requests
        self.cache = pgas.shared_empty((LAYERS, PAGES, WORDS), "int64", device=GPU, like=LIBRARY)
        self.done = self.wrong = 0

    def order(self, request, free):
        n = 1 + request * 5 % MOST
        to = [free.pop(0) for _ in range(n)]
        return [request, n, *to, *[0] * (MOST - n)]

    def receive(self, order, k, filled, theirs):
        """Uses the layers of order k as they arrive. Returns the numbers of wrong words."""
        request, n, *to = order
        found = []
        for layer in range(LAYERS):
            filled.wait(value_of(k, layer))
            if self.push:
                pages = [self.cache[layer][slot] for slot in to[:n]]
            else:
                pgas.copy_list(self.cache[layer], theirs[layer][k % WINDOW * MOST:][:n], destination_index=to[:n])
                pages = [self.cache[layer][slot] for slot in to[:n]]
            found += [(pages[page] != number_of(request, layer, page)).sum() for page in range(n)]
            step()
        return found

    def work_with(self, offer):
        filled, theirs = pgas.Timeline.open(offer[0]), pgas.open(offer[1])
        orders = pgas.shared_empty((WINDOW, 2 + MOST), "int64")
        ordered = pgas.Timeline()
        step()
        write_lines(f"{self.folder}/decode", [offer[0], "push" if self.push else "pull", pgas.share(orders), ordered.ticket(), pgas.share(self.cache)])
        before, sent = self.done, 0
        free = list(range(PAGES))
        while self.done < self.requests:
            while sent < self.done - before + WINDOW and before + sent < self.requests:
                sent += 1
                orders[sent % WINDOW] = self.order(before + sent - 1, free)
                step()
                ordered.set(sent)
            k = self.done - before + 1
            order = [int(each) for each in orders[k % WINDOW]]
            found = self.receive(order, k, filled, theirs)
            filled.wait_host(value_of(k, LAYERS - 1))  # raises if prefill has ended; the words then mean nothing
            self.wrong += sum(int(each) for each in found)
            free += order[2:2 + order[1]]
            self.done += 1
        orders[(sent + 1) % WINDOW] = [0] * (2 + MOST)
        ordered.set(sent + 1)
        step()
        while filled.alive:
            time.sleep(0.001)

    def run(self):
        lost, partners = None, 0
        while True:
            offer = read_lines(f"{self.folder}/prefill")
            answered = read_lines(f"{self.folder}/decode")
            # An offer is used only once, because its timeline begins at 0. If an earlier decode process has answered this offer, the offer is not
            # used again.
            if len(offer) != 2 or offer[0] == lost or (answered and answered[0] == offer[0]):
                time.sleep(0.005)
                continue
            partners += 1
            try:
                self.work_with(offer)
            except pgas.Error as failed:
                if failed.code not in LOST:
                    raise
                print("decode waits for another prefill process:", failed)
                lost = offer[0]
                continue
            write_lines(f"{self.folder}/decode", ["done"])
            print(f"decode: {self.done} requests, {partners} prefill processes, {self.wrong} words wrong")
            return 0 if self.wrong == 0 else 1


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "prefill":
        prefill(sys.argv[2])
    elif len(sys.argv) > 4 and sys.argv[1] == "decode":
        sys.exit(Decoder(sys.argv[2], sys.argv[3] == "push", int(sys.argv[4])).run())
    else:
        sys.exit(__doc__)
