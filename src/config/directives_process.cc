// SPDX-License-Identifier: BSD-3-Clause
//
// The directives about the process itself and about who may do what.
#include "config/directive.h"
#include "config/directive_syntax.h"

namespace cairn {
namespace {

using S = Settings;

constexpr auto kProc = Section::kProcess;
constexpr auto kSec = Section::kSecurity;

constexpr std::string_view kLogLevels[] = {"debug", "verbose", "notice", "warning"};  // LogLevel
constexpr std::string_view kChannels[] = {"allchannels", "resetchannels"};
constexpr std::string_view kAllowed[] = {"no", "yes", "local"};  // Allowed

const Directive kRows[] = {
    {.name = "dir", .section = kProc, .kind = Kind::kText, .fallback = "./data",
     .flags = kStartOnly | kGuarded, .syntax = "<path>",
     .help = "The data directory, made when it is missing. One process at a time may use it."},
    {.name = "databases", .section = kProc, .kind = Kind::kNumber, .fallback = "16", .min = 1,
     .max = 65535, .flags = kStartOnly, .target = &S::databases,
     .help = "How many databases SELECT can choose from. A database beyond the number keeps its "
             "keys until the number is raised again."},
    {.name = "daemonize", .section = kProc, .kind = Kind::kBool, .fallback = "no",
     .flags = kStartOnly, .target = &S::daemonize,
     .help = "Leave the terminal and run in the background."},
    {.name = "pidfile", .section = kProc, .kind = Kind::kText, .fallback = "", .flags = kStartOnly,
     .syntax = "<path>",
     .help = "A file that holds the process id while the server runs; none when empty."},
    {.name = "loglevel", .section = kProc, .kind = Kind::kChoice, .fallback = "notice",
     .choices = kLogLevels, .target = &S::loglevel,
     .help = "The least important messages that are still logged."},
    {.name = "logfile", .section = kProc, .kind = Kind::kText, .fallback = "", .flags = kStartOnly,
     .syntax = "<path>", .help = "Where the log goes; to the standard output when empty."},
    {.name = "slow-threads", .section = kProc, .kind = Kind::kNumber, .fallback = "4", .min = 1,
     .max = 256, .flags = kStartOnly, .target = &S::slow_threads,
     .help = "Threads of the slow lane, which runs what has to wait: for a disk read, for a lock, "
             "for many rows. More of them keep a faster disk busy."},
    {.name = "busy-reply-threshold", .alias = "lua-time-limit", .section = kProc, .kind = Kind::kNumber,
     .fallback = "5000", .min = 0, .target = &S::busy_reply_threshold_ms,
     .help = "Milliseconds after which a script or function that is still running makes the server answer "
             "BUSY to all commands but those that help, such as SCRIPT KILL; 0: never."},
    {.name = "hz", .section = kProc, .kind = Kind::kNumber, .fallback = "10", .min = 1, .max = 500,
     .flags = kCapped, .target = &S::hz,
     .help = "Accepted and shown, without effect: the timer looks for keys past their time every 20 "
             "ms, and only when some are due."},
    {.name = "dynamic-hz", .section = kProc, .kind = Kind::kBool, .fallback = "yes",
     .help = "Accepted and shown, without effect; see `hz`."},

    {.name = "requirepass", .section = kSec, .kind = Kind::kText, .fallback = "", .flags = kSecret,
     .syntax = "<password>",
     .help = "The password of the user `default`, which clients must give with AUTH or HELLO before "
             "anything else; none when empty."},
    {.name = "user", .section = kSec, .kind = Kind::kSpecial,
     .special = &kUserSyntax, .flags = kStartOnly | kRepeatable | kSecret | kFileOnly,
     .syntax = "<name> [<rule> ...]",
     .help = "A user and what it may do, in the rules of ACL SETUSER: `user app on >secret ~app:* "
             "+@all -@dangerous`. CONFIG GET does not show it; CONFIG REWRITE writes the users as "
             "they are. Not together with `aclfile`."},
    {.name = "rename-command", .section = kSec, .kind = Kind::kSpecial, .special = &kRenameSyntax,
     .flags = kStartOnly | kRepeatable | kSecret | kFileOnly, .syntax = "<command> <name>",
     .help = "Clients call the command by this name and no longer by its own; by none when it is \"\". Users' rules, "
             "COMMAND and the statistics keep its own name. CONFIG GET does not show it. Rules of users say better who "
             "may do what."},
    {.name = "aclfile", .section = kSec, .kind = Kind::kText, .fallback = "", .flags = kStartOnly,
     .syntax = "<path>",
     .help = "A file of `user` lines, read at the start and by ACL LOAD, written by ACL SAVE; none "
             "when empty. A relative path starts at the data directory."},
    {.name = "acl-pubsub-default", .section = kSec, .kind = Kind::kChoice,
     .fallback = "resetchannels", .choices = kChannels, .target = &S::acl_pubsub_default,
     .help = "Whether a new user may use all channels or none."},
    {.name = "acllog-max-len", .section = kSec, .kind = Kind::kNumber, .fallback = "128", .min = 0,
     .max = INT32_MAX, .target = &S::acllog_max_len,
     .help = "Entries of the log of refused calls and logins (ACL LOG); the oldest go first."},
    {.name = "protected-mode", .section = kSec, .kind = Kind::kBool, .fallback = "yes",
     .target = &S::protected_mode,
     .help = "While there is no password, refuse clients that do not come from this machine."},
    {.name = "enable-debug-command", .section = kSec, .kind = Kind::kChoice, .fallback = "no",
     .choices = kAllowed, .flags = kStartOnly, .target = &S::enable_debug_command,
     .help = "Who may use DEBUG: nobody, everybody, or clients on this machine."},
    {.name = "enable-protected-configs", .section = kSec, .kind = Kind::kChoice, .fallback = "no",
     .choices = kAllowed, .flags = kStartOnly, .target = &S::enable_protected_configs,
     .help = "Who may set `dbfilename` while the server runs: nobody, everybody, or clients on this machine. `dir` is "
             "nobody's to set."},
};

}  // namespace

std::span<const Directive> ProcessDirectives() { return kRows; }

}  // namespace cairn
