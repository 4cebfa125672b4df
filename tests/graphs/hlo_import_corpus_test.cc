// Imports of the corpus, of random modules and of all modules of the tests,
// against the definition and the cost analysis.
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/hlo_import.h"
#include "graphs/trip_counts.h"
#include "hlo/analysis/cost_analysis.h"
#include "hlo/analysis/fingerprint.h"
#include "hlo/inference/verifier.h"
#include "hlo/read_module.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "tests/graphs/import_by_definition.h"
#include "tests/support/corpus.h"
#include "tests/support/random_module.h"
#include "tests/support/status_matchers.h"

namespace hone::graphs {
namespace {

using ::testing::ContainerEq;

// Sums of integers below 2^53, and products with trip counts.
void ExpectNear(double a, double b) { EXPECT_NEAR(a, b, 1e-9 * b); }

void ExpectAsDefined(const hlo::Module& module, const OpGraph& graph) {
  const DefinedImport defined = ImportByDefinition(module);
  DefinedImport found;
  std::set<std::string> names;
  for (const OpNode& node : graph.nodes()) {
    EXPECT_TRUE(names.insert(node.name).second) << node.name;
    if (node.parameter_bytes > 0) {
      found.parameter_bytes[node.name] = node.parameter_bytes;
    }
  }
  for (const OpEdge& edge : graph.edges()) {
    found.edges[{graph.node(static_cast<NodeIndex>(edge.from_id)).name,
                 graph.node(static_cast<NodeIndex>(edge.to_id)).name}] =
        edge.bytes;
  }
  std::map<std::string, double> parameter_bytes;
  for (const auto& [name, bytes] : defined.parameter_bytes) {
    if (bytes > 0) parameter_bytes[name] = bytes;
  }
  EXPECT_THAT(found.edges, ContainerEq(defined.edges));
  EXPECT_THAT(found.parameter_bytes, ContainerEq(parameter_bytes));
}

// All work of the module, with the trip counts, is in the nodes, but for the
// tables of pointers that tuples and barriers write.
void ExpectAllWork(const hlo::Module& module, const OpGraph& graph) {
  const hlo::Module counted = WithTripCounts(module);
  const hlo::CostAnalysis costs(counted);
  hlo::Costs expected = costs.ModuleCosts();
  double bytes = expected.bytes();
  const hlo::Computation& entry = counted.entry_computation();
  for (const hlo::Instruction& i : entry.instructions()) {
    if (i.opcode() != hlo::Opcode::kTuple &&
        i.opcode() != hlo::Opcode::kOptBarrier) {
      continue;
    }
    const hlo::Costs own = costs.InstructionCosts(entry, i.id());
    EXPECT_EQ(own.flops, 0);
    bytes -= own.bytes();
  }
  double node_flops = 0;
  double node_bytes = 0;
  for (const OpNode& node : graph.nodes()) {
    node_flops += node.flops;
    node_bytes += node.bytes;
  }
  ExpectNear(node_flops, expected.flops + expected.transcendentals);
  ExpectNear(node_bytes, bytes);
}

void ExpectSorted(const hlo::Module& module, const OpGraph& graph) {
  for (size_t i = 0; i < graph.edges().size(); ++i) {
    const OpEdge& edge = graph.edges()[i];
    if (!module.is_scheduled()) {
      EXPECT_LT(edge.from_id, edge.to_id);
    }
    if (i == 0) continue;
    const OpEdge& last = graph.edges()[i - 1];
    EXPECT_LT(std::pair(last.to_id, last.from_id),
              std::pair(edge.to_id, edge.from_id));
  }
}

void ExpectGoodImport(const hlo::Module& module) {
  HONE_ASSERT_OK_AND_ASSIGN(const OpGraph graph, ImportHlo(module));
  ExpectAsDefined(module, graph);
  ExpectAllWork(module, graph);
  ExpectSorted(module, graph);
}

// The text with the lines of its entry computation, and of no other, in random
// order, which text allows.
std::string Shuffled(const std::string& text, Rng& rng) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  size_t begin = 0;
  while (!absl::StartsWith(lines[begin], "ENTRY ")) ++begin;
  size_t end = ++begin;
  while (lines[end] != "}") ++end;
  for (size_t i = end - 1; i > begin; --i) {
    std::swap(lines[i], lines[begin + rng.Below(i - begin + 1)]);
  }
  return absl::StrJoin(lines, "\n");
}

std::vector<OpNode> WithoutNames(const OpGraph& graph) {
  std::vector<OpNode> nodes(graph.nodes().begin(), graph.nodes().end());
  for (OpNode& node : nodes) node.name.clear();
  return nodes;
}

TEST(HloImportCorpusTest, TheCorpus) {
  ASSERT_GE(hone::testing::CorpusModules().size(), 50u);
  for (const auto& entry : hone::testing::CorpusModules()) {
    SCOPED_TRACE(entry.name);
    HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module module,
                              hlo::ParseHloText(entry.text, entry.name));
    ExpectGoodImport(module);
  }
}

TEST(HloImportCorpusTest, RandomModulesOfEveryFeature) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    hone::testing::RandomModuleOptions options =
        hone::testing::RandomFeatures(seed);
    if (seed % 3 == 0) {
      options.amounts.fill(5);
    }
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    HONE_ASSERT_OK_AND_ASSIGN(
        const hlo::Module module,
        hlo::ParseHloText(hone::testing::RandomModuleText(seed, options)));
    HONE_ASSERT_OK(hlo::VerifyModule(module));
    ExpectGoodImport(module);
  }
}

TEST(HloImportCorpusTest, TripCountsOfScansAreFound) {
  const std::map<std::string, double> counts = {{"gpt2_scan.fwd", 12},
                                                {"gpt2_scan.train", 12},
                                                {"rnnlm_scan.train", 24},
                                                {"vae.train", 5}};
  for (const auto& entry : hone::testing::CorpusModules()) {
    const auto expected = counts.find(entry.name);
    if (expected == counts.end()) continue;
    SCOPED_TRACE(entry.name);
    HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module module,
                              hlo::ParseHloText(entry.text, entry.name));
    const hlo::Module counted = WithTripCounts(module);
    int loops = 0;
    for (const hlo::Computation& computation : counted.computations()) {
      for (const hlo::Instruction& i : computation.instructions()) {
        if (i.opcode() != hlo::Opcode::kWhile) continue;
        EXPECT_EQ(hlo::KnownTripCount(i), expected->second);
        ++loops;
      }
    }
    EXPECT_GT(loops, 0);
  }
}

// An assignment of a module's nodes is valid for all modules of its
// fingerprint.
TEST(HloImportCorpusTest, OneFingerprintHasOneGraph) {
  Rng rng(5);
  int moved = 0;
  for (const auto& entry : hone::testing::CorpusModules()) {
    SCOPED_TRACE(entry.name);
    HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module module,
                              hlo::ParseHloText(entry.text, entry.name));
    if (module.is_scheduled()) continue;
    const std::string text = hlo::PrintModule(module);
    const std::string shuffled = Shuffled(text, rng);
    HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module other,
                              hlo::ParseHloText(shuffled));
    HONE_ASSERT_OK(hlo::VerifyModule(other));
    ASSERT_EQ(hlo::Fingerprint(other), hlo::Fingerprint(module));
    HONE_ASSERT_OK_AND_ASSIGN(const OpGraph graph, ImportHlo(module));
    HONE_ASSERT_OK_AND_ASSIGN(const OpGraph again, ImportHlo(other));
    EXPECT_EQ(WithoutNames(graph), WithoutNames(again));
    EXPECT_EQ(graph.edges(), again.edges());
    moved += text != shuffled ? 1 : 0;
  }
  EXPECT_GE(moved, 50);
}

TEST(HloImportCorpusTest, AllModulesOfTheTests) {
  int count = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(
           absl::StrCat(HONE_SOURCE_DIR, "/tests/testdata"))) {
    if (!file.is_regular_file()) continue;
    const absl::StatusOr<hlo::Module> module =
        hlo::ReadModuleFile(file.path().string());
    if (!module.ok()) continue;  // some are broken on purpose
    SCOPED_TRACE(file.path().string());
    ExpectGoodImport(*module);
    ++count;
  }
  EXPECT_GE(count, 100);
}

}  // namespace
}  // namespace hone::graphs
