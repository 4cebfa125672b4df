#include "backends/tpu_sim/tpu_module.h"

#include <string>

#include "absl/strings/str_cat.h"
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
    EXPECT_EQ(StatedConfig(root), config);
  }
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module read,
                            hlo::ParseHloText(hlo::PrintModule(module)));
  const hlo::Computation& again = read.entry_computation();
  EXPECT_EQ(StatedConfig(again[again.root()])->unroll, 8);
}

}  // namespace
}  // namespace hone::backends
