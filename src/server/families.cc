// SPDX-License-Identifier: BSD-3-Clause
#include "server/families.h"

#include "client/families.h"
#include "cluster/families.h"
#include "command/families.h"
#include "config/families.h"
#include "replication/families.h"
#include "report/families.h"
#include "script/families.h"
#include "stats/families.h"

namespace cairn {

const std::vector<std::span<const CommandRow>>& AllFamilies() {
  static const std::vector<std::span<const CommandRow>> families = {
      StringCommands(),
      StringConditionalCommands(),
      StringEditCommands(),
      GenericCommands(),
      DatabaseCommands(),
      ObjectCommands(),
      ExpireCommands(),
      ScanCommands(),
      HashCommands(),
      HashWalkCommands(),
      HashExpireCommands(),
      SetCommands(),
      SetRandomCommands(),
      SetStoreCommands(),
      ListCommands(),
      ListSearchCommands(),
      ListMoveCommands(),
      ListBlockCommands(),
      ZsetCommands(),
      ZsetPopCommands(),
      ZsetRangeCommands(),
      ZsetStoreCommands(),
      StreamCommands(),
      StreamReadCommands(),
      StreamGroupCommands(),
      StreamClaimCommands(),
      StreamInfoCommands(),
      SortCommands(),
      CommandCommands(),
      TransactionCommands(),
      ConnectionCommands(),
      ClientCommands(),
      ServerCommands(),
      ConfigCommands(),
      InfoCommands(),
      DebugCommands(),
      MemoryCommands(),
      CommandLogCommands(),
      BitmapCommands(),
      DumpCommands(),
      PubSubCommands(),
      MonitorCommands(),
      AclCommands(),
      BitfieldCommands(),
      HyperLogLogCommands(),
      GeoCommands(),
      GeoSearchCommands(),
      ReplaceCommands(),
      MigrateCommands(),
      EvalCommands(),
      ScriptCommands(),
      FunctionCommands(),
      ReplicationCommands(),
      LatencyCommands(),
      LolwutCommands(),
      ModuleCommands(),
      ClusterCommands(),
      CompactionCommands(),
      BackupCommands(),
      StreamDeleteCommands(),
      JsonCommands(),
      JsonScalarCommands(),
      JsonArrayCommands(),
      BloomCommands(),
      CuckooCommands(),
      ClusterxCommands(),
      StreamReadGroupCommands(),
      StreamNackCommands(),
      StreamProducerCommands(),
      HotKeysCommands(),
      TDigestEstimateCommands(),
      CountMinCommands(),
      TopKCommands(),
      TDigestCommands(),
  };
  return families;
}

}  // namespace cairn
