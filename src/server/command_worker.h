// SPDX-License-Identifier: BSD-3-Clause
//
// FastWorker and SlowWorker: what an I/O thread and a slow lane thread run requests on. Both dispatch on a
// transaction of their own and count what they did; they differ in when they commit.
//
// Thread: the one it was made for.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/random.h"
#include "command/dispatch.h"
#include "net/service.h"
#include "storage/transaction.h"

namespace cairn {

class ClientSession;
class Server;
class WorkerStats;

class BaseWorker : public Worker {
 public:
  RunResult Run(Client& client, std::span<const std::string_view> argv, std::string& out) override;
  RunResult Resume(Client& client, std::string& out) override;
  bool wrote() const override { return wrote_; }
  bool wakes_others() const override { return wakes_; }
  bool is_full() const override;
  std::string commit_error() const override { return commit_error_; }
  void NoteRead(uint64_t bytes) override;
  void NoteWritten(uint64_t bytes) override;

 protected:
  BaseWorker(Server& server, Lane lane);
  // Runs a request to its verdict; `rerun` as in Dispatcher::Execute.
  RunResult RunRequest(ClientSession& session, std::span<const std::string_view> argv, std::string& out,
                       bool rerun);
  // Called after each request that is done; a slow worker commits here and may replace the reply.
  virtual void AfterRequest(Outcome& outcome, std::string& out, size_t start) = 0;
  void SetCommitError(const Status& status);

  Server& server_;
  const Lane lane_;
  WorkerStats& stats_;
  Random random_;
  std::unique_ptr<Transaction> txn_;
  std::string commit_error_;
  bool wrote_ = false;
  bool wakes_ = false;

 private:
  void Count(ClientSession& session, const Outcome& outcome, std::span<const std::string_view> argv,
             int64_t usec, std::string_view reply);

  std::vector<uint32_t> positions_;
  std::vector<uint32_t> stripes_;
};

class FastWorker : public BaseWorker {
 public:
  explicit FastWorker(Server& server) : BaseWorker(server, Lane::kFast) {}
  ~FastWorker() override;
  CommitResult Commit(std::function<void(bool ok)> done) override;

 protected:
  void AfterRequest(Outcome&, std::string&, size_t) override {}

 private:
  // Transactions that came back from the committer. Shared, for a commit may outlive the worker.
  struct Spares {
    std::mutex mutex;
    std::vector<std::unique_ptr<Transaction>> transactions;  // guarded by mutex
  };
  void HandOver(CommitMode mode, std::function<void(bool ok)> done);

  std::shared_ptr<Spares> spares_ = std::make_shared<Spares>();
};

class SlowWorker : public BaseWorker {
 public:
  explicit SlowWorker(Server& server) : BaseWorker(server, Lane::kSlow) {}
  CommitResult Commit(std::function<void(bool ok)>) override { return CommitResult::kDone; }

 protected:
  void AfterRequest(Outcome& outcome, std::string& out, size_t start) override;
};

}  // namespace cairn
