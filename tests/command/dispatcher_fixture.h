// SPDX-License-Identifier: BSD-3-Clause
//
// DispatcherFixture: a store, and a dispatcher with all families of commands, without a server or a connection. Only
// commands that need no parts of the server can be called.
#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "command/dispatch.h"
#include "server/families.h"
#include "storage/store_fixture.h"

namespace cairn {

class DispatcherFixture : public StoreFixture {
 protected:
  // The words of a line, without the blanks between them.
  static std::vector<std::string> Split(const std::string& line) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
  }

  // Executes a command and commits. `out` gets the reply in RESP2.
  Outcome Dispatch(Session& session, const std::vector<std::string>& words, Lane lane, std::string& out,
                   bool rerun = false, ReplyRoom* room = nullptr) {
    const std::vector<std::string_view> argv(words.begin(), words.end());
    Reply reply(out, 2, room);
    CommandWorker worker{txn(), random_, lane, positions_, stripes_};
    Outcome outcome = dispatcher_.Execute(worker, session, argv, reply, rerun);
    Commit();
    return outcome;
  }

  CommandTable table_{AllFamilies()};
  Limits limits_;
  Waiters waiters_;
  Dispatcher dispatcher_{table_, limits_, waiters_};
  Session session_{1};
  Random random_{1};
  std::vector<uint32_t> positions_;
  std::vector<uint32_t> stripes_;
};

}  // namespace cairn
