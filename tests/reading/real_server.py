"""A small real model behind the chat completions of OpenAI, on this machine alone: `real_server.py MODEL.gguf`.

Says its address on a line when it listens, and ends with its standard input.
"""

from __future__ import annotations

import os
import sys

import xllamacpp

SLOTS = 3
"""Contexts that are kept, so that ingesting, asking and consolidating each find their instructions read already."""
WINDOW = 3_072

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = SLOTS * WINDOW
params.n_parallel = SLOTS
params.cpuparams.n_threads = 1  # two of them spin where the cores are busy: ten times slower beside other tests
params.warmup = False
params.ui = False
params.offline = True
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)  # noqa: T201 - what the test waits for
sys.stdin.read()
os._exit(0)  # a reply that is being written is not waited for
