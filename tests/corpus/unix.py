# SPDX-License-Identifier: GPL-2.0-only
"""A server on a unix socket that reads: unix.py PATH. A client that sends without end, or waits: unix.py PATH send|wait."""
import socket
import sys

s = socket.socket(socket.AF_UNIX)
if len(sys.argv) == 2:
    s.bind(sys.argv[1])
    s.listen()
    client = s.accept()[0]
    while client.recv(65536):
        pass
s.connect(sys.argv[1])
while sys.argv[2] == "send":
    s.sendall(b"x" * 65536)
s.recv(1)
