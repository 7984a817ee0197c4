// SPDX-License-Identifier: BSD-3-Clause
//
// SpareDescriptor: a descriptor kept open for the moment when no other is left. When it is released, one client can be
// accepted and refused instead of being left waiting.
//
// Thread: the owner's.
#pragma once

namespace cairn {

class SpareDescriptor {
 public:
  SpareDescriptor() { Take(); }
  ~SpareDescriptor() { Give(); }
  SpareDescriptor(const SpareDescriptor&) = delete;
  SpareDescriptor& operator=(const SpareDescriptor&) = delete;

  // Releases the descriptor.
  void Give();
  // Opens it again; if that fails, the next call tries again.
  void Take();

 private:
  int fd_ = -1;
};

}  // namespace cairn
