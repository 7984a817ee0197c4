# SPDX-License-Identifier: BSD-3-Clause
"""Fault rounds: a primary with a replica under a seeded load, one fault a round, then a comparison of all data.

A pass starts two servers and a load, and numbers the system calls on each server's files from then on. A round picks a
number n that is still to come and hits the n-th call, or the next one of the kinds in its plan (plans.py). Calls of
recovery and of restarts are numbered too, so a pass has rounds only at some of the first 2,000 calls. The passes of the
long form (run --long) choose numbers that were not hit yet, until all were. A round ends with these checks:

- Every acknowledged write is present and no refused one is. A write without a reply may be either, in order.
- Writes are accepted again without a restart, or the process has ended with a reason in its log and an exit status that
is neither 0 nor a signal, and after a start without faults all data is right.
- The replica is connected, has the primary's offset and the same DEBUG DIGEST.
- The same holds after kill -9 and a start, during some of which system calls fail too.

The sets of write_unique (operations.py) have members that no other set has, and the load compacts: so a collection id
that was assigned twice shows as a missing or an extra member.
"""

import collections
import copy
import dataclasses
import random
import shutil
import socket
import tempfile
import time

import operations
from fault_control import Faults
from harness import Server
from operations import Steps
from plans import PLANS, count_calls
from resp import Connection, ParseError, encode, parse

CONNECTIONS = 3
REPLY_TIMEOUT_S = 60
BACK_TIMEOUT_S = 60  # until writes are accepted again, and until the replica is in sync
BATCHES_AFTER_FAULT = 12
BATCHES_BEFORE_COMPACTION = 10  # compact, if the call has not occurred by then
MOST_BATCHES = 150  # until a round is skipped
STARTUP_CALLS = 120
MEMORY = "48mb"
CLEAR_END = ("FATAL", "Exiting")  # the log's words before an intended end
NO_SUCH_KEY = b"ERR no such key"


class Violation(AssertionError):
    """A failed check."""


def now_ms():
    """The clock of the expiry of brief keys."""
    return int(time.time() * 1000)


@dataclasses.dataclass
class Figures:
    """Counters of rounds and results; sums over passes."""

    counts: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    fired: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    violations: list = dataclasses.field(default_factory=list)

    def add(self, other):
        """Adds the figures of another pass."""
        self.counts.update(other.counts)
        self.fired.update(other.fired)
        self.violations += other.violations

    def lines(self):
        """The figures as text, one line each."""
        yield ", ".join(f"{count} {name}" for name, count in sorted(self.counts.items()))
        yield "faults fired: " + ", ".join(f"{count} x {name}" for name, count in sorted(self.fired.items()))
        yield f"{len(self.violations)} violations"
        yield from self.violations


class Member:
    """One server of the pair, with the library and the number of its ends."""

    def __init__(self, name, figures, **directives):
        self.name, self.figures = name, figures
        self.folder = tempfile.mkdtemp(prefix=f"cairn-faults-{name}-", dir="/dev/shm")
        self.faults = Faults()
        self.server = Server(command=self.faults.command(), data_dir=self.folder, memory_budget=MEMORY,
                             enable_debug_command="yes", set_max_listpack_entries=16, set_max_intset_entries=16,
                             hash_max_listpack_entries=16, zset_max_listpack_entries=16, repl_diskless_sync_delay=0,
                             io_threads=2, **directives)
        self.log_from = 0
        self.count_only()

    def log_since_start(self):
        """The log of the current process."""
        return self.server.log_path.read_bytes()[self.log_from:].decode("utf-8", "replace")

    def is_alive(self):
        """Whether it runs."""
        return self.server.is_running()

    def await_end(self):
        """Waits for the end of the process; a violation if it ends without a reason."""
        deadline = time.monotonic() + REPLY_TIMEOUT_S
        while self.is_alive():
            if time.monotonic() > deadline:
                raise Violation(f"{self.name}: closed connections but did not end")
            time.sleep(0.01)  # errors raise a Violation, which wait_until does not allow
        status = self.server.process.returncode
        log = self.log_since_start()
        if status <= 0 or not any(word in log for word in CLEAR_END):
            raise Violation(f"{self.name}: ended with status {status} without a reason:\n{log[-1500:]}")
        self.figures.counts[f"ends of a {self.name}"] += 1

    def count_only(self):
        """Ends the fault. The numbers of calls continue."""
        count_calls(self.faults, self.folder)

    def start(self):
        """Starts it without faults."""
        self.count_only()
        self.log_from = self.server.log_path.stat().st_size
        try:
            self.server.start()
        except RuntimeError as error:
            raise Violation(f"{self.name} does not start: {error}") from error

    def start_with_fault(self, plan, nth):
        """Starts it while the nth call of the start fails. It serves, or it ends with a reason and starts without the
        fault."""
        plan.arm(self.faults, self.folder, self.faults.seen + nth)
        self.log_from = self.server.log_path.stat().st_size
        began = time.monotonic()
        self.server.spawn()
        while not self.server._answers_ping():  # noqa: SLF001
            if not self.is_alive():
                status, log = self.server.process.returncode, self.log_since_start()
                if status <= 0 or not any(word in log for word in ("cannot", "FATAL", "storage", "IO error")):
                    raise Violation(f"{self.name}: start ended with status {status} without a reason:\n{log[-1500:]}")
                self.figures.counts["starts refused"] += 1
                self.note_fired("start: ")
                self.start()
                return
            if time.monotonic() - began > REPLY_TIMEOUT_S:
                raise Violation(f"{self.name} neither starts nor ends:\n{self.log_since_start()[-1500:]}")
            time.sleep(0.005)  # as above
        self.note_fired("start: ")

    def note_fired(self, prefix=""):
        """Ends the fault, and adds the hit calls to the figures."""
        self.faults.disarm()
        for kind, count in self.faults.fired_by_kind().items():
            self.figures.fired[prefix + kind] += count
        self.count_only()

    def close(self):
        """Stops it and removes everything."""
        self.server.close()
        self.faults.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Writer:
    """One connection, its database and the expected data."""

    def __init__(self, rng, number, figures):
        self.steps = Steps(rng, b"w%d" % number, now_ms)
        self.db, self.rng, self.figures = number, rng, figures
        self.data, self.in_doubt = {}, []
        self.socket, self.buffer = None, b""
        self.batch, self.refused = [], 0

    def connect(self, server):
        """A new connection, in the writer's database."""
        self.close()
        self.socket = socket.create_connection((server.host, server.port), REPLY_TIMEOUT_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.sendall(encode([b"SELECT", b"%d" % self.db]))
        self.buffer = b""
        self._read_reply()

    def close(self):
        """Closes the connection."""
        if self.socket is not None:
            self.socket.close()
            self.socket = None

    def send(self):
        """Sends some steps. False if the connection is broken."""
        self.batch = [self.steps.draw_step() for _ in range(self.rng.choice((1, 1, 2, 5)))]
        self.refused = 0
        try:
            self.socket.sendall(b"".join(encode(words) for step in self.batch for words in step.commands))
        except OSError:
            self._leave_in_doubt(self.batch)
            return False
        return True

    def receive(self):
        """Reads the replies and applies the acknowledged steps. False if the connection is broken."""
        for at, step in enumerate(self.batch):
            try:
                replies = [self._read_reply() for _ in step.commands]
            except TimeoutError as error:
                raise Violation(f"no reply within {REPLY_TIMEOUT_S} s to {step.commands[0][:3]}") from error
            except OSError:
                self._leave_in_doubt(self.batch[at:])
                return False
            self._settle(step, replies)
        return True

    def _leave_in_doubt(self, steps):
        self.in_doubt += steps
        self.figures.counts["writes in doubt"] += len(steps)

    def _settle(self, step, replies):
        kind, content = replies[-1]
        errors = [item for item in content if item[0] == b"-"] if kind == b"*" and content else []
        if errors:
            raise Violation(f"{step.commands} answered {replies}")
        if kind == b"-" and content != NO_SUCH_KEY:
            if not content.startswith((b"MISCONF", b"EXECABORT")):
                self.figures.counts[f"refusals: {content[:40].decode()}"] += 1
            self.refused += 1
            self.figures.counts["writes refused"] += 1
            return
        step.apply(self.data)
        self.figures.counts["writes acknowledged"] += 1

    def _read_reply(self):
        while True:
            try:
                reply, end = parse(self.buffer)
                if end <= len(self.buffer):
                    self.buffer = self.buffer[end:]
                    return reply
            except (ParseError, ValueError):
                pass
            chunk = self.socket.recv(1 << 16)
            if not chunk:
                raise ConnectionError
            self.buffer += chunk

    def check(self, connection, where):
        """Compares the database with the expected data."""
        began_ms = now_ms()
        try:
            found = operations.read_database(connection, self.db)
        except AssertionError as error:
            raise Violation(f"{where}: db {self.db}: {error}") from error
        ended_ms = now_ms()
        state, different = self.data, []
        for kept in range(len(self.in_doubt) + 1):
            if kept:
                state = copy.deepcopy(state) if kept == 1 else state
                self.in_doubt[kept - 1].apply(state)
            different.append(operations.differences(state, found, began_ms, ended_ms))
            if not different[-1]:
                self.data, self.in_doubt = state, []
                operations.drop_expired(self.data, began_ms)
                self.figures.counts["keys compared"] += len(found)
                return
        raise Violation(f"{where}: db {self.db}, {len(self.in_doubt)} in doubt\n" + self._explain(different[0], found))

    def _explain(self, keys, found):
        lines = []
        for key in keys[:6]:
            mine, theirs = self.data.get(key), found.get(key)
            if isinstance(mine, (set, dict)) and isinstance(theirs, type(mine)):
                lost, more = sorted(set(mine) - set(theirs)), sorted(set(theirs) - set(mine))
                lines.append(f"  {key!r}: {len(lost)} lost {lost[:3]}, {len(more)} too many {more[:3]}")
            else:
                lines.append(f"  {key!r}: {str(mine)[:120]} acknowledged, {str(theirs)[:120]} found")
        lines += [f"  in doubt: {step.commands[0][:4]}" for step in self.in_doubt[:8]]
        return "\n".join(lines)


class Pair:
    """The servers and the writers of a pass."""

    def __init__(self, mode, seed):
        self.mode, self.figures = mode, Figures()
        self.rng = random.Random(f"{seed}/{mode}")
        self.primary = Member("primary", self.figures, appendfsync=mode)
        self.replica = Member("replica", self.figures, appendfsync=mode,
                              replicaof=f"127.0.0.1 {self.primary.server.port}")
        self.writers = [Writer(random.Random(self.rng.random()), i, self.figures) for i in range(CONNECTIONS)]
        self.connect()
        self.full_syncs = 0

    def close(self):
        """Stops everything."""
        for writer in self.writers:
            writer.close()
        self.replica.close()
        self.primary.close()

    # ---- the load

    def connect(self):
        """Reconnects the writers."""
        for writer in self.writers:
            writer.connect(self.primary.server)

    def write_batch(self):
        """Sends a batch from every writer. Returns the number of refused steps, or None if the primary is ending."""
        sent = [writer.send() for writer in self.writers]
        received = [writer.receive() for writer, ok in zip(self.writers, sent, strict=True) if ok]
        if not all(sent) or not all(received):
            self.close_connections()
            return None
        if self.rng.random() < 0.01:
            self.compact(self.primary)
        return sum(writer.refused for writer in self.writers)

    def compact(self, member):
        """Flushes and compacts, which writes tables, manifests and logs. May be refused."""
        try:
            connection = Connection(member.server.host, member.server.port, timeout_s=60)
            connection.call(b"COMPACT")
            connection.close()
        except OSError:
            pass  # the process has ended, which the next step detects

    def close_connections(self):
        """Closes connections to a primary that has ended or is ending: steps without a reply are in doubt already."""
        for writer in self.writers:
            writer.close()

    def restart_ended(self):
        """Restarts servers that have ended, and a primary that has closed its connections."""
        if not self.replica.is_alive():
            self.replica.await_end()
            self.replica.start()
        if not self.primary.is_alive():
            self.close_connections()
        if self.writers[0].socket is None:
            self.primary.await_end()
            self.primary.start()
            self.check_data("after an end")
            self.connect()

    # ---- a round

    def run_round(self, plan, target, number):
        """Runs one fault; returns whether a call was hit."""
        self.figures.counts["rounds"] += 1
        plan.arm(target.faults, target.folder, number)
        self.write_until_fired(target)
        has_fired = target.faults.fired > 0
        target.note_fired()
        self.restart_ended()
        self.await_writes()
        self.await_replica()
        self.check_data("after the fault")
        return has_fired

    def write_until_fired(self, target):
        """Writes until the fault has fired, and some more."""
        after = BATCHES_AFTER_FAULT
        for batch in range(MOST_BATCHES):
            if not target.is_alive() or self.write_batch() is None:
                return
            if target.faults.fired:
                after -= 1
                if after == 0:
                    return
            elif target is self.replica:
                time.sleep(0.003)  # the replica applies the stream meanwhile
            if not target.faults.fired and batch % BATCHES_BEFORE_COMPACTION == BATCHES_BEFORE_COMPACTION - 1:
                self.compact(target)
        self.figures.counts["faults without a call"] += 1

    def await_writes(self):
        """Writes until all steps are accepted."""
        deadline = time.monotonic() + BACK_TIMEOUT_S
        began = time.monotonic()
        while True:
            refused = self.write_batch()
            if refused is None:
                self.restart_ended()
            elif refused == 0:
                break
            else:
                time.sleep(0.02)  # as above
            if time.monotonic() > deadline:
                raise Violation(f"writes are refused {BACK_TIMEOUT_S} s after the fault:\n"
                                f"{self.primary.log_since_start()[-1500:]}")
        took_ms = int((time.monotonic() - began) * 1000)
        self.figures.counts["ms until writes were accepted"] += took_ms

    def await_replica(self):
        """Waits until the replica has the same offset and digest."""
        deadline = time.monotonic() + BACK_TIMEOUT_S
        last = None
        while time.monotonic() < deadline:
            if not self.replica.is_alive() or not self.primary.is_alive():
                self.restart_ended()
            last = self.compare_replica()
            if last is None:
                return
            time.sleep(0.02)  # as above
        raise Violation(f"the replica is not level after {BACK_TIMEOUT_S} s: {last}\n"
                        f"replica: {self.replica.log_since_start()[-1200:]}\n"
                        f"primary: {self.primary.log_since_start()[-1200:]}")

    def compare_replica(self):
        """The difference between the two, or None."""
        try:
            ours, theirs = (Connection(m.server.host, m.server.port, timeout_s=REPLY_TIMEOUT_S)
                            for m in (self.primary, self.replica))
        except OSError as error:
            return str(error)
        try:
            info = parse_info(theirs.call(b"INFO", b"replication")[1])
            if info.get("master_link_status") != "up":
                return "link down"
            offset = parse_info(ours.call(b"INFO", b"replication")[1])["master_repl_offset"]
            if int(info["slave_repl_offset"]) < int(offset):
                return f"offset {info['slave_repl_offset']} of {offset}"
            digests = [connection.call(b"DEBUG", b"DIGEST") for connection in (ours, theirs)]
            return None if digests[0] == digests[1] else f"digests {digests}"
        except OSError as error:
            return str(error)
        finally:
            ours.close()
            theirs.close()

    def check_data(self, where):
        """Compares the primary's data with the model."""
        connection = Connection(self.primary.server.host, self.primary.server.port, timeout_s=REPLY_TIMEOUT_S)
        try:
            for writer in self.writers:
                writer.check(connection, where)
        finally:
            connection.close()

    # ---- kill -9

    def kill(self, member):
        """kill -9 and a start, sometimes with a fault during it; then everything is compared."""
        self.figures.counts[f"kills of a {member.name}"] += 1
        self.note_full_syncs()
        member.server.kill9()
        if self.rng.random() < 0.5:
            member.start_with_fault(self.rng.choice(PLANS[:-3]), self.rng.randint(1, STARTUP_CALLS))
        else:
            member.start()
        if member is self.primary:
            self.check_data("after kill -9")
            self.connect()
        self.await_writes()
        self.await_replica()
        self.check_data("after kill -9 and writes")

    def note_full_syncs(self):
        """Adds the primary's counters to the figures; they count from its start."""
        try:
            with socket.create_connection((self.primary.server.host, self.primary.server.port), 5):
                pass
            connection = Connection(self.primary.server.host, self.primary.server.port)
            stats = parse_info(connection.call(b"INFO", b"stats")[1])
            connection.close()
        except OSError:
            return
        self.figures.counts["full syncs"] += int(stats["sync_full"])
        self.figures.counts["partial syncs"] += int(stats["sync_partial_ok"])


def parse_info(text):
    """INFO's lines as a dict."""
    return dict(line.split(":", 1) for line in text.decode().splitlines() if ":" in line)


def run_pass(mode, seed, choose, until, log=print):
    """Runs rounds at the numbers that `choose(seen)` returns until it returns None or the time is over. `seen` is the
    number of calls so far.

    Returns the figures and the numbers at which a call of the primary was hit. Stops at the first violation, because
    later ones could be its consequence.
    """
    rng = random.Random(f"{seed}/plans")
    pair = Pair(mode, seed)
    hit = []
    try:
        while time.monotonic() < until:
            target = pair.replica if rng.random() < 0.2 else pair.primary
            plan = rng.choice(PLANS)
            seen = target.faults.seen
            number = choose(seen) if target is pair.primary else seen + rng.randint(1, 40)
            if number is None:
                break
            at = f"mode {mode} seed {seed} n {number} {plan.name!r} on the {target.name}"
            try:
                if pair.run_round(plan, target, number) and target is pair.primary:
                    hit.append(number)
                if rng.random() < 0.3:
                    at += ", then kill -9"
                    pair.kill(rng.choice((pair.primary, pair.primary, pair.replica)))
            except (Violation, OSError, KeyError) as violation:
                pair.figures.violations.append(f"{at}: {violation!r}"[:3000])
                log(f"VIOLATION {at}:\n{violation}", flush=True)
                break
        pair.note_full_syncs()
    finally:
        pair.close()
    return pair.figures, hit
