"""Wait for ever, whoever objects."""

import signal
import time

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)

while True:
    time.sleep(1.0)
