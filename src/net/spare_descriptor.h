// SPDX-License-Identifier: BSD-3-Clause
//
// SpareDescriptor: a descriptor that is kept open for the moment when there is no other left. Given back to the kernel,
// it lets one client at a time be accepted, so that it can be refused instead of being left waiting.
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

  // Gives the descriptor back to the kernel.
  void Give();
  // Opens it again; it may fail, and is tried again by the next call.
  void Take();

 private:
  int fd_ = -1;
};

}  // namespace cairn
