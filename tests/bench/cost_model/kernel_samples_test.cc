#include "bench/cost_model/kernel_samples.h"

#include <fstream>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/temporary_directory.h"
#include "tests/support/status_matchers.h"

namespace hone::bench {
namespace {

using ::hone::testing::IsOk;
using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

KernelSamples Samples() {
  KernelSamples samples;
  samples.kernel = {"matmul", "matmul_8x8", "HloModule \"k\"\n"};
  samples.device.kind = "cpu";
  samples.device.model = "a machine";
  samples.device.isa = "avx2";
  samples.device.fingerprint = "cpu:0";
  samples.device.machine.l2_bytes = 12345;
  samples.device.machine.threads = 2;
  samples.calibration.threads = 2;
  samples.calibration.peak_gflops = 100.5;
  samples.calibration.levels = {
      {.bytes = 4096, .read_gbps = 80, .copy_gbps = 60.25}};
  samples.threads = 2;
  samples.default_ns = 1234.5;
  samples.samples.push_back({.script = "split 0 8\nunroll 0.0",
                             .message = "",
                             .ratio = 0.75,
                             .ratio_low = 0.7,
                             .ratio_high = 0.8,
                             .ns = 900,
                             .least_ns = 890});
  samples.samples.push_back({.script = "",
                             .outcome = space::Outcome::kWrongResult,
                             .message = "element 3: \xff, expected 1"});
  return samples;
}

TEST(KernelSamples, ReadAsTheyWereWritten) {
  const std::string line = PrintKernelSamples(Samples());
  EXPECT_THAT(line, ::testing::Not(HasSubstr("\n")));
  const auto read = ParseKernelSamples(line, "file:1");
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(PrintKernelSamples(*read), line);
  EXPECT_EQ(read->kernel.module, "HloModule \"k\"\n");
  EXPECT_EQ(read->device.machine.l2_bytes, 12345);
  EXPECT_EQ(read->device.machine.threads, 2);
  EXPECT_EQ(read->calibration.levels[0].copy_gbps, 60.25);
  ASSERT_EQ(read->samples.size(), 2);
  EXPECT_EQ(read->samples[0].script, "split 0 8\nunroll 0.0");
  EXPECT_EQ(read->samples[0].ratio, 0.75);
  EXPECT_EQ(read->samples[1].outcome, space::Outcome::kWrongResult);
}

TEST(KernelSamples, WhatIsNoLineIsRefusedWithItsPlace) {
  const std::string line = PrintKernelSamples(Samples());
  const auto error_of = [&](const std::string& from, const std::string& to) {
    const std::string broken = absl::StrReplaceAll(line, {{from, to}});
    EXPECT_NE(broken, line) << from;
    return ParseKernelSamples(broken, "data.jsonl:7").status();
  };
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{
           {"\"ratio\":0.75", "\"ratio\":-1"},
           {"\"ratio\":0.75", "\"ratio\":1e999"},
           {"\"ratio\":0.75", "\"ratio\":\"fast\""},
           {"\"ratio\":0.75", "\"no\":1"},
           {"\"default_ns\":1234.5", "\"default_ns\":0"},
           {"\"l2_bytes\":12345", "\"l2_bytes\":-1"},
           {"\"l2_bytes\":12345", "\"l2_bytes\":1e300"},
           {"\"l2_bytes\":12345", "\"l2_bytes\":99999999999999999999"},
           {"wrong_result", "ok"},
           {"wrong_result", "strange"},
           {"\"family\":\"matmul\"", "\"family\":3"},
           {"\"samples\":[", "\"samples\":3,\"others\":["}}) {
    SCOPED_TRACE(from + " -> " + to);
    EXPECT_THAT(error_of(from, to), StatusIs(absl::StatusCode::kInvalidArgument,
                                             HasSubstr("data.jsonl:7: ")));
  }
  EXPECT_THAT(ParseKernelSamples("[1, 2]", "data.jsonl:7"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("data.jsonl:7: '[1, 2]' is no JSON object")));
}

TEST(KernelSamples, AFileIsReadUpToItsLastWholeLine) {
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/data.jsonl";
  const std::string line = PrintKernelSamples(Samples());
  std::ofstream(path) << line << "\n" << line << "\n" << line.substr(0, 100);
  int lines = 0;
  EXPECT_THAT(ReadKernelSamples(path,
                                [&](const KernelSamples&) {
                                  ++lines;
                                  return absl::OkStatus();
                                }),
              IsOk());
  EXPECT_EQ(lines, 2);
  std::ofstream(path) << line << "\n" << line.substr(0, 100) << "\n";
  EXPECT_THAT(
      ReadKernelSamples(path, [](const auto&) { return absl::OkStatus(); }),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("data.jsonl:2: ")));
  EXPECT_THAT(ReadKernelSamples(folder.path() + "/absent",
                                [](const auto&) { return absl::OkStatus(); }),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("absent")));
}

}  // namespace
}  // namespace hone::bench
