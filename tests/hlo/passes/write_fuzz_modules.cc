// Writes random modules, and what passes make of them, for another judge.
//
// Usage: hone_write_fuzz_modules DIR FIRST COUNT [PASS,…]
//
// For every seed in [FIRST, FIRST + COUNT) there are DIR/SEED.hlo and, for each
// pass, each pipeline and one random order that change the module,
// DIR/SEED.NAME.hlo. The first line of a file is a comment: the features of
// the module, or the passes.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

#include "base/rng.h"
#include "hlo/passes/pipeline.h"
#include "hlo/passes/registry.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "tests/support/random_module.h"

namespace hone::hlo {
namespace {

namespace fs = std::filesystem;

constexpr int kOrderLength = 8;

void Write(const fs::path& path, absl::string_view comment,
           absl::string_view text) {
  std::ofstream(path) << "// " << comment << "\n" << text;
}

// One pass, or a few in order; those that fail are left out, the fuzzing
// reports them.
void WriteRewritten(const fs::path& folder, uint64_t seed, const Module& module,
                    const std::string& name,
                    const std::vector<std::string>& passes) {
  Module rewritten = module;
  const absl::StatusOr<PipelineReport> report = RunPasses(rewritten, passes);
  if (!report.ok() || !report->changed) return;
  Write(folder / absl::StrCat(seed, ".", name, ".hlo"),
        absl::StrJoin(passes, ","), PrintModule(rewritten));
}

void WriteSeed(const fs::path& folder, uint64_t seed,
               const std::vector<std::string>& passes) {
  testing::RandomModuleOptions options = testing::RandomFeatures(seed);
  options.established_only = true;
  const std::string text = testing::RandomModuleText(seed, options);
  const absl::StatusOr<Module> module = ParseHloText(text);
  if (!module.ok()) {
    std::cerr << "seed " << seed << ": " << module.status() << "\n";
    std::exit(1);
  }
  Write(folder / absl::StrCat(seed, ".hlo"), testing::FeatureNames(options),
        PrintModule(*module));
  for (const std::string& pass : passes) {
    WriteRewritten(folder, seed, *module, pass, {pass});
  }
  Rng rng(seed);
  std::vector<std::string> order;
  for (int i = 0; i < kOrderLength; ++i) {
    order.push_back(passes[rng.Below(passes.size())]);
  }
  WriteRewritten(folder, seed, *module, "order", order);
  for (const Pipeline& pipeline : Pipelines()) {
    Module rewritten = *module;
    const auto report = RunPipeline(rewritten, pipeline);
    if (!report.ok() || !report->changed) continue;
    Write(folder / absl::StrCat(seed, ".", pipeline.name, ".hlo"),
          pipeline.name, PrintModule(rewritten));
  }
}

int Main(int argc, char** argv) {
  int64_t first = 0;
  int64_t count = 0;
  if (argc < 4 || argc > 5 || !absl::SimpleAtoi(argv[2], &first) ||
      !absl::SimpleAtoi(argv[3], &count)) {
    std::cerr << "usage: " << argv[0] << " DIR FIRST COUNT [PASS,...]\n";
    return 2;
  }
  std::vector<std::string> passes;
  if (argc == 5) {
    passes = absl::StrSplit(argv[4], ',');
  } else {
    for (absl::string_view name : Passes().ids()) passes.emplace_back(name);
  }
  fs::create_directories(argv[1]);
  for (int64_t seed = first; seed < first + count; ++seed) {
    WriteSeed(argv[1], static_cast<uint64_t>(seed), passes);
  }
  return 0;
}

}  // namespace
}  // namespace hone::hlo

int main(int argc, char** argv) { return hone::hlo::Main(argc, argv); }
