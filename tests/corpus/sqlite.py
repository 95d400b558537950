# SPDX-License-Identifier: GPL-2.0-only
"""Inserts rows, a transaction each: sqlite.py FILE SYNCHRONOUS."""
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("pragma journal_mode=wal")
db.execute("pragma synchronous=" + sys.argv[2])
db.execute("create table t(i integer primary key, x text)")
while True:
    db.execute("insert into t(x) values (?)", ("x" * 100,))
