"""Run a program in a terminal of its own, without a human.

What comes on stdin is typed; what the program draws goes to stdout. The program ends when
stdin ends.
"""

import fcntl
import os
import pty
import selectors
import signal
import struct
import sys
import termios

SIZE = struct.pack("HHHH", 40, 150, 0, 0)  # rows and columns

program, terminal = pty.fork()
if program == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, SIZE)
ready = selectors.DefaultSelector()
ready.register(0, selectors.EVENT_READ, (0, terminal))
ready.register(terminal, selectors.EVENT_READ, (terminal, 1))
while True:
    (source, target), chunk = ready.select()[0][0].data, b""
    try:
        chunk = os.read(source, 65536)
    except OSError:  # the program has ended
        pass
    if not chunk:
        break
    os.write(target, chunk)
os.killpg(program, signal.SIGHUP)  # as a terminal does: a launcher may not hand it on
os.waitpid(program, 0)
