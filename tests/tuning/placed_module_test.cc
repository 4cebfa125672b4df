#include "tuning/tasks/placed_module.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "hlo/analysis/fingerprint.h"
#include "hlo/inference/verifier.h"
#include "hlo/read_module.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "tests/support/corpus.h"
#include "tests/support/random_module.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/sample_modules.h"
#include "tests/tuning/sample_steps.h"

namespace hone::tuning {
namespace {

using ::hone::testing::RandomFeatures;
using ::hone::testing::RandomModuleText;
using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

std::vector<std::string> ShardingsOf(const hlo::Instruction& instruction) {
  std::vector<std::string> found;
  for (const auto& [name, value] : instruction.attributes().others) {
    if (name == "sharding") found.push_back(value);
  }
  return found;
}

// The sharding of each instruction of the entry computation, by name.
std::map<std::string, std::string> Shardings(const hlo::Module& module) {
  std::map<std::string, std::string> found;
  for (const hlo::Instruction& instruction :
       module.entry_computation().instructions()) {
    const std::vector<std::string> own = ShardingsOf(instruction);
    EXPECT_EQ(own.size(), 1u) << instruction.name();
    found[instruction.name()] =
        own.empty() ? ""
                    : absl::StrReplaceAll(
                          own[0], {{"{maximal device=", ""}, {"}", ""}});
  }
  return found;
}

hlo::Module WithoutShardings(hlo::Module module) {
  hlo::Computation& entry =
      module.mutable_computation(module.entry_computation().id());
  for (const hlo::InstructionId id : entry.PostOrder()) {
    auto attributes = std::make_shared<hlo::Attributes>(entry[id].attributes());
    std::erase_if(attributes->others, [](const auto& attribute) {
      return attribute.first == "sharding";
    });
    entry.mutable_instruction(id).set_attributes(std::move(attributes));
  }
  return module;
}

// Places the nodes of a module by name.
std::map<std::string, std::string> Place(
    absl::string_view text, const std::map<std::string, int32_t>& devices) {
  const hlo::Module module = ParseOrDie(text);
  const auto imported = graphs::ImportHloWithNodes(module);
  HONE_EXPECT_OK(imported);
  std::vector<int32_t> of_nodes;
  for (const graphs::OpNode& node : imported->graph.nodes()) {
    EXPECT_TRUE(devices.contains(node.name)) << node.name;
    of_nodes.push_back(devices.at(node.name));
  }
  return Shardings(WithDevices(module, *imported, of_nodes));
}

TEST(PlacedModule, EveryInstructionIsOnADevice) {
  EXPECT_THAT(
      Place(kBranchesModule,
            {{"x", 3}, {"a", 1}, {"b", 2}, {"e", 4}, {"n", 5}, {"sum", 6}}),
      UnorderedElementsAre(Pair("x", "3"), Pair("w", "1"), Pair("v", "2"),
                           Pair("a", "1"), Pair("b", "2"), Pair("e", "4"),
                           Pair("n", "5"), Pair("sum", "6")));
}

TEST(PlacedModule, ValuesThatArePassedOnStayWhereTheyAre) {
  EXPECT_THAT(
      Place(R"(HloModule m

ENTRY main {
  p = (f32[8], f32[8]) parameter(0)
  p0 = f32[8] get-tuple-element(p), index=0
  p1 = f32[8] get-tuple-element(p), index=1
  c = f32[8] constant({1, 2, 3, 4, 5, 6, 7, 8})
  unread = f32[8] parameter(1)
  a = f32[8] add(p0, c)
  b = f32[8] multiply(p1, c)
  t = (f32[8], f32[8]) tuple(a, b)
  o = (f32[8], f32[8]) opt-barrier(t)
  o1 = f32[8] get-tuple-element(o), index=1
  s = f32[2,4] bitcast(o1)
  n = f32[2,4] negate(s)
  ROOT r = (f32[2,4], f32[8]) tuple(n, a)
})",
            {{"a", 1}, {"b", 2}, {"n", 3}}),
      UnorderedElementsAre(
          // Arguments and constants are where they are read first.
          Pair("p", "1"), Pair("p0", "1"), Pair("p1", "2"), Pair("c", "1"),
          Pair("unread", "0"), Pair("a", "1"), Pair("b", "2"),
          // A tuple is where its first element is.
          Pair("t", "1"), Pair("o", "1"), Pair("o1", "1"), Pair("s", "1"),
          Pair("n", "3"), Pair("r", "3")));
}

TEST(PlacedModule, BothHalvesOfAPairAreOnOneDevice) {
  EXPECT_THAT(
      Place(R"(HloModule m

ENTRY main {
  x = f32[8] parameter(0)
  n = f32[8] negate(x)
  s = (f32[8], f32[8], u32[]) copy-start(n)
  d = f32[8] copy-done(s)
  ROOT r = f32[8] abs(d)
})",
            {{"n", 0}, {"s", 2}, {"r", 1}}),
      UnorderedElementsAre(Pair("x", "0"), Pair("n", "0"), Pair("s", "2"),
                           Pair("d", "2"), Pair("r", "1")));
}

TEST(PlacedModule, ReplacesShardingsAndKeepsOtherAttributes) {
  const std::string text = absl::StrReplaceAll(
      kBranchesModule,
      {{"exponential(a)",
        "exponential(a), sharding={replicated}, frontend_attributes={k=\"v\"}"},
       {"parameter(1)", "parameter(1), sharding={devices=[2,1]0,1}"}});
  ASSERT_NE(text, kBranchesModule);
  const auto shardings = Place(
      text, {{"x", 0}, {"a", 0}, {"b", 1}, {"e", 0}, {"n", 1}, {"sum", 1}});
  EXPECT_EQ(shardings.at("e"), "0");
  EXPECT_EQ(shardings.at("w"), "0");
  const hlo::Module module = ParseOrDie(text);
  const auto imported = graphs::ImportHloWithNodes(module);
  HONE_ASSERT_OK(imported);
  const hlo::Module placed = WithDevices(
      module, *imported, std::vector<int32_t>(imported->graph.size(), 1));
  const std::string printed = hlo::PrintModule(placed);
  EXPECT_THAT(printed, ::testing::HasSubstr("frontend_attributes={k=\"v\"}"));
  EXPECT_THAT(printed, ::testing::Not(::testing::HasSubstr("replicated")));
}

// Only where instructions are is new.
void ExpectOnlyShardings(const hlo::Module& module, Rng& rng) {
  // As many as partitions of modules that are partitioned.
  constexpr int32_t kDevices = 2;
  const auto imported = graphs::ImportHloWithNodes(module);
  HONE_ASSERT_OK(imported);
  ASSERT_EQ(graphs::ImportHlo(module)->size(), imported->graph.size());
  std::vector<int32_t> devices(imported->graph.size());
  for (int32_t& device : devices) {
    device = static_cast<int32_t>(rng.Below(kDevices));
  }
  const hlo::Module placed = WithDevices(module, *imported, devices);
  HONE_EXPECT_OK(hlo::VerifyModule(placed));
  for (const auto& [name, device] : Shardings(placed)) {
    EXPECT_THAT(device, ::testing::AnyOf("0", "1")) << name;
  }
  for (const hlo::Instruction& instruction :
       module.entry_computation().instructions()) {
    const int32_t node = imported->nodes[static_cast<size_t>(instruction.id())];
    if (node < 0) continue;
    EXPECT_THAT(
        ShardingsOf(placed.entry_computation()[instruction.id()]),
        ElementsAre(absl::StrCat(
            "{maximal device=", devices[static_cast<size_t>(node)], "}")));
  }
  EXPECT_NE(hlo::Fingerprint(placed), hlo::Fingerprint(module));
  EXPECT_EQ(hlo::Fingerprint(WithoutShardings(placed)),
            hlo::Fingerprint(WithoutShardings(module)));
  // As text it is the same.
  const auto read = hlo::ParseHloText(hlo::PrintModule(placed));
  HONE_ASSERT_OK(read);
  EXPECT_EQ(hlo::Fingerprint(*read), hlo::Fingerprint(placed));
}

TEST(PlacedModule, RandomModulesStayWhatTheyAre) {
  Rng rng(1);
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    ExpectOnlyShardings(
        ParseOrDie(RandomModuleText(seed, RandomFeatures(seed))), rng);
  }
}

TEST(PlacedModule, ModulesOfTheCorpusStayWhatTheyAre) {
  Rng rng(2);
  for (const char* name : {"mlp.train", "dlrm.train", "gpt2_scan.train"}) {
    SCOPED_TRACE(name);
    const auto module = hlo::ReadModuleFile(hone::testing::CorpusPath(name));
    HONE_ASSERT_OK(module);
    ExpectOnlyShardings(*module, rng);
  }
}

}  // namespace
}  // namespace hone::tuning
