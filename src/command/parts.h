// SPDX-License-Identifier: BSD-3-Clause
//
// Parts: what a command's function uses besides its context. Such a function takes a reference to it first, and its row
// names it by With:
//
//   Status ClientUnpause(const ClientParts& parts, CommandContext& ctx, Args& args, Reply& reply);
//   {.name = "unpause", ..., .run = With<ClientUnpause>}
//
// The parts of a family are one object: a part of the server, or a struct of references to several. The server binds it
// to the family when it starts (Bind), so that a command reaches what its family was given and nothing else. A call
// costs a load of the reference.
#pragma once

#include <span>
#include <type_traits>

#include "command/context.h"
#include "command/table.h"

namespace cairn {

template <typename Parts>
inline constexpr char kPartsTag = 0;  // its address stands for the type

template <typename Parts>
constexpr const void* TagOfParts() {
  return &kPartsTag<std::remove_const_t<Parts>>;
}

template <auto Function>
struct PartsBinder;

template <typename Parts, Status (*Function)(Parts&, CommandContext&, Args&, Reply&)>
struct PartsBinder<Function> {
  static Status Run(CommandContext& ctx, Args& args, Reply& reply) {
    return Function(*static_cast<Parts*>(ctx.command().parts()), ctx, args, reply);
  }
  static constexpr RunFunction kRun{&Run, TagOfParts<Parts>()};
};

// The row's `run` for a function that takes its family's parts.
template <auto Function>
inline constexpr RunFunction With = PartsBinder<Function>::kRun;

// Gives the functions of the family `rows` their parts, which outlive the table.
template <typename Parts>
void Bind(CommandTable& table, std::span<const CommandRow> rows, Parts& parts) {
  table.BindParts(rows, const_cast<std::remove_const_t<Parts>*>(&parts), TagOfParts<Parts>());
}

}  // namespace cairn
