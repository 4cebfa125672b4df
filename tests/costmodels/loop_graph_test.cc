#include "costmodels/loop_graph.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "costmodels/log_scale.h"
#include "loops/text/text.h"
#include "loops/transforms/script.h"
#include "tests/support/status_matchers.h"

namespace hone::costmodels {
namespace {

constexpr char kRows[] = R"(kernel rows
argument x f32[100,50]
result y f32[100,50]
for i0 100 parallel
| local m f32[] register
| m[] = -inf
| for i1 50
| | m[] max= x[i0,i1]
| for i1 7
| | for i2 8 < 50-8*i1
| | | y[i0,8*i1+i2] = exponential(x[i0,8*i1+i2] - m[])
)";

loops::Program Parse(const std::string& text) {
  return loops::ParseProgram(text).value();
}

// The value of a feature of a node.
class Reader {
 public:
  explicit Reader(const ObservedKernel& observed)
      : observation_(observed.observation) {}

  float Node(int32_t node, const std::string& feature) const {
    return observation_.node_features[static_cast<size_t>(
        node * spec_.node_features + Index(spec_.node_feature_names, feature))];
  }
  float Edge(size_t edge, const std::string& feature) const {
    return observation_
        .edge_features[edge * static_cast<size_t>(spec_.edge_features) +
                       static_cast<size_t>(
                           Index(spec_.edge_feature_names, feature))];
  }
  std::string Kind(int32_t node) const {
    return spec_.node_kind_names[static_cast<size_t>(
        observation_.node_kinds[static_cast<size_t>(node)])];
  }
  int64_t Count(const std::string& kind) const {
    return std::count(observation_.node_kinds.begin(),
                      observation_.node_kinds.end(),
                      Index(spec_.node_kind_names, kind));
  }

 private:
  static int32_t Index(const std::vector<std::string>& names,
                       const std::string& name) {
    const auto it = std::find(names.begin(), names.end(), name);
    EXPECT_NE(it, names.end()) << name;
    return static_cast<int32_t>(it - names.begin());
  }

  const space::ObservationSpec spec_ = KernelObservationSpec();
  const space::Observation& observation_;
};

TEST(KernelObservation, HasLoopsStatementsAccessesAndBuffers) {
  const ObservedKernel observed = ObserveKernel(Parse(kRows), {});
  const Reader read(observed);
  EXPECT_EQ(read.Count("kernel"), 1);
  EXPECT_EQ(read.Count("loop"), 4);
  EXPECT_EQ(read.Count("statement"), 3);
  EXPECT_EQ(read.Count("load"), 3);
  EXPECT_EQ(read.Count("store"), 3);
  EXPECT_EQ(read.Count("argument"), 1);
  EXPECT_EQ(read.Count("result"), 1);
  EXPECT_EQ(read.Count("register"), 1);
  EXPECT_EQ(read.Count("heap"), 0);
  EXPECT_EQ(observed.places.at({}), 0);
  const int32_t rows = observed.places.at({0});
  EXPECT_EQ(read.Kind(rows), "loop");
  EXPECT_EQ(read.Node(rows, "parallel"), 1);
  EXPECT_EQ(read.Node(rows, "bound"), 0);
  EXPECT_FLOAT_EQ(read.Node(rows, "extent"), std::log2(101.0F) / 24);
  const int32_t tail = observed.places.at({0, 2, 0});
  EXPECT_EQ(read.Node(tail, "bound"), 1);
  EXPECT_EQ(read.Node(tail, "parallel"), 0);
  const int32_t maximum = observed.places.at({0, 1, 0});
  EXPECT_EQ(read.Kind(maximum), "statement");
  EXPECT_EQ(read.Node(maximum, "reduction"), 1);
  const int32_t shifted = observed.places.at({0, 2, 0, 0});
  EXPECT_EQ(read.Node(shifted, "reduction"), 0);
  EXPECT_GT(read.Node(shifted, "expensive_operations"), 0);
}

TEST(KernelObservation, StridesAreThoseOfEachLoop) {
  const ObservedKernel observed = ObserveKernel(Parse(kRows), {});
  const Reader read(observed);
  const space::Observation& graph = observed.observation;
  // The store to y is under rows, tiles and elements of a tile.
  std::vector<float> strides;
  int32_t units = 0;
  for (size_t e = 0; e < graph.edge_sources.size(); ++e) {
    if (read.Edge(e, "iterates") == 0 ||
        read.Kind(graph.edge_targets[e]) != "store") {
      continue;
    }
    strides.push_back(read.Edge(e, "stride"));
    if (read.Edge(e, "unit_stride") == 1) {
      ++units;
      EXPECT_EQ(read.Node(graph.edge_targets[e], "innermost_unit"), 1);
    }
  }
  // The stores to m move with no loop.
  EXPECT_THAT(strides, ::testing::ElementsAre(std::log2(51.0F) / 24,
                                              std::log2(9.0F) / 24,
                                              std::log2(2.0F) / 24));
  EXPECT_EQ(units, 1);
}

void ExpectWellFormed(const ObservedKernel& observed) {
  const space::ObservationSpec spec = KernelObservationSpec();
  const space::Observation& graph = observed.observation;
  const size_t nodes = graph.node_kinds.size();
  const size_t edges = graph.edge_sources.size();
  EXPECT_EQ(spec.node_kind_names.size(), static_cast<size_t>(spec.node_kinds));
  EXPECT_EQ(graph.node_features.size(), nodes * spec.node_feature_names.size());
  EXPECT_EQ(graph.edge_targets.size(), edges);
  EXPECT_EQ(graph.edge_features.size(), edges * spec.edge_feature_names.size());
  EXPECT_EQ(graph.global_features.size(), spec.global_feature_names.size());
  for (const int32_t kind : graph.node_kinds) {
    ASSERT_TRUE(kind >= 0 && kind < spec.node_kinds) << kind;
  }
  for (const auto* ends : {&graph.edge_sources, &graph.edge_targets}) {
    for (const int32_t node : *ends) {
      ASSERT_TRUE(node >= 0 && static_cast<size_t>(node) < nodes) << node;
    }
  }
  for (const auto* features :
       {&graph.node_features, &graph.edge_features, &graph.global_features}) {
    for (const float value : *features) {
      ASSERT_TRUE(std::isfinite(value) && std::abs(value) <= 1) << value;
    }
  }
}

bool Equal(const space::Observation& a, const space::Observation& b) {
  return a.node_kinds == b.node_kinds && a.node_features == b.node_features &&
         a.edge_sources == b.edge_sources && a.edge_targets == b.edge_targets &&
         a.edge_features == b.edge_features &&
         a.global_features == b.global_features;
}

TEST(KernelObservation, IsWellFormedWhateverTransformationsMake) {
  const loops::Machine machine;
  Rng rng(7);
  for (int walk = 0; walk < 40; ++walk) {
    loops::Program program = Parse(kRows);
    for (int step = 0; step < 8; ++step) {
      const ObservedKernel observed = ObserveKernel(program, machine);
      ExpectWellFormed(observed);
      // A program that prints alike, though its variables and buffers may have
      // other numbers.
      const ObservedKernel again =
          ObserveKernel(Parse(loops::PrintProgram(program)), machine);
      EXPECT_TRUE(Equal(observed.observation, again.observation))
          << loops::PrintProgram(program);
      const std::vector<loops::Step> legal =
          loops::LegalSteps(program, machine);
      if (legal.empty()) break;
      const loops::Step& chosen = legal[rng.Below(legal.size())];
      HONE_ASSERT_OK_AND_ASSIGN(program,
                                loops::ApplyScript(program, {&chosen, 1}));
    }
  }
}

TEST(KernelObservation, TellsAnnotationsAndMachinesApart) {
  const loops::Program program = Parse(kRows);
  EXPECT_FALSE(Equal(ObserveKernel(program, {}).observation,
                     ObserveKernel(program, {.threads = 8}).observation));
  std::string sequential(kRows);
  sequential.replace(sequential.find(" parallel"), 9, "");
  EXPECT_FALSE(Equal(ObserveKernel(program, {}).observation,
                     ObserveKernel(Parse(sequential), {}).observation));
}

TEST(LogScale, KeepsSignsWithinOne) {
  EXPECT_EQ(LogScale(0, 8), 0);
  EXPECT_FLOAT_EQ(LogScale(3, 8), 0.25F);
  EXPECT_FLOAT_EQ(LogScale(-3, 8), -0.25F);
  EXPECT_EQ(LogScale(1e30, 8), 1);
  EXPECT_EQ(LogScale(-1e30, 8), -1);
}

}  // namespace
}  // namespace hone::costmodels
