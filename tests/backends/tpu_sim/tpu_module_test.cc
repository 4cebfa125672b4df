#include "backends/tpu_sim/tpu_module.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "backends/tpu_sim/stated_config.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

// A loop as JAX writes it: the condition reads more than it uses, and nothing
// states how often it runs.
constexpr char kScan[] = R"(HloModule scan

body {
  s = (s32[], f32[256,512]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  x = f32[256,512] get-tuple-element(s), index=1
  t = f32[256,512] tanh(x)
  ROOT r = (s32[], f32[256,512]) tuple(j, t)
}
condition {
  s = (s32[], f32[256,512]) parameter(0)
  x = f32[256,512] get-tuple-element(s), index=1
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(12)
  ROOT l = pred[] compare(i, n), direction=LT
}
ENTRY e {
  zero = s32[] constant(0)
  a = f32[256,512] parameter(0)
  first = (s32[], f32[256,512]) tuple(zero, a)
  loop = (s32[], f32[256,512]) while(first), condition=condition, body=body, backend_config={"kept":"7"}
  ROOT y = f32[256,512] get-tuple-element(loop), index=1
})";

TEST(TpuModule, LoopsRunAsOftenAsTheirCounterSays) {
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module module, hlo::ParseHloText(kScan));
  HONE_ASSERT_OK_AND_ASSIGN(const TpuModule prepared,
                            PrepareForTpu(module, *FindTpu("v4")));
  double most = 0;
  for (const TpuKernel& kernel : prepared.kernels) {
    most = std::max(most, kernel.executions);
    if (hlo::PrintModule(*kernel.module).find("tanh") != std::string::npos) {
      EXPECT_EQ(kernel.executions, 12);
    }
  }
  // The condition.
  EXPECT_EQ(most, 13);
  const std::string text = hlo::PrintModule(prepared.fused);
  EXPECT_THAT(text, ::testing::HasSubstr("known_trip_count"));
  EXPECT_THAT(text, ::testing::HasSubstr("\"kept\":\"7\""));
}

TEST(TpuModule, KernelsHaveTheTilesThatTheyState) {
  const auto config_of = [](const std::string& tile) {
    const auto module = hlo::ParseHloText(absl::StrCat(
        "HloModule m\n\nENTRY e {\n  a = f32[1024,512] parameter(0)\n"
        "  ROOT t = f32[1024,512] tanh(a), "
        "frontend_attributes={x=\"1\",hone_tile=\"",
        tile, "\"}\n}\n"));
    HONE_EXPECT_OK(module.status());
    const auto prepared = PrepareForTpu(*module, *FindTpu("v4"));
    HONE_EXPECT_OK(prepared.status());
    return hlo::PrintKernelConfig(prepared->kernels.at(0).config);
  };
  EXPECT_EQ(config_of("output=128,256 buffers=3"),
            "output=128,256 order=row buffers=3 unroll=4");
  // No multiple of the registers' rows, not of the array's rank, no tile.
  const std::string by_default = config_of("");
  EXPECT_EQ(config_of("output=127,512"), by_default);
  EXPECT_EQ(config_of("output=128"), by_default);
  EXPECT_EQ(config_of("none"), by_default);
}

TEST(TpuModule, EqualKernelsMayStateOtherTiles) {
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module module,
                            hlo::ParseHloText(R"(HloModule m
f { p = f32[1024,512] parameter(0)
  ROOT t = f32[1024,512] tanh(p) }
g { p = f32[1024,512] parameter(0)
  ROOT t = f32[1024,512] tanh(p) }
h { p = f32[1024,512] parameter(0)
  ROOT t = f32[1024,512] tanh(p) }
ENTRY e {
  a = f32[1024,512] parameter(0)
  x = f32[1024,512] fusion(a), kind=kLoop, calls=f, frontend_attributes={hone_tile="output=8,128"}
  y = f32[1024,512] fusion(x), kind=kLoop, calls=g, frontend_attributes={hone_tile="output=512,512"}
  ROOT z = f32[1024,512] fusion(y), kind=kLoop, calls=h, frontend_attributes={hone_tile="output=9,512"}
})"));
  HONE_ASSERT_OK_AND_ASSIGN(const TpuModule prepared,
                            PrepareForTpu(module, *FindTpu("v4")));
  ASSERT_EQ(prepared.kernels.size(), 3);
  EXPECT_EQ(hlo::PrintKernelConfig(prepared.kernels[0].config),
            "output=8,128 order=row buffers=2 unroll=4");
  EXPECT_EQ(hlo::PrintKernelConfig(prepared.kernels[1].config),
            "output=512,512 order=row buffers=2 unroll=4");
  EXPECT_EQ(prepared.kernels[1].refusal, "");
  EXPECT_THAT(
      prepared.kernels[2].refusal,
      ::testing::HasSubstr("the tile of output dimension 0 is 9, expected"));
}

TEST(TpuModule, HostileLoopsAreCountedOrLeft) {
  // A configuration that nests deeper than the stack stays as it is.
  std::string deep = "{\"kept\":";
  constexpr int kLevels = 300'000;
  for (int i = 0; i < kLevels; ++i) deep += '[';
  for (int i = 0; i < kLevels; ++i) deep += ']';
  deep += '}';
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module nested,
                            hlo::ParseHloText(absl::StrReplaceAll(
                                kScan, {{"{\"kept\":\"7\"}", deep}})));
  HONE_ASSERT_OK_AND_ASSIGN(const TpuModule left,
                            PrepareForTpu(nested, *FindTpu("v4")));
  EXPECT_THAT(hlo::PrintModule(left.fused), ::testing::HasSubstr(deep));
  // A loop that the condition of another one has and does not need.
  HONE_ASSERT_OK_AND_ASSIGN(
      const hlo::Module dead,
      hlo::ParseHloText(absl::StrReplaceAll(
          kScan, {{"condition {\n  s = (s32[], f32[256,512]) parameter(0)\n",
                   "condition {\n  s = (s32[], f32[256,512]) parameter(0)\n"
                   "  unused = (s32[], f32[256,512]) while(s), "
                   "condition=inner_condition, body=inner\n"},
                  {"\nbody {",
                   R"(
inner {
  ROOT s = (s32[], f32[256,512]) parameter(0)
}
inner_condition {
  s = (s32[], f32[256,512]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT l = pred[] compare(i, n), direction=LT
}
body {)"}})));
  HONE_EXPECT_OK(PrepareForTpu(dead, *FindTpu("v4")).status());
}

TEST(StatedConfig, IsReadBackAndReplaced) {
  hlo::Module module = *hlo::ParseHloText(
      "HloModule m\n\nENTRY e {\n  a = f32[8,128] parameter(0)\n"
      "  ROOT t = f32[8,128] tanh(a), "
      "frontend_attributes={a=\"1, hone_tile=\\\"x\\\"\"}\n}\n");
  hlo::Computation& entry = module.mutable_computation(module.entry());
  hlo::Instruction& root = entry.mutable_instruction(entry.root());
  EXPECT_EQ(StatedConfig(root), std::nullopt);
  for (const char* const text :
       {"output=8,128", "output=8,128 order=column buffers=1 unroll=8"}) {
    const hlo::KernelConfig config = *hlo::ParseKernelConfig(text);
    StateConfig(config, root);
    EXPECT_EQ(StatedConfig(root), hlo::PrintKernelConfig(config));
  }
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module read,
                            hlo::ParseHloText(hlo::PrintModule(module)));
  const hlo::Computation& again = read.entry_computation();
  EXPECT_THAT(*StatedConfig(again[again.root()]),
              ::testing::HasSubstr("unroll=8"));
}

}  // namespace
}  // namespace hone::backends
