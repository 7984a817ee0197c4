// SPDX-License-Identifier: BSD-3-Clause
//
// cairn_simulation: runs a seed, prints the steps and the first difference if there is one, and exits with 1 then.
// tests/simulation/run starts it for many seeds.
//
//   cairn_simulation SEED FOLDER [--steps N] [--keep I,J,...] [--trace 1]
//
// --keep runs only these steps of the seed: a shrunk run. --trace prints each step before it runs. FOLDER must be new;
// it is removed.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>

#include "base/crash_report.h"
#include "simulation/generator.h"
#include "simulation/simulation.h"

namespace {

using namespace cairn::simulation;

struct Options {
  uint64_t seed = 0;
  std::string folder;
  size_t steps = 300;
  bool traces = false;
  bool keeps_all = true;
  std::set<size_t> kept;
};

bool ParseOptions(int argc, char** argv, Options& options) {
  if (argc < 3) return false;
  options.seed = std::strtoull(argv[1], nullptr, 10);
  options.folder = argv[2];
  for (int i = 3; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--steps") {
      options.steps = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (name == "--trace") {
      options.traces = true;
    } else if (name == "--keep") {
      options.keeps_all = false;
      std::istringstream words(argv[i + 1]);
      for (std::string word; std::getline(words, word, ',');)
        options.kept.insert(std::strtoull(word.c_str(), nullptr, 10));
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!ParseOptions(argc, argv, options)) {
    std::fprintf(stderr, "usage: cairn_simulation SEED FOLDER [--steps N] [--keep I,J,...]\n");
    return 2;
  }
  cairn::PrepareCrashReports(argv[0], "");
  cairn::SetCrashReports(true);
  Generator generator(options.seed);
  const Setting setting = generator.MakeSetting();
  const std::vector<Step> all = generator.MakeSteps(setting, options.steps);
  std::vector<Step> steps;
  for (size_t i = 0; i < all.size(); ++i) {
    if (options.keeps_all || options.kept.contains(i)) steps.push_back(all[i]);
  }
  int status = 0;
  std::string report;
  {
    Simulation simulation(setting, options.folder);
    size_t done = 0;
    try {
      for (; done < steps.size(); ++done) {
        if (options.traces) std::printf("step %zu: %s\n", done, ToText(steps[done]).c_str());
        std::fflush(stdout);
        simulation.Run(steps[done]);
      }
    } catch (const Mismatch& mismatch) {
      status = 1;
      std::printf("seed %llu, %s\n", static_cast<unsigned long long>(options.seed), ToText(setting).c_str());
      for (size_t i = 0; i <= done && i < steps.size(); ++i) std::printf("%4zu  %s\n", i, ToText(steps[i]).c_str());
      std::printf("%s\n", mismatch.text.c_str());
    }
    if (status == 0) {
      std::printf("%s power cuts with %s %zu\n", ToText(simulation.totals()).c_str(), ToText(setting.appendfsync),
                  static_cast<size_t>(simulation.totals().crashes));
    }
    std::fflush(stdout);
    if (status != 0) _exit(status);
  }
  std::error_code error;
  std::filesystem::remove_all(options.folder, error);
  return status;
}
