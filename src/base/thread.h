// SPDX-License-Identifier: BSD-3-Clause
//
// Named threads. The names are listed in docs/threading.md and shown by `top -H`.
#pragma once

#include <functional>
#include <string>
#include <thread>

namespace cairn {

// Sets the calling thread's name; 15 characters at most are kept.
void NameThread(const std::string& name);

// Gives the calling thread long time slices (sched_setattr(2); Linux 6.12 and later, ignored by older kernels). Its
// share of the processor does not change, but a thread that wakes up to answer a client preempts it at once: Linux
// runs the thread whose slice would end first, and otherwise switches only at the next wake-up or tick. For background
// work; threads started by this one inherit it.
void LengthenTurns();

// Gives the calling thread a lower priority than threads that serve clients, for the rest of its life (setpriority(2),
// which on Linux affects one thread), and long time slices. For long work that no client waits for.
void LowerPriority();

// Starts a thread under `name`. Signals are handled by the main thread only, except those of a crash
// (base/crash_report.h).
std::thread StartThread(const std::string& name, std::function<void()> run);

// Runs `work` on a new thread under `name` with LowerPriority, and waits for it. For long work of a thread that later
// serves clients, since only root may raise a lowered priority.
void RunAtLowPriority(const std::string& name, const std::function<void()>& work);

// Runs `set_up` first on every thread started from now on. Called before other threads are started.
void SetThreadSetUp(void (*set_up)());

}  // namespace cairn
