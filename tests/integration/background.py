# SPDX-License-Identifier: BSD-3-Clause
"""Work of a test on a thread of its own."""

import threading


class Background:
    """Runs `_run` of the derived class on a thread while the context is open. `_run` returns soon after `ended` is
    set."""

    def __init__(self):
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def _run(self):
        raise NotImplementedError
