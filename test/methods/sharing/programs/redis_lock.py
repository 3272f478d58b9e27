"""Takes redis.lock.Lock as it is told: see foreign-program.ts.

Arguments: the server's URL, and perhaps the pause between two tries, in seconds.
"""

import queue
import sys
import threading
import time

import redis

client = redis.Redis.from_url(sys.argv[1])
pause = float(sys.argv[2]) if len(sys.argv) > 2 else 0.01
saying = threading.Lock()


class Thread(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.asked = queue.Queue()
        self.held = {}

    def run(self):
        while True:
            number, words = self.asked.get()
            try:
                answer = "ok", self.command(*words)
            except Exception as error:
                answer = "failed", repr(error)
            with saying:
                print(number, *answer, sep="\t", flush=True)

    def command(self, verb, *words):
        if verb == "version":
            return redis.__version__
        if verb == "acquire":
            return str(self.acquire(words[1], int(words[2]), int(words[3]))).lower()
        if verb == "release":
            return self.held.pop(words[1]).release() or ""
        if verb == "count":
            return self.count(words[1], words[2], int(words[3]))
        raise ValueError(verb)

    def acquire(self, name, wait, lease):
        lock = client.lock(name, timeout=(lease or 8000) / 1000, sleep=pause)
        limit = None if wait < 0 else wait / 1000
        got = lock.acquire(blocking=wait != 0, blocking_timeout=limit)
        if got:
            self.held[name] = lock
        return got

    def count(self, name, file, ms):
        end, times = time.monotonic() + ms / 1000, 0
        while time.monotonic() < end:
            self.acquire(name, -1, 0)
            with open(file) as text:
                number = int(text.read())
            with open(file, "w") as text:
                text.write(str(number + 1))
            self.held.pop(name).release()
            times += 1
        return times


threads = {}
for line in sys.stdin:
    number, name, *words = line.rstrip("\n").split("\t")
    if name not in threads:
        threads[name] = Thread()
        threads[name].start()
    threads[name].asked.put((number, words))
