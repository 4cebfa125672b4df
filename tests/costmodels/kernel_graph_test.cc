#include "costmodels/kernel_graph.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::costmodels {
namespace {

// One node of an observed kernel.
class ObservedNode {
 public:
  ObservedNode(const space::Observation& graph, size_t node)
      : graph_(graph), node_(node) {}

  std::string kind() const {
    return KernelGraphSpec()
        .node_kind_names[static_cast<size_t>(graph_.node_kinds[node_])];
  }
  float operator[](const std::string& name) const {
    const auto& names = KernelGraphSpec().node_feature_names;
    const auto at = std::find(names.begin(), names.end(), name);
    EXPECT_NE(at, names.end()) << name;
    return graph_.node_features[node_ * names.size() +
                                static_cast<size_t>(at - names.begin())];
  }

 private:
  const space::Observation& graph_;
  const size_t node_;
};

space::Observation Observe(const std::string& entry) {
  auto module = hlo::ParseHloText("HloModule kernel\n\n" + entry);
  HONE_EXPECT_OK(module.status());
  return ObserveKernelGraph(*module);
}

// The logarithm of a size, as features have it.
float Size(double value) {
  return static_cast<float>(std::log2(1 + value) / 16);
}

TEST(KernelGraph, HasANodeForEachInstructionAndAnEdgeForEachOperand) {
  const space::Observation graph = Observe(R"(
ENTRY e {
  a = f32[24,200] parameter(0)
  b = f32[24,200] parameter(1)
  s = f32[24,200] subtract(a, b)
  ROOT m = f32[24,200] multiply(s, s)
})");
  ASSERT_EQ(graph.node_kinds.size(), 4);
  EXPECT_EQ(ObservedNode(graph, 0).kind(), "parameter");
  EXPECT_EQ(ObservedNode(graph, 2).kind(), "subtract");
  EXPECT_EQ(ObservedNode(graph, 3)["is_root"], 1);
  EXPECT_EQ(ObservedNode(graph, 2)["is_root"], 0);
  EXPECT_THAT(graph.edge_sources, ::testing::ElementsAre(0, 1, 2, 2));
  EXPECT_THAT(graph.edge_targets, ::testing::ElementsAre(2, 2, 3, 3));
  // The first and the second operand.
  EXPECT_THAT(graph.edge_features,
              ::testing::ElementsAre(1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0));
}

TEST(KernelGraph, SizesFollowTheLayout) {
  const space::Observation graph = Observe(R"(
ENTRY e {
  a = f32[24,200]{1,0} parameter(0)
  ROOT c = f32[24,200]{0,1} copy(a)
})");
  const ObservedNode a(graph, 0);
  EXPECT_EQ(a["minor"], Size(200));
  EXPECT_EQ(a["second"], Size(24));
  EXPECT_EQ(a["row_major"], 1);
  EXPECT_FLOAT_EQ(a["minor_fill"], 200.0F / 256);
  EXPECT_EQ(a["second_fill"], 1);
  const ObservedNode c(graph, 1);
  EXPECT_EQ(c["minor"], Size(24));
  EXPECT_EQ(c["row_major"], 0);
  EXPECT_FLOAT_EQ(c["minor_fill"], 24.0F / 128);
}

TEST(KernelGraph, SharesAreOfTheLargestInstruction) {
  const space::Observation graph = Observe(R"(
ENTRY e {
  a = f32[64,1024] parameter(0)
  s = f32[16,1024] slice(a), slice={[0:16], [0:1024]}
  ROOT n = f32[16,1024] negate(s)
})");
  EXPECT_EQ(ObservedNode(graph, 0)["share"], 1);
  EXPECT_EQ(ObservedNode(graph, 1)["share"], 0.25);
  EXPECT_EQ(ObservedNode(graph, 2)["share"], 0.25);
}

TEST(KernelGraph, SaysWhichDimensionsOperationsTouch) {
  const space::Observation graph = Observe(R"(
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
ENTRY e {
  a = f32[24,200] parameter(0)
  zero = f32[] constant(0)
  r = f32[24] reduce(a, zero), dimensions={1}, to_apply=add
  b = f32[24,200] broadcast(r), dimensions={0}
  t = f32[200,24] transpose(b), dimensions={1,0}
  ROOT s = f32[100,24] slice(t), slice={[0:100], [0:24]}
})");
  EXPECT_EQ(ObservedNode(graph, 2)["touches_minor"], 1);
  EXPECT_EQ(ObservedNode(graph, 2)["touches_second"], 0);
  EXPECT_EQ(ObservedNode(graph, 3)["touches_minor"], 1);
  EXPECT_EQ(ObservedNode(graph, 3)["touches_second"], 0);
  EXPECT_EQ(ObservedNode(graph, 4)["touches_minor"], 1);
  EXPECT_EQ(ObservedNode(graph, 4)["touches_second"], 1);
  EXPECT_EQ(ObservedNode(graph, 5)["touches_minor"], 0);
  EXPECT_EQ(ObservedNode(graph, 5)["touches_second"], 1);
}

TEST(KernelGraph, DescribesProductsAndConvolutions) {
  const space::Observation graph = Observe(R"(
ENTRY e {
  a = f32[3,64,512] parameter(0)
  b = f32[3,512,256] parameter(1)
  ROOT d = f32[3,64,256] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0},
    lhs_contracting_dims={2}, rhs_contracting_dims={1}
})");
  const ObservedNode dot(graph, 2);
  EXPECT_EQ(dot["contracted"], Size(512));
  EXPECT_EQ(dot["batch"], Size(3));
  EXPECT_EQ(dot["left_rows"], Size(64));
  EXPECT_EQ(dot["right_columns"], Size(256));
  EXPECT_EQ(dot["left_contracts_minor"], 1);
  EXPECT_EQ(dot["right_contracts_minor"], 0);
  const space::Observation image = Observe(R"(
ENTRY e {
  a = f32[8,32,32,16] parameter(0)
  k = f32[3,3,16,64] parameter(1)
  ROOT c = f32[8,16,16,64] convolution(a, k),
    window={size=3x3 stride=2x2 pad=0_1x0_1}, dim_labels=b01f_01io->b01f
})");
  const ObservedNode convolution(image, 2);
  EXPECT_EQ(convolution["window"], Size(9));
  EXPECT_EQ(convolution["window_stride"], Size(4));
  EXPECT_EQ(convolution["window_padding"], Size(2));
  EXPECT_EQ(convolution["contracted"], Size(16));
  EXPECT_EQ(convolution["right_columns"], Size(64));
  EXPECT_EQ(convolution["feature_is_minor"], 1);
}

TEST(KernelGraph, TakesOpcodesThatHoneDoesNotKnow) {
  const space::Observation graph = Observe(R"(
ENTRY e {
  a = f32[24] parameter(0)
  ROOT n = f32[24] not-an-opcode(a)
})");
  EXPECT_EQ(ObservedNode(graph, 1).kind(), "unknown");
  EXPECT_EQ(graph.node_kinds[1], 0);
}

TEST(KernelGraph, FeaturesAreFiniteAndSmall) {
  // Windows of 10^360 elements.
  const std::vector<std::string> sizes(20, "1000000000000000000");
  const std::vector<std::string> paddings(20, "0_999999999999999999");
  const std::string ones = "f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]";
  const std::string kernels[] = {
      R"(
ENTRY e {
  a = f32[0,7] parameter(0)
  t = (f32[], s32[1048576,1048576]) parameter(1)
  g = s32[1048576,1048576] get-tuple-element(t), index=1
  p = f32[2,9] pad(a, a0), padding=1_1x1_1
  a0 = f32[] constant(inf)
  ROOT r = (f32[2,9], s32[1048576,1048576]) tuple(p, g)
})",
      absl::StrCat(R"(
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT r = f32[] add(x, y)
}
ENTRY e {
  a = )",
                   ones, R"( parameter(0)
  z = f32[] constant(0)
  ROOT w = )",
                   ones,
                   " reduce-window(a, z), "
                   "window={size=",
                   absl::StrJoin(sizes, "x"), " pad=",
                   absl::StrJoin(paddings, "x"), "}, to_apply=add\n}")};
  for (const std::string& kernel : kernels) {
    for (const float feature : Observe(kernel).node_features) {
      EXPECT_TRUE(std::isfinite(feature));
      // The largest is of the rank.
      EXPECT_LE(std::abs(feature), 4);
    }
  }
}

}  // namespace
}  // namespace hone::costmodels
