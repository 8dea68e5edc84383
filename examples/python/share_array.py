"""Two independent processes share an array by a ticket. The processes access the array alternately, ordered by two
timelines.

    python share_array.py
"""

import multiprocessing

import pgas


def other_side(ticket, ready, done):
    x = pgas.open(ticket)
    asked, answered = pgas.Timeline.open(ready), pgas.Timeline.open(done)
    for i in range(1, 11):
        asked.wait(i, timeout=30)
        x *= x  # in the memory of the process that shares it
        answered.record(i)


if __name__ == "__main__":
    x = pgas.shared_empty(1000, "float64")
    ready, done = pgas.Timeline(), pgas.Timeline()
    child = multiprocessing.get_context("spawn").Process(target=other_side, args=(pgas.share(x), ready.ticket(), done.ticket()))
    child.start()
    for i in range(1, 11):
        x[:] = i
        ready.record(i)
        done.wait(i, timeout=30)
        assert (x == i * i).all()
    child.join()
    print("squares of 1 to 10, by the other process:", x[0])
