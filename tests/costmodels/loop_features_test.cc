#include "costmodels/loop_features.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "hlo/text/parser.h"
#include "loops/lowering/lowering.h"
#include "loops/schedules/default_schedule.h"
#include "loops/text/text.h"
#include "loops/transforms/script.h"

namespace hone::costmodels {
namespace {

using ::testing::FloatEq;

constexpr const char* kModules[] = {
    R"(HloModule matmul
ENTRY main {
  a = f32[250,333] parameter(0)
  b = f32[333,127] parameter(1)
  ROOT c = f32[250,127] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})",
    R"(HloModule gather
ENTRY main {
  t = f32[100,32] parameter(0)
  i = s32[50] parameter(1)
  ROOT g = f32[50,32] gather(t, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,32}
})",
    R"(HloModule scalar
ENTRY main {
  a = f32[] parameter(0)
  ROOT b = f32[] exponential(a)
})"};

std::vector<loops::Program> SomePrograms() {
  std::vector<loops::Program> programs;
  Rng rng(1);
  for (const char* text : kModules) {
    const loops::Program lowered =
        loops::LowerToProgram(hlo::ParseHloText(text).value()).value();
    programs.push_back(lowered);
    programs.push_back(
        loops::ApplyScript(lowered, loops::DefaultSchedule(lowered, {}))
            .value());
    for (int i = 0; i < 5; ++i) {
      const auto legal = loops::LegalSteps(programs.back(), {});
      if (legal.empty()) break;
      programs.push_back(
          loops::ApplyScript(programs.back(), {legal[rng.Below(legal.size())]})
              .value());
    }
  }
  return programs;
}

size_t IndexOf(const std::vector<std::string>& names, const std::string& name) {
  const auto it = std::find(names.begin(), names.end(), name);
  EXPECT_NE(it, names.end()) << name;
  return static_cast<size_t>(it - names.begin());
}

bool Equal(const LoopFeatures& a, const LoopFeatures& b) {
  return a.kernel == b.kernel && a.graph.node_kinds == b.graph.node_kinds &&
         a.graph.node_features == b.graph.node_features &&
         a.graph.edge_sources == b.graph.edge_sources &&
         a.graph.edge_targets == b.graph.edge_targets &&
         a.graph.edge_features == b.graph.edge_features &&
         a.graph.global_features == b.graph.global_features;
}

TEST(LoopFeatures, HaveNamesOfTheirOwn) {
  const std::vector<std::string>& names = LoopFeatureNames();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(),
            names.size());
  const space::ObservationSpec& spec = LoopFeaturesSpec();
  EXPECT_EQ(spec.node_kind_names[0], "unknown");
  EXPECT_EQ(spec.node_kinds, static_cast<int32_t>(spec.node_kind_names.size()));
  EXPECT_EQ(spec.node_features,
            static_cast<int32_t>(spec.node_feature_names.size()));
  EXPECT_EQ(std::set<std::string>(spec.node_feature_names.begin(),
                                  spec.node_feature_names.end())
                .size(),
            spec.node_feature_names.size());
}

TEST(LoopFeatures, HaveTheSizesOfTheirSpecAndAreScaled) {
  const space::ObservationSpec& spec = LoopFeaturesSpec();
  for (const loops::Program& program : SomePrograms()) {
    const LoopFeatures features = LoopFeaturesOf(program, {});
    ASSERT_EQ(features.kernel.size(), LoopFeatureNames().size());
    for (size_t i = 0; i < features.kernel.size(); ++i) {
      EXPECT_LE(std::abs(features.kernel[i]), 1.0F) << LoopFeatureNames()[i];
    }
    const size_t nodes = features.graph.node_kinds.size();
    ASSERT_EQ(features.graph.node_features.size(),
              nodes * static_cast<size_t>(spec.node_features));
    for (size_t i = 0; i < features.graph.node_features.size(); ++i) {
      EXPECT_LE(std::abs(features.graph.node_features[i]), 1.0F)
          << spec.node_feature_names[i %
                                     static_cast<size_t>(spec.node_features)];
    }
    for (const int32_t kind : features.graph.node_kinds) {
      EXPECT_GT(kind, 0);
      EXPECT_LT(kind, spec.node_kinds);
    }
    EXPECT_EQ(features.graph.edge_features.size(),
              features.graph.edge_sources.size() *
                  static_cast<size_t>(spec.edge_features));
    EXPECT_EQ(features.kernel, KernelLoopFeatures(program, {}));
  }
}

TEST(LoopFeatures, OfEqualTextsAreEqual) {
  for (const loops::Program& program : SomePrograms()) {
    const loops::Program again =
        loops::ParseProgram(loops::PrintProgram(program)).value();
    EXPECT_TRUE(Equal(LoopFeaturesOf(program, {}), LoopFeaturesOf(again, {})));
  }
}

TEST(LoopFeatures, TellSchedulesApart) {
  std::set<std::vector<float>> seen;
  std::set<std::string> texts;
  for (const loops::Program& program : SomePrograms()) {
    if (!texts.insert(loops::PrintProgram(program)).second) continue;
    seen.insert(LoopFeaturesOf(program, {}).graph.node_features);
  }
  EXPECT_GE(seen.size() + 1, texts.size());
}

TEST(LoopFeatures, AreOfTheNodesThatTheyDescribe) {
  const loops::Program program = loops::ParseProgram(R"(kernel k
argument x f32[64,48]
result y f32[64,48]
for i0 64
| for i1 3
| | for i2 16 vector
| | | y[i0,16*i1+i2] = exponential(x[i0,16*i1+i2])
)")
                                     .value();
  loops::Machine machine;
  machine.vector_bytes = 64;
  const LoopFeatures features = LoopFeaturesOf(program, machine);
  const space::ObservationSpec& spec = LoopFeaturesSpec();
  const auto value = [&](size_t node, const std::string& name) {
    return features.graph
        .node_features[node * static_cast<size_t>(spec.node_features) +
                       IndexOf(spec.node_feature_names, name)];
  };
  std::vector<float> trips;
  for (size_t node = 0; node < features.graph.node_kinds.size(); ++node) {
    const std::string& kind = spec.node_kind_names[static_cast<size_t>(
        features.graph.node_kinds[node])];
    EXPECT_EQ(value(node, "work_lanes") > 0, kind == "statement") << kind;
    EXPECT_EQ(value(node, "work_entries") > 0,
              kind == "loop" || kind == "kernel")
        << kind;
    EXPECT_EQ(value(node, "work_form_contiguous") > 0,
              kind == "load" || kind == "store")
        << kind;
    if (kind == "loop") trips.push_back(value(node, "work_trips"));
    if (kind == "statement") {
      EXPECT_FLOAT_EQ(value(node, "work_instructions_transcendental"),
                      static_cast<float>(std::log2(1 + 64 * 3) / 40));
    }
  }
  const auto log = [](double n) {
    return static_cast<float>(std::log2(1 + n) / 40);
  };
  EXPECT_THAT(trips, ::testing::ElementsAre(FloatEq(log(64)), FloatEq(log(3)),
                                            FloatEq(log(16))));
  const auto kernel = [&](const std::string& name) {
    return features.kernel[IndexOf(LoopFeatureNames(), name)];
  };
  EXPECT_FLOAT_EQ(kernel("hot0_executions"), log(64 * 48));
  EXPECT_EQ(kernel("hot1_executions"), 0);
  EXPECT_EQ(kernel("scalar_share"), 0);
}

TEST(LoopFeatures, TellWhereStoresBypassCachesThatFit) {
  const auto feature = [](int64_t cache_bytes, const std::string& name) {
    loops::Machine machine;
    machine.l1_bytes = 1024;
    machine.l2_bytes = cache_bytes;
    machine.l3_bytes = 2 * cache_bytes;
    const std::vector<float> features =
        KernelLoopFeatures(loops::ParseProgram(R"(kernel k
argument x f32[64,16]
result y f32[64,16]
for i0 64
| for i1 16 vector
| | y[i0,i1] = x[i0,i1] nontemporal
)")
                               .value(),
                           machine);
    return features[IndexOf(LoopFeatureNames(), name)];
  };
  const auto bytes = static_cast<float>(std::log2(1 + 64 * 16 * 4) / 40);
  EXPECT_FLOAT_EQ(feature(8192, "non_temporal_fitting_l2"), bytes);
  EXPECT_FLOAT_EQ(feature(4096, "non_temporal_fitting_l2"), 0);
  EXPECT_FLOAT_EQ(feature(4096, "non_temporal_fitting_l3"), bytes);
  EXPECT_FLOAT_EQ(feature(2048, "non_temporal_fitting_l3"), 0);
}

TEST(LoopFeatures, TellMaskedLanes) {
  loops::Machine machine;
  machine.vector_bytes = 64;
  const auto features = [&](const std::string& bound,
                            const std::string& target) {
    return KernelLoopFeatures(
        loops::ParseProgram(absl::StrCat(R"(kernel k
argument x f32[64,160]
inout y f32[160]
for i0 10
| for i1 64
| | for i2 16)",
                                         bound, R"( vector
| | | )",
                                         target, R"( += x[i1,16*i0+i2]
)"))
            .value(),
        machine);
  };
  const auto value = [](const std::vector<float>& of, const std::string& name) {
    return of[IndexOf(LoopFeatureNames(), name)];
  };
  const std::vector<float> full = features(" < 160-16*i0", "y[16*i0+i2]");
  EXPECT_EQ(value(full, "masked_share"), 0);
  EXPECT_EQ(value(full, "stored_masked"), 0);
  EXPECT_EQ(value(full, "hot0_stored_masked"), 0);
  const std::vector<float> masked = features(" < 150-16*i0", "y[16*i0+i2]");
  EXPECT_FLOAT_EQ(value(masked, "masked_share"), 0.1F);
  // As many loads and stores as iterations of i1.
  EXPECT_FLOAT_EQ(value(masked, "stored_masked"),
                  static_cast<float>(std::log2(1 + 2 * 640) / 40));
  EXPECT_FLOAT_EQ(value(masked, "hot0_masked_share"), 0.1F);
  EXPECT_EQ(value(masked, "hot0_stored_masked"), 1);
  const std::vector<float> lanes = features(" < 150-16*i0", "y[i0]");
  EXPECT_FLOAT_EQ(value(lanes, "masked_share"), 0.1F);
  EXPECT_EQ(value(lanes, "stored_masked"), 0);
}

TEST(LoopFeatures, TellStreamsWaitsAndScatteredRegisters) {
  const auto features = [](const std::string& strides) {
    loops::Machine machine;
    machine.l1_bytes = 4096;
    return LoopFeaturesOf(loops::ParseProgram(absl::StrCat(R"(kernel k
argument x f32[64,512]
result y f32[64]
for i0 16
| local s f32[4,16] register strides )",
                                                           strides, R"(
| for i1 4 unrolled
| | for i2 16 vector
| | | s[i1,i2] = 0.0
| for i1 32
| | for i2 4 unrolled
| | | for i3 16 vector
| | | | s[i2,i3] += x[4*i0+i2,16*i1+i3]
| for i1 4 unrolled
| | y[4*i0+i1] = 0.0
| | for i2 16 unrolled
| | | y[4*i0+i1] += s[i1,i2]
| | y[4*i0+i1] = y[4*i0+i1] * 2.0
)"))
                              .value(),
                          machine);
  };
  const LoopFeatures adjacent = features("{16,1}");
  const LoopFeatures apart = features("{2,8}");
  const auto kernel = [](const LoopFeatures& of, const std::string& name) {
    return of.kernel[IndexOf(LoopFeatureNames(), name)];
  };
  const auto most = [](const LoopFeatures& of, const std::string& name) {
    const space::ObservationSpec& spec = LoopFeaturesSpec();
    const size_t index = IndexOf(spec.node_feature_names, name);
    float value = -1;
    for (size_t i = index; i < of.graph.node_features.size();
         i += static_cast<size_t>(spec.node_features)) {
      value = std::max(value, of.graph.node_features[i]);
    }
    return value;
  };
  const auto log = [](double n, double doublings) {
    return static_cast<float>(std::log2(1 + n) / doublings);
  };
  EXPECT_EQ(kernel(adjacent, "register_scattered"), 0);
  EXPECT_EQ(most(adjacent, "work_register_scattered"), 0);
  EXPECT_GT(kernel(apart, "register_scattered"), 0);
  EXPECT_EQ(kernel(apart, "hot0_register_scattered"), 1);
  EXPECT_EQ(most(apart, "work_register_scattered"), 1);
  EXPECT_FLOAT_EQ(kernel(adjacent, "streams"), log(4, 12));
  EXPECT_FLOAT_EQ(most(adjacent, "work_streams"), log(4, 12));
  EXPECT_FLOAT_EQ(kernel(adjacent, "stream_traffic_l1"), log(64 * 512 * 4, 40));
  // Four elements of y are read as soon as they are summed up.
  EXPECT_FLOAT_EQ(kernel(adjacent, "serial_links"), log(16, 40));
  EXPECT_GT(kernel(adjacent, "between_links"), 0);
}

}  // namespace
}  // namespace hone::costmodels
