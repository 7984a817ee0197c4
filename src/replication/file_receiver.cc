// SPDX-License-Identifier: BSD-3-Clause
#include "replication/file_receiver.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <system_error>

#include "base/hash.h"
#include "base/number.h"
#include "base/remove_file.h"

namespace cairn {
namespace {

constexpr std::string_view kWhole = ".sst";
constexpr std::string_view kPart = ".sst.part";
constexpr size_t kStepBytes = 64 * 1024;
constexpr uint64_t kMostContentBytes = 1ull << 30;  // it includes the code of all functions

struct Closer {
  int fd;
  ~Closer() { close(fd); }
};

// The fields of a file's name.
struct Found {
  std::string transfer;
  FileLine line;
  std::string name;
  bool is_whole = false;
};

bool ParseName(std::string name, uint64_t& number, Found& found) {
  found.name = name;
  found.is_whole = !name.ends_with(kPart);
  if (!name.ends_with(kWhole) && found.is_whole) return false;
  name.resize(name.size() - (found.is_whole ? kWhole : kPart).size());
  std::replace(name.begin(), name.end(), '-', ' ');
  const size_t first = name.find(' ');
  const size_t second = first == std::string::npos ? first : name.find(' ', first + 1);
  if (second == std::string::npos) return false;
  found.transfer = name.substr(0, first);
  const auto parsed = ParseUint64(std::string_view(name).substr(first + 1, second - first - 1));
  const Result<FileLine> line = ParseFileLine("FILE" + name.substr(second) + " 0");
  if (!parsed || !line.ok()) return false;
  number = *parsed;
  found.line = *line;
  return true;
}

}  // namespace

std::string FileReceiver::NameOf(const FileLine& line) const {
  FileLine plain = line;
  plain.total = 0;
  std::string text = EncodeFileLine(plain);  // FILE <space> <size> <checksum> 0
  text.erase(text.rfind(' '));
  text.replace(0, text.find(' '), std::to_string(files_.size()));
  std::replace(text.begin(), text.end(), ' ', '-');
  std::string name = transfer_;
  name.append("-").append(text).append(kWhole);
  return name;
}

void FileReceiver::Drop() {
  RemoveFolder(folder_);
  scanned_ = true;
  transfer_ = kNoTransfer;
  files_.clear();
  part_.clear();
  part_bytes_ = received_ = 0;
}

Status FileReceiver::DiskError(const std::string& path) {
  const bool is_full = errno == ENOSPC || errno == EDQUOT;
  std::string text = path + ": " + std::strerror(errno);
  if (is_full) {
    Drop();
    text += "; what was received is dropped";
  }
  return Status::Io(text);
}

// A power loss may leave files with holes, so every whole file is read. A partial file is checked when it is complete.
void FileReceiver::Scan(const std::function<bool()>& is_wanted) {
  std::map<uint64_t, Found> all;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
    uint64_t number = 0;
    Found found;
    if (ParseName(entry.path().filename(), number, found)) all[number] = std::move(found);
  }
  if (all.empty()) return Drop();
  transfer_ = all.begin()->second.transfer;
  for (const auto& [number, found] : all) {
    const std::string path = folder_ + "/" + found.name;
    const uint64_t size = std::filesystem::file_size(path, error);
    if (error || found.transfer != transfer_ || number != files_.size() || size > found.line.size) return Drop();
    if (!found.is_whole) {
      part_ = path;
      part_bytes_ = size;
      break;
    }
    if (is_wanted && !is_wanted()) {
      transfer_ = kNoTransfer;
      files_.clear();
      return;
    }
    const Result<uint64_t> checksum = ChecksumOfFile(path);
    if (!checksum.ok() || *checksum != found.line.checksum || size != found.line.size) return Drop();
    files_.push_back({found.line.space, path, size, *checksum});
  }
  scanned_ = true;
}

FilesPlace FileReceiver::Find(const std::function<bool()>& is_wanted) {
  if (!scanned_) Scan(is_wanted);
  return {transfer_, files_.size(), part_bytes_};
}

Status FileReceiver::Begin(const FilesHead& head) {
  const FilesPlace has = Find();
  const bool goes_on = head.from.files > 0 || head.from.bytes > 0;
  if (goes_on && (head.from.transfer != has.transfer || head.from.files != has.files || head.from.bytes != has.bytes)) {
    Drop();
    return Status::Io("the transfer resumes at another place than expected");
  }
  if (!goes_on) Drop();
  transfer_ = head.from.transfer;
  received_ = part_bytes_;
  for (const RowFile& file : files_) received_ += file.size;
  spared_ = received_;
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) return Status::Io(folder_ + ": " + error.message());
  return Ok();
}

Status FileReceiver::Receive(BlockingSocket& socket, const FilesHead& head, int64_t timeout_ms,
                             const OnProgress& on_progress) {
  timeout_ms_ = timeout_ms;
  on_progress_ = &on_progress;
  TRY(Begin(head));
  for (;;) {
    const FileLine line = TRY(ParseFileLine(TRY(socket.ReadLine(timeout_ms_))));
    on_progress(received_, line.total);
    Status status = line.is_end ? ReceiveContent(socket, line) : ReceiveFile(socket, line);
    if (status.Is(Code::kCorruption)) Drop();
    if (line.is_end || !status.ok()) return status;
  }
}

Status FileReceiver::ReceiveFile(BlockingSocket& socket, const FileLine& line) {
  const std::string path = folder_ + "/" + NameOf(line);
  const std::string part = path + ".part";
  if (!part_.empty() && part_ != part) return Status::Corruption("the transfer resumes with another file");
  part_ = part;
  const int fd = open(part.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0640);
  if (fd < 0) return DiskError(part);
  const Closer closer{fd};
  TRY(ReceiveBytes(socket, line, fd));
  if (rename(part.c_str(), path.c_str()) != 0) return DiskError(path);
  files_.push_back({line.space, path, line.size, line.checksum});
  part_.clear();
  part_bytes_ = 0;
  return Ok();
}

Status FileReceiver::ReceiveBytes(BlockingSocket& socket, const FileLine& line, int fd) {
  Hash64Stream hash;
  std::string step(kStepBytes, '\0');
  for (uint64_t at = 0; at < part_bytes_;) {
    const ssize_t got =
        pread(fd, step.data(), std::min<uint64_t>(step.size(), part_bytes_ - at), static_cast<off_t>(at));
    if (got <= 0) return DiskError(part_);
    hash.Add(std::string_view(step).substr(0, static_cast<size_t>(got)));
    at += static_cast<uint64_t>(got);
  }
  while (part_bytes_ < line.size) {
    const uint64_t begin = part_bytes_;
    const size_t most = std::min<uint64_t>(step.size(), line.size - part_bytes_);
    const size_t got = TRY(socket.Read(step.data(), most, timeout_ms_));
    if (got == 0) return Status::Io("timed out during the files");
    hash.Add(std::string_view(step).substr(0, got));
    for (size_t done = 0; done < got;) {
      const ssize_t written = pwrite(fd, step.data() + done, got - done, static_cast<off_t>(part_bytes_));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return DiskError(part_);
      done += static_cast<size_t>(written);
      part_bytes_ += static_cast<uint64_t>(written);
    }
    // Writes back in small steps, so that gigabytes of dirty pages do not delay reads later.
    (void)sync_file_range(fd, static_cast<off64_t>(begin), static_cast<off64_t>(got), SYNC_FILE_RANGE_WRITE);
    received_ += got;
    (*on_progress_)(received_, line.total);
  }
  if (hash.Value() != line.checksum) return Status::Corruption("a file's checksum is wrong");
  return Ok();
}

Status FileReceiver::ReceiveContent(BlockingSocket& socket, const FileLine& line) {
  if (line.size > kMostContentBytes) return Status::Corruption("the content of the transfer is too large");
  std::string bytes;  // The announced size may be wrong, so memory is taken for received bytes only.
  while (bytes.size() < line.size) {
    const size_t before = bytes.size();
    bytes.resize(std::min<size_t>(line.size, before + kStepBytes));
    const size_t got = TRY(socket.Read(bytes.data() + before, bytes.size() - before, timeout_ms_));
    if (got == 0) return Status::Io("timed out during the files");
    bytes.resize(before + got);
  }
  if (Hash64(bytes) != line.checksum) return Status::Corruption("the content's checksum is wrong");
  content_ = TRY(DecodeFilesContent(bytes));
  return Ok();
}

}  // namespace cairn
