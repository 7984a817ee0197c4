// SPDX-License-Identifier: BSD-3-Clause
//
// The directives about the process and about access control.
#include "config/directive.h"
#include "config/directive_syntax.h"

namespace cairn {
namespace {

using S = Settings;

constexpr auto kProc = Section::kProcess;
constexpr auto kSec = Section::kSecurity;

constexpr std::string_view kLogLevels[] = {"debug", "verbose", "notice", "warning"};  // LogLevel
constexpr std::string_view kChannels[] = {"allchannels", "resetchannels"};
constexpr std::string_view kSupervised[] = {"no", "systemd", "auto"};  // Supervised
constexpr std::string_view kAllowed[] = {"no", "yes", "local"};        // Allowed

// clang-format off
const Directive kRows[] = {
    {.name = "dir", .section = kProc, .kind = Kind::kText, .fallback = "./data", .flags = kStartOnly | kGuarded,
     .syntax = "<path>",
     .help = "The data directory, created if it is missing. Only one process at a time may use it."},
    {.name = "databases", .section = kProc, .kind = Kind::kNumber, .fallback = "16", .min = 1, .max = 65535,
     .flags = kStartOnly, .target = &S::databases,
     .help = "Number of databases that SELECT can choose from. Databases beyond it keep their keys until the number is "
             "raised again."},
    {.name = "daemonize", .section = kProc, .kind = Kind::kBool, .fallback = "no", .flags = kStartOnly,
     .target = &S::daemonize, .help = "Leave the terminal and run in the background."},
    {.name = "supervised", .section = kProc, .kind = Kind::kChoice, .fallback = "no", .choices = kSupervised,
     .flags = kStartOnly,
     .help = "Tell systemd, by the socket in NOTIFY_SOCKET, when the server accepts connections and when it shuts down "
             "(`Type=notify`). `auto` does so if NOTIFY_SOCKET is set. `daemonize` then has no effect."},
    {.name = "pidfile", .section = kProc, .kind = Kind::kText, .fallback = "", .flags = kStartOnly, .syntax = "<path>",
     .help = "A file that holds the process id while the server runs; none if empty."},
    {.name = "loglevel", .section = kProc, .kind = Kind::kChoice, .fallback = "notice", .choices = kLogLevels,
     .target = &S::loglevel, .help = "The lowest level of messages that are logged."},
    {.name = "logfile", .section = kProc, .kind = Kind::kText, .fallback = "", .flags = kStartOnly, .syntax = "<path>",
     .help = "The log file; the standard output if empty."},
    {.name = "crash-log-enabled", .section = kProc, .kind = Kind::kBool, .fallback = "yes",
     .target = &S::crash_log_enabled,
     .help = "Write a report with the stack of the thread to the log if the server crashes."},
    {.name = "slow-threads", .section = kProc, .kind = Kind::kNumber, .fallback = "4", .min = 1, .max = 256,
     .flags = kStartOnly, .target = &S::slow_threads,
     .help = "Threads of the slow lane, which runs commands that wait for a disk read, a lock or many rows. They "
             "start the disk reads of queued commands ahead, so few threads keep a disk busy."},
    {.name = "busy-reply-threshold", .alias = "lua-time-limit", .section = kProc, .kind = Kind::kNumber,
     .fallback = "5000", .min = 0, .target = &S::busy_reply_threshold_ms,
     .help = "Milliseconds after which a script or function that still runs makes the server reply BUSY to all "
             "commands except a few, such as SCRIPT KILL; 0 is never."},
    {.name = "hz", .section = kProc, .kind = Kind::kNumber, .fallback = "10", .min = 1, .max = 500, .flags = kCapped,
     .target = &S::hz,
     .help = "Accepted and shown, without effect: the server checks for expired keys every 20 ms, and only if there "
             "are some."},
    {.name = "dynamic-hz", .section = kProc, .kind = Kind::kBool, .fallback = "yes",
     .help = "Accepted and shown, without effect; see `hz`."},

    {.name = "requirepass", .section = kSec, .kind = Kind::kText, .fallback = "", .flags = kSecret,
     .syntax = "<password>",
     .help = "The password of the user `default`, which clients must send with AUTH or HELLO before other commands; "
             "none if empty."},
    {.name = "user", .section = kSec, .kind = Kind::kSpecial, .special = &kUserSyntax,
     .flags = kStartOnly | kRepeatable | kSecret | kFileOnly, .syntax = "<name> [<rule> ...]",
     .help = "A user and its permissions, in the rules of ACL SETUSER: `user app on >secret ~app:* +@all -@dangerous`. "
             "CONFIG GET does not show it; CONFIG REWRITE writes the current users. Not together with `aclfile`."},
    {.name = "rename-command", .section = kSec, .kind = Kind::kSpecial, .special = &kRenameSyntax,
     .flags = kStartOnly | kRepeatable | kSecret | kFileOnly, .syntax = "<command> <name>",
     .help = "Clients call the command by this name instead of its own; with \"\" they cannot call it. Users' rules, "
             "COMMAND and the statistics keep its own name. CONFIG GET does not show it. Users' permissions are a "
             "better way to restrict commands."},
    {.name = "aclfile", .section = kSec, .kind = Kind::kText, .fallback = "", .flags = kStartOnly, .syntax = "<path>",
     .help = "A file of `user` lines, read at the start and by ACL LOAD, written by ACL SAVE; none if empty. A "
             "relative path starts at the data directory."},
    {.name = "acl-pubsub-default", .section = kSec, .kind = Kind::kChoice, .fallback = "resetchannels",
     .choices = kChannels, .target = &S::acl_pubsub_default,
     .help = "Whether a new user may use all channels or none."},
    {.name = "acllog-max-len", .section = kSec, .kind = Kind::kNumber, .fallback = "128", .min = 0, .max = INT32_MAX,
     .target = &S::acllog_max_len,
     .help = "Entries of the log of refused commands and logins (ACL LOG); the oldest are dropped first."},
    {.name = "protected-mode", .section = kSec, .kind = Kind::kBool, .fallback = "yes", .target = &S::protected_mode,
     .help = "While there is no password, refuse clients from other machines."},
    {.name = "enable-debug-command", .section = kSec, .kind = Kind::kChoice, .fallback = "no", .choices = kAllowed,
     .flags = kStartOnly, .target = &S::enable_debug_command,
     .help = "Clients that may use DEBUG: none (no), all (yes), or those on this machine (local)."},
    {.name = "enable-protected-configs", .section = kSec, .kind = Kind::kChoice, .fallback = "no", .choices = kAllowed,
     .flags = kStartOnly, .target = &S::enable_protected_configs,
     .help = "Clients that may set `dbfilename` while the server runs: none (no), all (yes), or those on this machine "
             "(local). No client may set `dir`."},
};
// clang-format on

}  // namespace

std::span<const Directive> ProcessDirectives() { return kRows; }

}  // namespace cairn
