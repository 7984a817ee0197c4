// SPDX-License-Identifier: BSD-3-Clause
//
// The command families: the rows of each file in this folder. server/ adds its own and builds the table.
#pragma once

#include <span>

#include "command/table.h"

namespace cairn {

std::span<const CommandRow> StringCommands();
std::span<const CommandRow> StringConditionalCommands();
std::span<const CommandRow> StringEditCommands();
std::span<const CommandRow> GenericCommands();
std::span<const CommandRow> DatabaseCommands();
std::span<const CommandRow> DumpCommands();
std::span<const CommandRow> ObjectCommands();
std::span<const CommandRow> ExpireCommands();
std::span<const CommandRow> ScanCommands();
std::span<const CommandRow> SortCommands();
std::span<const CommandRow> HashCommands();
std::span<const CommandRow> HashWalkCommands();
std::span<const CommandRow> HashExpireCommands();
std::span<const CommandRow> SetCommands();
std::span<const CommandRow> SetRandomCommands();
std::span<const CommandRow> SetStoreCommands();
std::span<const CommandRow> ListCommands();
std::span<const CommandRow> ListSearchCommands();
std::span<const CommandRow> ListMoveCommands();
std::span<const CommandRow> ListBlockCommands();
std::span<const CommandRow> ZsetCommands();
std::span<const CommandRow> ZsetPopCommands();
std::span<const CommandRow> ZsetRangeCommands();
std::span<const CommandRow> ZsetStoreCommands();
std::span<const CommandRow> StreamCommands();
std::span<const CommandRow> StreamDeleteCommands();
std::span<const CommandRow> StreamReadCommands();
std::span<const CommandRow> StreamReadGroupCommands();
std::span<const CommandRow> StreamNackCommands();
std::span<const CommandRow> StreamProducerCommands();
std::span<const CommandRow> StreamGroupCommands();
std::span<const CommandRow> StreamClaimCommands();
std::span<const CommandRow> StreamInfoCommands();
std::span<const CommandRow> CommandCommands();
std::span<const CommandRow> TransactionCommands();
std::span<const CommandRow> BitmapCommands();
std::span<const CommandRow> BitfieldCommands();
std::span<const CommandRow> HyperLogLogCommands();
std::span<const CommandRow> GeoCommands();
std::span<const CommandRow> GeoSearchCommands();
std::span<const CommandRow> ReplaceCommands();
std::span<const CommandRow> JsonCommands();
std::span<const CommandRow> JsonScalarCommands();
std::span<const CommandRow> JsonArrayCommands();
std::span<const CommandRow> BloomCommands();
std::span<const CommandRow> CuckooCommands();
std::span<const CommandRow> CountMinCommands();
std::span<const CommandRow> TopKCommands();
std::span<const CommandRow> TDigestCommands();
std::span<const CommandRow> TDigestEstimateCommands();

}  // namespace cairn
