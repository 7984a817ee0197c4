// SPDX-License-Identifier: BSD-3-Clause
//
// Access rights of the files that the process creates.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"

namespace cairn {

// Makes new files and folders, also RocksDB's, readable only for the user and at most its group, and writable only for
// the user. Other bits of the umask stay set. Called before other threads start.
void HideFilesFromOthers();

// Gives a folder and all that is in it this owner, unless it is the process's own.
Status GiveFiles(const std::string& folder, uid_t user, gid_t group);
// The same with the owner of the folder `like`, if the process is root: a server that runs as that user must be able to
// open what root has made for it. No effect for other users, who cannot give files away.
Status GiveFilesAsRoot(const std::string& folder, const std::string& like);

}  // namespace cairn
