#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Opens a page in a headless Chromium whose only way to any network is a proxy in this program.

browser.py PAGE DOM: writes the browser's DOM of the page to DOM; prints how many addresses it requested: "requests=N".
"""
import http.server
import pathlib
import subprocess
import sys
import tempfile
import threading

requests = []


class Proxy(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        requests.append(self.path)
        self.send_error(404)

    do_CONNECT = do_POST = do_HEAD = do_GET

    def log_message(self, *_):
        pass


def browse(home, port, page, *arguments):
    command = ["chromium-headless-shell", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
               f"--user-data-dir={home}/profile", f"--proxy-server=127.0.0.1:{port}", *arguments,
               pathlib.Path(page).absolute().as_uri()]
    return subprocess.run(command, capture_output=True, timeout=55).stdout


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as home:
        dom = browse(home, server.server_port, sys.argv[1], "--dump-dom")
    open(sys.argv[2], "wb").write(dom)
    print(f"requests={len(set(requests))}")


main()
