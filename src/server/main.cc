// SPDX-License-Identifier: BSD-3-Clause
//
// main: reads the configuration, starts the server and waits for SHUTDOWN or a signal.
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include "base/crash_report.h"
#include "base/end_process.h"
#include "base/file_mode.h"
#include "base/log.h"
#include "base/number.h"
#include "server/command_line.h"
#include "server/server.h"
#include "server/signals.h"
#include "server/supervisor.h"

namespace {

using namespace cairn;

void Daemonize() {
  if (fork() != 0) _exit(0);
  setsid();
  const int null = open("/dev/null", O_RDWR);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, fd);
  if (null > STDERR_FILENO) close(null);
}

Status Start(Server& server, int signals) {
  const EndOnSignal end(signals, EndOnSignal::Phase::kStart);
  return server.Start();
}

// A signal asks for the end. Like SHUTDOWN, it is refused if a save fails.
void EndBySignal(Server& server, int signals) {
  ReadSignal(signals);
  Log(LogSeverity::kNotice, "Received a signal, shutting down.");
  const EndOnSignal end(signals, EndOnSignal::Phase::kEnd);
  if (server.SaveBeforeEnd().ok()) server.shutdown().Ask({});
}

// Waits for SHUTDOWN or a signal.
ShutdownOptions WaitForEnd(Server& server, int signals, int wish) {
  pollfd fds[] = {{signals, POLLIN, 0}, {wish, POLLIN, 0}};
  while (!server.shutdown().asked()) {
    if (poll(fds, 2, -1) <= 0) continue;
    if (fds[0].revents & POLLIN) EndBySignal(server, signals);
  }
  return server.shutdown().options();
}

// Says why an exception ends the process: RocksDB, Lua and most of Cairn cannot go on without memory or a thread.
[[noreturn]] void ExplainEnd() {
  try {
    if (std::current_exception() != nullptr) std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    EndProcess("there is no memory (ulimit -v, vm.overcommit_memory). The log has all writes that were acknowledged");
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again)
      EndProcess("a thread cannot be started; raise ulimit -u, or TasksMax= of systemd");
  } catch (...) {
  }
  __gnu_cxx::__verbose_terminate_handler();
  std::abort();
}

// Does not follow a symbolic link: other users with write access to the directory could redirect it.
void WritePid(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
  const std::string text = std::to_string(getpid()) + "\n";
  const bool written = fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!written) Log(LogSeverity::kWarning, "Writing the pidfile {} failed: {}", path, strerror(errno));
  if (fd >= 0) close(fd);
}

int CheckConfig(StartUp start, const char* program) {
  Server server(std::move(start.config), Identity::Make(program, start.config_file));
  const Status checked = server.CheckConfig();
  if (checked.ok()) {
    std::puts("The configuration is valid.");
  } else {
    std::fprintf(stderr, "cairn-server: %s\n", std::string(checked.text()).c_str());
  }
  server.Stop({});
  return checked.ok() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  StartUp start = ReadStartUp(argc, argv);
  if (start.exit_status) return *start.exit_status;
  if (start.checks_config) return CheckConfig(std::move(start), argv[0]);
  Config& config = *start.config;
  const std::string pid_file = config.Text("pidfile");
  const std::string log_file = config.Text("logfile");
  const Supervisor supervisor(static_cast<Supervised>(config.Number("supervised")));
  if (config.settings().daemonize && !supervisor.present()) Daemonize();
  HideFilesFromOthers();
  std::string error;
  if (!OpenLog(log_file, error)) {
    std::fprintf(stderr, "cairn-server: cannot open the log file: %s\n", error.c_str());
    return 1;
  }
  SetLogSeverity(static_cast<LogSeverity>(config.settings().loglevel.load()));
  SetDoubleFormat(static_cast<DoubleFormat>(config.settings().double_format.load()));
  config.Watch("double-format", [&config] {
    SetDoubleFormat(static_cast<DoubleFormat>(config.settings().double_format.load()));
    return Ok();
  });
  config.Watch("loglevel", [&config] {
    SetLogSeverity(static_cast<LogSeverity>(config.settings().loglevel.load()));
    return Ok();
  });
  std::set_terminate(ExplainEnd);
  PrepareCrashReports(argv[0], log_file);
  SetCrashReports(config.settings().crash_log_enabled);
  config.Watch("crash-log-enabled", [&config] {
    SetCrashReports(config.settings().crash_log_enabled);
    return Ok();
  });
  const int signals = OpenSignals();
  const int wish = eventfd(0, EFD_CLOEXEC);

  Identity identity = Identity::Make(argv[0], start.config_file);
  identity.supervised = supervisor.name();
  Server server(std::move(start.config), std::move(identity));
  server.shutdown().set_on_request([wish] {
    const uint64_t one = 1;
    (void)!write(wish, &one, sizeof one);
  });
  const Status started = Start(server, signals);
  if (!started.ok()) {
    std::fprintf(stderr, "cairn-server: %s\n", std::string(started.text()).c_str());
    Log(LogSeverity::kWarning, "{}", started.text());
    server.Stop({});
    return 1;
  }
  if (!pid_file.empty()) WritePid(pid_file);
  supervisor.NotifyReady();
  const ShutdownOptions options = WaitForEnd(server, signals, wish);
  supervisor.NotifyStopping();
  const EndOnSignal end(signals, EndOnSignal::Phase::kEnd);
  server.Stop(options);
  if (!pid_file.empty()) unlink(pid_file.c_str());
  Log(LogSeverity::kNotice, "Cairn is now ready to exit, bye bye...");
  return 0;
}
