// SPDX-License-Identifier: BSD-3-Clause
//
// What most files of src/storage include, compiled once.
#pragma once

#include <rocksdb/db.h>

#include "base/precompiled.h"
#include "encoding/row_key.h"
#include "storage/engine.h"
