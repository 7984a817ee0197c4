// SPDX-License-Identifier: BSD-3-Clause
//
// Generator: the setting and the steps of a seed.
//
// Few keys, so that commands meet: each type has some keys of its own, and one command in ten takes the key of another
// type. Collections have few elements, or in one seed of six hundreds.
//
// Thread: one.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "simulation/step.h"

namespace cairn::simulation {

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  Setting MakeSetting();
  std::vector<Step> MakeSteps(const Setting& setting, size_t count);

 private:
  void AddUnsyncedDrop(const Setting& setting, std::vector<Step>& steps);
  void AddFailedAppend(const Setting& setting, std::vector<Step>& steps);
  Step MakeStep(const Setting& setting);
  Step MakeReplicaStep(const Setting& setting);
  Step MakeCommands(const Setting& setting);
  Words MakeCommand();
  Words MakeStringCommand();
  Words MakeKeyCommand();
  Words MakeHashCommand();
  Words MakeListCommand();
  Words MakeSetCommand();
  Words MakeZsetCommand();
  Words MakeStreamCommand();

  // ---- words
  uint64_t Below(uint64_t bound) { return random_.Below(bound); }
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  std::string Pick(std::initializer_list<const char*> words);
  std::string Number(int64_t least, int64_t most);
  std::string Key(char type);
  std::string AnyKey();
  std::string Member();
  std::string Text();
  std::string LargeText();
  std::string Rank(int64_t most);
  std::string Score();
  std::string ScoreBound();
  std::string Id();
  void AddMembers(Words& words, uint64_t most);
  uint64_t Count(uint64_t few, uint64_t some);

  Random random_;
  uint64_t members_ = 0;  // the different names of elements
};

}  // namespace cairn::simulation
