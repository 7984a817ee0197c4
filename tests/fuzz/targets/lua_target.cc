// SPDX-License-Identifier: BSD-3-Clause
//
// Lua: conversions that a script calls with a client's bytes: cjson, cmsgpack and struct, and the reply that the
// decoded value becomes, in both protocols.
//
// Input: the number of the script, then its argument; up to the first line end the format, for struct.
#include <atomic>

#include "base/assert.h"
#include "base/random.h"
#include "command/context.h"
#include "fuzz/restorer.h"
#include "fuzz/targets/target.h"
#include "script/families.h"
#include "script/scripting.h"

namespace cairn {
namespace {

// The bodies of Lua functions. A body sets `is_wrong` if it cannot decode what it has encoded.
constexpr std::string_view kScripts[] = {
    "local value = cjson.decode(ARGV[1])\n"
    "local ok, text = pcall(cjson.encode, value)\n"
    "if ok and not pcall(cjson.decode, text) then is_wrong = true end\n"
    "return value",
    "local values = {cmsgpack.unpack(ARGV[1])}\n"
    "local ok, bytes = pcall(cmsgpack.pack, unpack(values))\n"
    "local again, failure = pcall(cmsgpack.unpack, ok and bytes or '')\n"
    // Tables deeper than 16 levels are packed as nil, which is no key of a table.
    "if ok and #values > 0 and not again and not ErrorOf(failure):find('index is nil') then is_wrong = true end\n"
    "return values",
    "local values = {struct.unpack(ARGV[1], ARGV[2])}\n"
    "local next = table.remove(values)\n"
    "if next > #ARGV[2] + 1 then is_wrong = true end\n"
    "local ok, bytes = pcall(struct.pack, ARGV[1], unpack(values))\n"
    "if ok and not pcall(struct.unpack, ARGV[1], bytes) then is_wrong = true end\n"
    "return values",
    "return {cmsgpack.unpack_limit(ARGV[1], 2, 1)}",
    "return struct.size(ARGV[1])",
    "return {double = tonumber(ARGV[1]), map = {a = ARGV[1]}}",
    "cjson.decode_max_depth(5) cjson.encode_sparse_array(true, 1, 1) cjson.decode_invalid_numbers(false)\n"
    "return cjson.encode(cjson.decode(ARGV[1]))",
};

// The script that calls such a function. No argument can be taken for the mark of a contradiction, unlike for a text.
std::string ScriptOf(std::string_view body) {
  return "local is_wrong = false\n"
         "local function ErrorOf(failure) return type(failure) == 'table' and failure.err or failure end\n"
         "local function run()\n" +
         std::string(body) + "\nend\nlocal value = run()\nreturn {is_wrong and 1 or 0, value}";
}

class ScriptRunner {
 public:
  ScriptRunner() {
    for (const std::string_view body : kScripts) {
      const std::string code = ScriptOf(body);
      scripts_.push_back(std::make_shared<const Script>(Sha1Hex(code), code, 0, 0));
      const Status compiled = vm_.Compile(scripts_.back());
      ASSERT(compiled.ok(), std::string(compiled.text()).c_str());
    }
  }

  void Run(size_t number, std::span<const std::string_view> args, int protocol) {
    Transaction& txn = store_.txn();
    txn.BeginCommand(Lane::kSlow, 0, false);
    CommandContext context(txn, session_, *table_.Find("eval"), table_, limits_, random_);
    const Script& script = *scripts_[number % scripts_.size()];
    ScriptRun run(context, scripting_, script.sha, args, false);
    std::string out;
    Reply reply(out, protocol);
    const Status status = vm_.RunScript(run, script, {}, args, reply);
    txn.AbandonCommand();
    ASSERT(status.ok() && !out.empty(), "a script replies");
    const bool is_wrong = out.starts_with("*1\r\n:1\r\n") || out.starts_with("*2\r\n:1\r\n");
    ASSERT(!is_wrong, out.c_str());
  }

 private:
  TemporaryStore store_;
  const std::span<const CommandRow> family_ = EvalCommands();
  CommandTable table_{{&family_, 1}};
  Limits limits_;
  Random random_{1};
  Session session_{1};
  const std::atomic<int64_t> busy_after_ms_{0};
  BusyScripts busy_;
  const Conditions conditions_;
  Scripting scripting_{busy_after_ms_, busy_, conditions_, [] { return false; }, uint64_t{64} << 20};
  ScriptMemory memory_{uint64_t{64} << 20, [] { return false; }};
  std::vector<std::shared_ptr<const Script>> scripts_;
  LuaVm vm_{1, 1, memory_};
};

void Run(ScriptRunner& runner, std::string_view input) {
  const uint8_t choice = TakeChoice(input);
  const size_t number = choice / 2;
  std::vector<std::string_view> args = {input};
  if (kScripts[number % std::size(kScripts)].find("ARGV[2]") != std::string_view::npos) {
    const size_t end = std::min(input.find('\n'), input.size());
    args = {input.substr(0, end), input.substr(std::min(end + 1, input.size()))};
  }
  runner.Run(number, args, 2 + choice % 2);
}

std::function<void(std::string_view)> Make() {
  return [runner = std::make_shared<ScriptRunner>()](std::string_view input) { Run(*runner, input); };
}

std::vector<std::string> Seeds() {
  using namespace std::string_literals;
  return {Chosen(0, R"({"a":[1,-2.5e3,"x\u00e9\ud83d\ude00",null,true],"b":{"":{}}})"),
          Chosen(1, "[1e400,-0,[],[[[]]],\"\\n\"]"),
          Chosen(2, "\x93\x01\xa1x\xc0\x81\xa1k\xcb\x3f\xf8\0\0\0\0\0\0"s),
          Chosen(3, "\xdc\0\x01\xd9\x01y\xce\0\0\0\x05\xd3\xff\xff\xff\xff\xff\xff\xff\xff\xc3\xc4\x01z"s),
          Chosen(4,
                 "<i4>h!8Bc3s\n\x01\0\0\0\0\x02\x03"
                 "abctext\0"s),
          Chosen(5, "Bc0dfLx\n\x02xy\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\0\0\0\0\0\0"s),
          Chosen(6, "\x01\x02\x03"),
          Chosen(8, "!4bi8I3"),
          Chosen(11, "1.5"),
          Chosen(12, "[[1,2],{\"1\":2}]")};
}

}  // namespace

const FuzzTarget kLuaTarget = {
    .name = "lua", .make = Make, .seeds = Seeds, .covers = "src/script/lib_ src/script/reply_from_lua"};

}  // namespace cairn
