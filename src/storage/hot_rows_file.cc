// SPDX-License-Identifier: BSD-3-Clause
#include "storage/hot_rows_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/hash.h"
#include "encoding/varint.h"

namespace cairn {
namespace {

constexpr std::string_view kMagic = "cairnkc1";
constexpr size_t kChecksumBytes = 8;

Status Failed(const char* what, const std::string& path) {
  return Status::Io(std::string(what) + " " + path + ": " + std::strerror(errno));
}

// Closes the descriptor.
Status WriteAndClose(int fd, const std::string& bytes, const std::string& path) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t more = write(fd, bytes.data() + done, bytes.size() - done);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) break;
    done += static_cast<size_t>(more);
  }
  Status status = done == bytes.size() && fdatasync(fd) == 0 ? Ok() : Failed("cannot write", path);
  close(fd);
  return status;
}

Status Damaged(const char* field) { return Status::Corruption(std::string("file key-cache: ") + field); }

void AppendNames(std::string& bytes, const RowNames& names) {
  AppendVarint(bytes, names.size());
  std::string_view last;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string_view name = names[i];
    const auto differ = std::mismatch(name.begin(), name.end(), last.begin(), last.end()).first;
    const auto shared = static_cast<size_t>(differ - name.begin());
    AppendVarint(bytes, shared);
    AppendVarint(bytes, name.size() - shared);
    bytes.append(name.substr(shared));
    last = name;
  }
}

// Takes the names from the front of `bytes`.
Status ReadNames(std::string_view& bytes, RowNames& names) {
  uint64_t count = 0;
  if (!ReadVarint(bytes, count)) return Damaged("count");
  std::string name;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t shared = 0;
    uint64_t size = 0;
    if (!ReadVarint(bytes, shared) || shared > name.size()) return Damaged("shared");
    if (!ReadVarint(bytes, size) || size > bytes.size()) return Damaged("size");
    name.resize(shared);
    name.append(bytes.substr(0, size));
    if (name.empty()) return Damaged("size");
    bytes.remove_prefix(size);
    if (!names.Add(name)) return Damaged("too large");
  }
  return Ok();
}

}  // namespace

std::string EncodeHotRows(const HotRows& rows) {
  std::string bytes(kMagic);
  AppendNames(bytes, rows.kept);
  AppendNames(bytes, rows.young);
  AppendU64(bytes, Hash64(bytes));
  return bytes;
}

Result<HotRows> DecodeHotRows(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return Damaged("magic");
  if (bytes.size() < kMagic.size() + kChecksumBytes) return Damaged("cut short");
  std::string_view tail = bytes.substr(bytes.size() - kChecksumBytes);
  bytes.remove_suffix(kChecksumBytes);
  uint64_t checksum = 0;
  if (!ReadU64(tail, checksum) || checksum != Hash64(bytes)) return Damaged("checksum");
  bytes.remove_prefix(kMagic.size());
  HotRows rows;
  TRY(ReadNames(bytes, rows.kept));
  TRY(ReadNames(bytes, rows.young));
  if (!bytes.empty()) return Damaged("bytes after the last name");
  return rows;
}

Status WriteHotRows(const std::string& dir, const HotRows& rows) {
  const std::string path = dir + "/" + std::string(kHotRowsFileName);
  const std::string temporary = path + ".tmp";
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0640);
  if (fd < 0) return Failed("cannot create", temporary);
  Status written = WriteAndClose(fd, EncodeHotRows(rows), temporary);
  if (written.ok() && rename(temporary.c_str(), path.c_str()) != 0) written = Failed("cannot replace", path);
  if (!written.ok()) unlink(temporary.c_str());
  return written;
}

Result<HotRows> ReadHotRows(const std::string& dir, uint64_t most_bytes) {
  const std::string path = dir + "/" + std::string(kHotRowsFileName);
  const int fd = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ENOENT) return HotRows();
    return Failed("cannot open", path);
  }
  struct stat found {};
  std::string bytes;
  const bool fits = fstat(fd, &found) == 0 && static_cast<uint64_t>(found.st_size) <= most_bytes;
  if (fits) bytes.resize(static_cast<size_t>(found.st_size));
  size_t done = 0;
  for (ssize_t more = 1; more > 0 && done < bytes.size(); done += static_cast<size_t>(std::max<ssize_t>(more, 0))) {
    more = read(fd, bytes.data() + done, bytes.size() - done);
  }
  close(fd);
  if (!fits) return Damaged("too large");
  bytes.resize(done);
  return DecodeHotRows(bytes);
}

}  // namespace cairn
