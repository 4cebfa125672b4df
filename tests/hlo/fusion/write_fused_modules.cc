// Writes modules of the corpus and random ones, and random fusions of them, for
// another judge.
//
// Usage: hone_write_fused_modules DIR SEED FUSIONS RANDOM [NAME…]
//
// For each NAME of the corpus and for RANDOM modules (which are called by
// numbers) there are DIR/NAME.hlo, as it is printed, DIR/NAME.greedy.hlo, and
// FUSIONS times DIR/NAME.N.hlo, a random legal fusion with random layouts.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include "hlo/fusion/fuse.h"
#include "hlo/fusion/kernel_rules.h"
#include "hlo/read_module.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "tests/hlo/fusion/support.h"
#include "tests/support/corpus.h"
#include "tests/support/random_module.h"

namespace hone::hlo {
namespace {

template <typename T>
T ValueOrExit(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  std::cerr << value.status() << "\n";
  std::exit(1);
}

void WriteFusions(const std::string& prefix, const Module& module, Rng& rng,
                  int fusions) {
  const FusionSpace space(module);
  std::ofstream(prefix + ".hlo") << PrintModule(module);
  std::ofstream(prefix + ".greedy.hlo") << PrintModule(
      ValueOrExit(Fuse(space, FuseGreedily(space), space.RowMajor())));
  for (int i = 0; i < fusions; ++i) {
    std::ofstream(absl::StrCat(prefix, ".", i, ".hlo"))
        << PrintModule(ValueOrExit(Fuse(space, RandomFusion(space, rng),
                                        RandomLayouts(space, rng))));
  }
}

int Run(int argc, char** argv) {
  uint64_t seed = 0;
  int fusions = 0;
  int random = 0;
  if (argc < 5 || !absl::SimpleAtoi(argv[2], &seed) ||
      !absl::SimpleAtoi(argv[3], &fusions) ||
      !absl::SimpleAtoi(argv[4], &random)) {
    std::cerr << "usage: hone_write_fused_modules DIR SEED FUSIONS RANDOM "
                 "[NAME...]\n";
    return 1;
  }
  Rng rng(seed);
  const std::string folder = absl::StrCat(argv[1], "/");
  for (int i = 0; i < random; ++i) {
    testing::RandomModuleOptions options;
    options.established_only = true;
    const std::string text =
        testing::RandomModuleText(seed + static_cast<uint64_t>(i), options);
    WriteFusions(absl::StrCat(folder, i), ValueOrExit(ParseHloText(text)), rng,
                 fusions);
  }
  for (int i = 5; i < argc; ++i) {
    WriteFusions(folder + argv[i],
                 ValueOrExit(ReadModuleFile(testing::CorpusPath(argv[i]))), rng,
                 fusions);
  }
  return 0;
}

}  // namespace
}  // namespace hone::hlo

int main(int argc, char** argv) { return hone::hlo::Run(argc, argv); }
