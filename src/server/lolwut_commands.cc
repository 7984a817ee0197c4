// SPDX-License-Identifier: BSD-3-Clause
//
// LOLWUT: draws a random cairn, and prints the version.
#include <algorithm>

#include "base/version.h"
#include "command/context.h"
#include "server/families.h"

namespace cairn {
namespace {

constexpr int64_t kColumns = 40;
constexpr int64_t kMostColumns = 1000;
constexpr int64_t kStones = 6;
constexpr int64_t kMostStones = 200;
constexpr int64_t kSmallestStone = 3;
constexpr std::string_view kGrain = "..,:'` ";

// A stone of `width` columns, `indent` from the left.
std::string DrawStone(Random& random, int64_t indent, int64_t width) {
  const auto middle = static_cast<size_t>(width - 2);
  const std::string margin(static_cast<size_t>(indent), ' ');
  std::string grain;
  for (size_t i = 0; i < middle; ++i) grain += kGrain[random.Below(kGrain.size())];
  return margin + " " + std::string(middle, '_') + "\n" + margin + "(" + grain + ")\n" + margin + " " +
         std::string(middle, '"') + "\n";
}

// Draws stones from a pebble at the top to the widest at the bottom, each a little off the center of the one below.
std::string DrawCairn(Random& random, int64_t columns, int64_t stones) {
  std::string picture;
  for (int64_t i = 1; i <= stones; ++i) {
    const int64_t most = std::max(kSmallestStone, columns * i / stones);
    const int64_t slack = std::max<int64_t>(1, columns / stones / 2);
    const auto less = static_cast<int64_t>(random.Below(static_cast<uint64_t>(slack)));
    const int64_t width = std::max(kSmallestStone, most - less);
    const int64_t indent = std::max<int64_t>(0, (columns - width) / 2 + static_cast<int64_t>(random.Below(3)) - 1);
    picture += DrawStone(random, indent, width);
  }
  return picture;
}

// LOLWUT [VERSION version] [columns] [stones]: `version` names the Redis release whose picture the client wants. The
// versions with a picture take sizes as arguments, so all versions do here.
Status Lolwut(CommandContext& ctx, Args& args, Reply& reply) {
  int64_t columns = kColumns;
  int64_t stones = kStones;
  if (args.left() >= 2 && args.Keyword("version")) {
    (void)args.Integer();
    if (args.More()) columns = args.Integer();
    if (args.More()) stones = args.Integer();
    TRY(args.Check());
  }
  columns = std::clamp(columns, kSmallestStone, kMostColumns);
  stones = std::clamp<int64_t>(stones, 1, kMostStones);
  reply.Verbatim("txt", DrawCairn(ctx.random(), columns, stones) + "\nRedis ver. " + kRedisVersion + "\n");
  return Ok();
}

// clang-format off
constexpr CommandRow kRows[] = {
    {.name = "lolwut", .arity = -1, .flags = kReadonly | kFast, .run = Lolwut, .group = Group::kServer,
     .since = "5.0.0", .summary = "Draws a cairn and shows the version.", .complexity = "O(1)",
     .syntax = "[VERSION version:integer]"},
};
// clang-format on

}  // namespace

std::span<const CommandRow> LolwutCommands() { return kRows; }

}  // namespace cairn
