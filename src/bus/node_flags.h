// SPDX-License-Identifier: BSD-3-Clause
//
// The flags of a node and the state of a cluster, with the numbers that the bus sends.
//
// Thread: any; values.
#pragma once

#include <cstdint>

namespace cairn {

// Whether a node serves requests: kFail while slots are not served or most masters are not reachable.
enum class ClusterState : uint8_t { kOk = 0, kFail = 1 };

// A set of flags. Bits without a name here are kept: another version may send them.
class NodeFlags {
 public:
  enum Flag : uint16_t {
    kMaster = 1 << 0,
    kSlave = 1 << 1,
    kPossiblyFailing = 1 << 2,  // "fail?", PFAIL: this node does not reach it
    kFailed = 1 << 3,           // "fail": most masters do not reach it
    kMyself = 1 << 4,
    kHandshake = 1 << 5,   // its id is not known yet, so it has a random one
    kNoAddress = 1 << 6,   // its address is not known
    kMeet = 1 << 7,        // the next message to it is a MEET
    kMigrateTo = 1 << 8,   // a master that may get replicas of others
    kNoFailover = 1 << 9,  // a replica that does not replace its master
  };

  NodeFlags() = default;
  explicit NodeFlags(uint16_t bits) : bits_(bits) {}

  // Whether it has at least one of the flags of `mask`.
  bool Has(uint16_t mask) const { return (bits_ & mask) != 0; }
  void Add(uint16_t mask) { bits_ |= mask; }
  void Remove(uint16_t mask) { bits_ &= static_cast<uint16_t>(~mask); }
  uint16_t bits() const { return bits_; }

  friend bool operator==(const NodeFlags&, const NodeFlags&) = default;

 private:
  uint16_t bits_ = 0;
};

}  // namespace cairn
