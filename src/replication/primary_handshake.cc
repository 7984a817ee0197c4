// SPDX-License-Identifier: BSD-3-Clause
#include "replication/primary_handshake.h"

#include <algorithm>
#include <cstring>

#include "base/log.h"
#include "base/number.h"
#include "replication/history.h"

namespace cairn {
namespace {

constexpr std::string_view kMarkHead = "EOF:";
constexpr size_t kMarkBytes = 40;
// A Valkey primary sends an RDB file that this version of Valkey reads; without one, a file that cannot hold hashes
// with expiring fields. 9.1 is the newest whose every type we read. Redis refuses the option, which does no harm.
constexpr std::string_view kReadsLikeValkey = "9.1.0";

}  // namespace

// Sends a command and reads its one-line reply. A refusal is only logged if `may_refuse`. The log uses redis-server's
// words about AUTH, because monitoring looks for them.
Status PrimaryHandshake::Expect(std::initializer_list<std::string_view> argv, bool may_refuse) {
  TRY(socket_.SendCommand(argv, timeout_ms_));
  const std::string line = TRY(socket_.ReadLine(timeout_ms_));
  if (!line.starts_with('-')) return Ok();
  const std::string_view command = *argv.begin();
  const std::string what =
      command == "AUTH" ? "Unable to AUTH to MASTER: " + line : std::string(command) + " was refused: " + line;
  if (!may_refuse) return Status::Io(what);
  Log(LogSeverity::kNotice, "(Non critical) {}", what);
  return Ok();
}

Status PrimaryHandshake::Connect(const LinkOptions& options) {
  timeout_ms_ = options.timeout_ms;
  return socket_.Connect(options.host, options.port, options.timeout_ms, options.bind_from, options.tls);
}

Status PrimaryHandshake::Introduce(const LinkOptions& options) {
  TRY(socket_.SendCommand({"PING"}, timeout_ms_));
  const std::string pong = TRY(socket_.ReadLine(timeout_ms_));
  const bool wants_password = pong.starts_with("-NOAUTH") || pong.starts_with("-NOPERM");
  if (pong.starts_with('-') && !wants_password && !pong.starts_with("-ERR operation not permitted")) {
    return Status::Io("PING was refused: " + pong);
  }
  if (!options.password.empty() && !options.user.empty()) {
    TRY(Expect({"AUTH", options.user, options.password}, false));
  } else if (!options.password.empty()) {
    TRY(Expect({"AUTH", options.password}, false));
  }
  TRY(Expect({"REPLCONF", "listening-port", std::to_string(options.listening_port)}, true));
  if (!options.announced_ip.empty()) TRY(Expect({"REPLCONF", "ip-address", options.announced_ip}, true));
  offers_files_ = !options.files_offer.empty();
  if (offers_files_) {
    TRY(Expect({"REPLCONF", "capa", "eof", "capa", "psync2", "capa", options.files_offer}, true));
  } else {
    TRY(Expect({"REPLCONF", "capa", "eof", "capa", "psync2"}, true));
  }
  return Expect({"REPLCONF", "version", kReadsLikeValkey}, true);
}

Result<PrimaryHandshake::Answer> PrimaryHandshake::Psync(std::string_view id, uint64_t next, bool failover) {
  const std::string wanted = id.empty() ? "?" : std::string(id);
  const std::string from = id.empty() ? "-1" : std::to_string(next);
  if (failover) {
    TRY(socket_.SendCommand({"PSYNC", wanted, from, "FAILOVER"}, timeout_ms_));
  } else {
    TRY(socket_.SendCommand({"PSYNC", wanted, from}, timeout_ms_));
  }
  const std::string line = TRY(socket_.ReadLine(timeout_ms_));
  Answer answer{.text = line};
  if (line.starts_with("+FULLRESYNC ")) {
    const size_t blank = line.rfind(' ');
    const auto offset = ParseUint64(std::string_view(line).substr(blank + 1));
    answer.id = line.substr(12, blank - 12);
    if (!offset || answer.id.size() != kReplicationIdDigits) {
      return Status::Io("unexpected reply: " + line);
    }
    answer.kind = Answer::Kind::kFull;
    answer.offset = *offset;
  } else if (line.starts_with("+CONTINUE")) {
    answer.kind = Answer::Kind::kContinue;
    const std::string rest = line.substr(9);
    if (rest.size() == kReplicationIdDigits + 1) answer.id = rest.substr(1);
  }
  return answer;
}

Status PrimaryHandshake::AwaitFile() {
  const std::string line = TRY(socket_.ReadLine(timeout_ms_));
  file_size_ = file_received_ = 0;
  mark_.clear();
  held_.clear();
  at_mark_ = false;
  files_head_.reset();
  if (offers_files_ && IsFilesHead(line)) {
    files_head_ = TRY(ParseFilesHead(line));
    return Ok();
  }
  if (!line.starts_with('$')) return Status::Io("expected a file, got: " + line);
  const std::string_view rest = std::string_view(line).substr(1);
  if (rest.starts_with(kMarkHead) && rest.size() == kMarkHead.size() + kMarkBytes) {
    mark_ = rest.substr(kMarkHead.size());
    return Ok();
  }
  const auto size = ParseUint64(rest);
  if (!size) return Status::Io("the file's size is not a number: " + line);
  file_size_ = *size;
  return Ok();
}

Result<size_t> PrimaryHandshake::ReadSized(char* into, size_t most) {
  const uint64_t left = file_size_ - file_received_;
  if (left == 0) return size_t{0};
  const size_t got = TRY(socket_.Read(into, std::min<uint64_t>(most, left), timeout_ms_));
  if (got == 0) return Status::Io("timed out during the file");
  file_received_ += got;
  return got;
}

// Holds back the last bytes until it is known that they are not the mark.
Result<size_t> PrimaryHandshake::ReadMarked(char* into, size_t most) {
  while (!at_mark_ && held_.size() <= kMarkBytes) {
    char bytes[16 * 1024];
    const size_t got = TRY(socket_.Read(bytes, sizeof bytes, timeout_ms_));
    if (got == 0) return Status::Io("timed out during the file");
    held_.append(bytes, got);
    file_received_ += got;
    at_mark_ = held_.ends_with(mark_);
  }
  const size_t free = held_.size() - kMarkBytes;
  const size_t given = std::min(free, most);
  std::memcpy(into, held_.data(), given);
  held_.erase(0, given);
  return given;
}

RdbSource PrimaryHandshake::Source() {
  return [this](char* into, size_t most) { return mark_.empty() ? ReadSized(into, most) : ReadMarked(into, most); };
}

}  // namespace cairn
