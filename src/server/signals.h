// SPDX-License-Identifier: BSD-3-Clause
//
// Signals that end the process. SIGTERM and SIGINT ask a running server for an orderly end (main.cc). While a server
// starts or ends, nobody waits for them: EndOnSignal ends the process at once then, which loses no more than kill -9.
#pragma once

#include <thread>

namespace cairn {

// Returns a descriptor from which SIGTERM and SIGINT can be read, and ignores SIGHUP and SIGPIPE, as redis-server does.
// REQUIRES: no other thread runs, because threads inherit the mask of signals.
int OpenSignals();
// The signal that is read next from the descriptor, or 0.
int ReadSignal(int signals);

// While it exists, a signal ends the process. Thread: the owner's; it has one of its own.
class EndOnSignal {
 public:
  enum class Phase : unsigned char {
    kStart,  // SIGTERM and SIGINT, with exit status 0
    kEnd,    // SIGINT alone, with exit status 1: the orderly end takes too long for the one who asked for it
  };

  // `signals` is the descriptor of OpenSignals, which nobody else reads meanwhile.
  EndOnSignal(int signals, Phase phase);
  ~EndOnSignal();
  EndOnSignal(const EndOnSignal&) = delete;
  EndOnSignal& operator=(const EndOnSignal&) = delete;

 private:
  void Run();

  const int signals_;
  const Phase phase_;
  const int over_;  // an eventfd
  std::thread thread_;
};

}  // namespace cairn
