// SPDX-License-Identifier: BSD-3-Clause
#include "resp/errors.h"

namespace cairn::errors {
namespace {

constexpr size_t kQuotedBytes = 128;  // of the client's bytes, as in Redis

}  // namespace

std::string_view Shown(std::string_view bytes) { return bytes.substr(0, bytes.find('\0')); }

std::string WrongArity(std::string_view command) {
  std::string text = "ERR wrong number of arguments for '";
  text.append(command);
  text.append("' command");
  return text;
}

std::string InvalidExpire(std::string_view command) {
  std::string text = "ERR invalid expire time in '";
  text.append(command);
  text.append("' command");
  return text;
}

std::string UnknownCommand(std::string_view name, const std::string_view* args, size_t count) {
  std::string quoted;
  for (size_t i = 0; i < count && quoted.size() < kQuotedBytes; ++i) {
    const size_t room = kQuotedBytes - quoted.size();
    quoted.push_back('\'');
    quoted.append(Shown(args[i].substr(0, room)));
    quoted.append("' ");
  }
  std::string text = "ERR unknown command '";
  text.append(Shown(name.substr(0, kQuotedBytes)));
  text.append("', with args beginning with: ");
  text.append(quoted);
  return text;
}

std::string UnknownSubcommand(std::string_view name, std::string_view container) {
  std::string text = "ERR unknown subcommand '";
  text.append(Shown(name.substr(0, kQuotedBytes)));
  text.append("'. Try ");
  text.append(container);
  text.append(" HELP.");
  return text;
}

std::string BadSubcommand(std::string_view name, std::string_view container) {
  std::string text = "ERR unknown subcommand or wrong number of arguments for '";
  text.append(Shown(name.substr(0, kQuotedBytes)));
  text.append("'. Try ");
  text.append(container);
  text.append(" HELP.");
  return text;
}

}  // namespace cairn::errors
