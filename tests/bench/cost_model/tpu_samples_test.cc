#include "bench/cost_model/tpu_samples.h"

#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/temporary_directory.h"
#include "bench/cost_model/tpu_groups.h"
#include "tests/support/status_matchers.h"

namespace hone::bench {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

TpuSamples Samples() {
  TpuSamples samples = {"p.fwd",
                        "p",
                        "v4",
                        R"(HloModule k

ENTRY e {
  a = f32[256,128] parameter(0)
  b = f32[128,512] parameter(1)
  ROOT d = f32[256,512] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)",
                        {}};
  samples.samples.push_back(
      {*hlo::ParseKernelConfig("output=256,512 reduction=128"), 1000});
  samples.samples.push_back(
      {*hlo::ParseKernelConfig("output=128,512 reduction=128"), 2000});
  return samples;
}

TEST(TpuSamples, AreReadAsTheyWereWrittenAndTeach) {
  HONE_ASSERT_OK_AND_ASSIGN(
      const TpuSamples read,
      ParseTpuSamples(PrintTpuSamples(Samples()), "file:1"));
  EXPECT_EQ(read.kernel, Samples().kernel);
  ASSERT_EQ(read.samples.size(), 2);
  EXPECT_EQ(read.samples[1].config, Samples().samples[1].config);
  EXPECT_EQ(read.samples[1].ns, 2000);
  HONE_ASSERT_OK_AND_ASSIGN(const auto groups, TpuGroups(read));
  // The times, and tiles with equal flags.
  EXPECT_EQ(groups.size(), 2);
}

// Times that no kernel takes, and kernels that are none.
TEST(TpuSamples, WhatIsNoneIsRefusedWithItsPlace) {
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/data.jsonl";
  const std::string line = PrintTpuSamples(Samples());
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{
           {"\"ns\":2000.0", "\"ns\":1e308"},
           {"\"ns\":2000.0", "\"ns\":0"},
           {"\"ns\":2000.0", "\"ns\":NaN"},
           {"lhs_contracting_dims={1}", "lhs_contracting_dims={7}"},
           {"dot(a, b)", "dot(a, c)"},
           {"output=128,512", "output=128"},
           {"output=128,512", "output=127,512"},
           {"\"v4\"", "\"v9\""}}) {
    SCOPED_TRACE(absl::StrCat(from, " -> ", to));
    const std::string broken = absl::StrReplaceAll(line, {{from, to}});
    ASSERT_NE(broken, line);
    std::ofstream(path) << line << "\n" << broken << "\n";
    const absl::Status status = ReadTpuSamples(
        path,
        [](const TpuSamples& samples) { return TpuGroups(samples).status(); });
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(status.message(), HasSubstr(absl::StrCat(path, ":2: ")));
  }
}

}  // namespace
}  // namespace hone::bench
