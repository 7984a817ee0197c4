// SPDX-License-Identifier: BSD-3-Clause
//
// Parts: the objects that a command's function uses besides its context. Such a function takes a reference to them as
// its first parameter, and its row names it with With:
//
//   Status ClientUnpause(const ClientParts& parts, CommandContext& ctx, Args& args, Reply& reply);
//   {.name = "unpause", ..., .run = With<ClientUnpause>}
//
// The parts of a family are one object: a part of the server, or a struct of references to several. The server binds it
// to the family at start (Bind), so a command reaches only the parts of its family. The cost is one load per call.
#pragma once

#include <span>
#include <type_traits>

#include "command/context.h"
#include "command/table.h"

namespace cairn {

template <typename Parts>
inline constexpr char kPartsTag = 0;  // its address identifies the type

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

// Binds the parts to the functions of the family `rows`. The parts must outlive the table.
template <typename Parts>
void Bind(CommandTable& table, std::span<const CommandRow> rows, Parts& parts) {
  table.BindParts(rows, const_cast<std::remove_const_t<Parts>*>(&parts), TagOfParts<Parts>());
}

}  // namespace cairn
