"""Runs 10_producer_consumer with two consumers, kills one of them and then the producer with SIGKILL, and starts both
again: at the end each consumer must have taken the last batch, and no value may be wrong.

    producer_consumer_test.py PROGRAM
"""
import os
import subprocess
import sys
import tempfile
import time

BATCHES = 4000
PAUSE_US = 1000


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        running = []

        def start(*arguments):
            process = subprocess.Popen([program, *map(str, arguments)], stdout=subprocess.PIPE, text=True)
            running.append(process)
            return process

        def produce():
            return start("produce", folder, 2, BATCHES, PAUSE_US)

        def wait_for_offers():
            """Waits until the producer has begun, which takes seconds if there are several GPUs. The consumers begin at
            the same time."""
            while not os.path.exists(os.path.join(folder, "seat1")) and producer.poll() is None:
                time.sleep(0.01)

        try:
            producer, first, second = produce(), start("consume", folder, 0), start("consume", folder, 1)
            wait_for_offers()
            time.sleep(1.5)
            second.kill()
            print(second.communicate()[0])
            time.sleep(0.5)  # the producer detects the death, and waits
            second = start("consume", folder, 1)
            time.sleep(0.5)
            if producer.poll() is not None:
                sys.exit("the producer ended too early for this test")
            producer.kill()
            said = producer.communicate()[0]
            time.sleep(0.5)
            producer = produce()
            said += producer.communicate(timeout=60)[0]
            takers = [process.communicate(timeout=60)[0] for process in (first, second)]
            print(said, *takers)
            if any(process.returncode != 0 for process in (producer, first, second)):
                sys.exit("a process has failed")
            if "seat 1 is empty" not in said:
                sys.exit("the producer has not noticed that a consumer was killed")
            for seat, taken in enumerate(takers):
                if f"seat {seat}: up to batch {BATCHES} of producer 2, 0 values wrong" not in taken or "PGAS-E0401" not in taken:
                    sys.exit(f"seat {seat} has not gone from one producer to the next")
        finally:
            for process in running:
                process.kill()


main()
