"""Threads that poll a queue, while others, which sleep now and then, fill it: prints how many items came through."""

import random
import threading
import time
from _queue import Empty, SimpleQueue

ITEMS, THREADS = 4000, 20
queue: SimpleQueue[int | None] = SimpleQueue()
items, found = list(range(ITEMS)), []
draw = random.Random(42).random


def feed() -> None:
    """Fill the queue, and end one of the others."""
    while items:
        queue.put(items.pop())
        if draw() > 0.5:
            time.sleep(draw() * 1e-3)
    queue.put(None)


def consume() -> None:
    """Empty it."""
    while True:
        try:
            item = queue.get(block=False)
        except Empty:
            time.sleep(1e-5)
            continue
        if item is None:
            return
        found.append(item)


threads = [threading.Thread(target=one) for one in (feed, consume) for _ in range(THREADS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(found))
