#include "tuning/tasks/module_observation.h"

#include <cstdint>
#include <set>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/ir/opcode.h"
#include "tests/tuning/sample_modules.h"

namespace hone::tuning {
namespace {

using ::testing::Each;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr absl::string_view kReduces = R"(
HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  p = f32[4,8] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[4] reduce(p, z), dimensions={1}, to_apply=sum
})";

std::multiset<std::pair<int32_t, int32_t>> EdgeKinds(
    const space::Observation& observation) {
  std::multiset<std::pair<int32_t, int32_t>> edges;
  for (size_t i = 0; i < observation.edge_sources.size(); ++i) {
    const auto kind = [&](int32_t node) {
      return observation.node_kinds[static_cast<size_t>(node)];
    };
    edges.emplace(kind(observation.edge_sources[i]),
                  kind(observation.edge_targets[i]));
  }
  return edges;
}

TEST(ModuleObservation, HasANodeForEveryInstructionAndAnEdgeForEveryUse) {
  const space::Observation observation = ObserveModule(ParseOrDie(kReduces));
  const auto kind = [](hlo::Opcode opcode) {
    return static_cast<int32_t>(opcode);
  };
  const int32_t parameter = kind(hlo::Opcode::kParameter);
  const int32_t add = kind(hlo::Opcode::kAdd);
  const int32_t reduce = kind(hlo::Opcode::kReduce);
  EXPECT_THAT(observation.node_kinds,
              UnorderedElementsAre(parameter, parameter, add, parameter,
                                   kind(hlo::Opcode::kConstant), reduce));
  EXPECT_THAT(
      EdgeKinds(observation),
      UnorderedElementsAre(std::pair(parameter, add), std::pair(parameter, add),
                           std::pair(parameter, reduce),
                           std::pair(kind(hlo::Opcode::kConstant), reduce),
                           std::pair(add, reduce)));
}

TEST(ModuleObservation, HasTheSizesOfItsSpec) {
  const space::ObservationSpec spec = ModuleObservationSpec();
  const space::Observation observation = ObserveModule(ParseOrDie(kReduces));
  EXPECT_THAT(observation.node_features,
              SizeIs(observation.node_kinds.size() *
                     static_cast<size_t>(spec.node_features)));
  EXPECT_THAT(observation.global_features,
              SizeIs(static_cast<size_t>(spec.global_features)));
  EXPECT_THAT(
      observation.node_kinds,
      Each(::testing::AllOf(::testing::Ge(0), ::testing::Lt(spec.node_kinds))));
}

TEST(ModuleObservation, CountsOpcodes) {
  const space::Observation observation = ObserveModule(ParseOrDie(kReduces));
  const auto count = [&](hlo::Opcode opcode) {
    return observation.global_features[static_cast<size_t>(opcode)];
  };
  EXPECT_GT(count(hlo::Opcode::kParameter), count(hlo::Opcode::kAdd));
  EXPECT_GT(count(hlo::Opcode::kAdd), 0);
  EXPECT_EQ(count(hlo::Opcode::kDot), 0);
}

}  // namespace
}  // namespace hone::tuning
