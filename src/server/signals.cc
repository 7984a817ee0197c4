// SPDX-License-Identifier: BSD-3-Clause
#include "server/signals.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdint>

#include "base/log.h"
#include "base/thread.h"

namespace cairn {

int OpenSignals() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signalfd(-1, &signals, SFD_CLOEXEC);
}

int ReadSignal(int signals) {
  signalfd_siginfo info;
  return read(signals, &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

EndOnSignal::EndOnSignal(int signals, Phase phase)
    : signals_(signals), phase_(phase), over_(eventfd(0, EFD_CLOEXEC)),
      thread_(StartThread("signals", [this] { Run(); })) {}

EndOnSignal::~EndOnSignal() {
  const uint64_t one = 1;
  (void)!write(over_, &one, sizeof one);
  thread_.join();
  close(over_);
}

void EndOnSignal::Run() {
  pollfd fds[] = {{signals_, POLLIN, 0}, {over_, POLLIN, 0}};
  for (;;) {
    if (poll(fds, 2, -1) <= 0) continue;
    if (fds[1].revents != 0) return;
    const int received = ReadSignal(signals_);
    if (phase_ == Phase::kStart) {
      Log(LogSeverity::kWarning, "Received a signal during the start, exiting now.");
      _exit(0);
    }
    if (received == SIGINT) {
      Log(LogSeverity::kWarning, "You insist... exiting now.");
      _exit(1);
    }
  }
}

}  // namespace cairn
