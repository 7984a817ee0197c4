// SPDX-License-Identifier: BSD-3-Clause
//
// Workers: transactions for the threads that call an embedded database. A call borrows one; there are as many as calls
// ever ran at the same time.
//
// Thread: any.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "storage/transaction.h"

namespace cairn {

class Workers {
 public:
  explicit Workers(Store& store) : store_(store) {}

  // Returned to the pool when the holder ends, without uncommitted writes.
  class Borrowed {
   public:
    explicit Borrowed(Workers& workers) : workers_(workers), txn_(workers.Take()) {}
    ~Borrowed() {
      txn_->Discard();
      workers_.Return(std::move(txn_));
    }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    Transaction& operator*() { return *txn_; }

   private:
    Workers& workers_;
    std::unique_ptr<Transaction> txn_;
  };

 private:
  std::unique_ptr<Transaction> Take() {
    {
      const MutexLock lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Transaction> txn = std::move(idle_.back());
        idle_.pop_back();
        return txn;
      }
    }
    return std::make_unique<Transaction>(store_);
  }
  void Return(std::unique_ptr<Transaction> txn) {
    const MutexLock lock(mutex_);
    idle_.push_back(std::move(txn));
  }

  Store& store_;
  Mutex mutex_;
  std::vector<std::unique_ptr<Transaction>> idle_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cairn
