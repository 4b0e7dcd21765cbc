"""Hands its arguments, folder, environment and standard streams to the server at a socket, and exits as told."""

import json
import os
import socket
import sys

with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(sys.argv[1])
    request = json.dumps({"options": sys.argv[2:], "folder": os.getcwd(), "environment": dict(os.environ)}).encode()  # noqa: PTH109
    socket.send_fds(connection, [len(request).to_bytes(8, "big")], [0, 1, 2])
    connection.sendall(request)
    told = connection.recv(64)
code = int(told or b"1")
if code < 0:
    os.kill(os.getpid(), -code)
sys.exit(code)
