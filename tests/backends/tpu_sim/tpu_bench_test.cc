#include "backends/tpu_sim/tpu_bench.h"

#include <limits>
#include <string>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "backends/process/check_report.h"
#include "backends/process/kernel_messages.h"
#include "backends/process/local_kernels.h"
#include "hlo/text/printer.h"
#include "tests/backends/tpu_sim/kernels.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

using ::hone::testing::IsOk;
using ::hone::testing::ParseTpuKernel;
using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

KernelRequest Request() {
  KernelRequest request;
  request.form = KernelForm::kTpuKernel;
  request.module = hlo::PrintModule(ParseTpuKernel(R"(
  p = f32[2048,2048] parameter(0)
  ROOT r = f32[2048,2048] negate(p))"));
  request.tpu = PrintTpu(*FindTpu("v3"));
  return request;
}

TEST(TpuBench, TimesConfigurationsAgainstTheBaseline) {
  KernelRequest request = Request();
  request.baseline_script = "output=64,2048";
  request.candidate_scripts = {"output=64,2048", "output=8,128",
                               "output=2048,2048", "output=7,128", "fast"};
  request.time_baseline = true;
  const auto report = MeasureOnTpu(request);
  ASSERT_THAT(report, IsOk());
  HONE_EXPECT_OK(CheckReport(request, *report));
  ASSERT_TRUE(report->baseline.has_value());
  EXPECT_GT(report->baseline->ns, 1000);
  ASSERT_EQ(report->candidates.size(), 5u);
  EXPECT_EQ(report->candidates[0].ns, report->baseline->ns);
  EXPECT_EQ(report->candidates[0].ratio, 1);
  EXPECT_GT(report->candidates[1].ratio_low, 2);
  EXPECT_EQ(report->candidates[2].outcome, space::Outcome::kInvalid);
  EXPECT_EQ(report->candidates[2].violation, 16 << 20);
  EXPECT_EQ(report->candidates[3].outcome, space::Outcome::kInvalid);
  EXPECT_EQ(report->candidates[3].violation, 0);
  EXPECT_THAT(report->candidates[3].message,
              HasSubstr("expected a multiple of 8"));
  EXPECT_THAT(report->candidates[4].message, HasSubstr("unknown key \"fast\""));
}

TEST(TpuBench, AnEmptyBaselineIsTheDefault) {
  KernelRequest request = Request();
  request.time_baseline = true;
  const auto report = MeasureOnTpu(request);
  ASSERT_THAT(report, IsOk());
  EXPECT_TRUE(report->baseline.has_value());
}

TEST(TpuBench, ABaselineThatOverflowsIsAResultLikeAnyOther) {
  KernelRequest request = Request();
  request.baseline_script = "output=2048,2048";
  request.candidate_scripts = {"output=2048,2048", "output=8,128"};
  request.time_baseline = true;
  const auto report = MeasureOnTpu(request);
  ASSERT_THAT(report, IsOk());
  HONE_EXPECT_OK(CheckReport(request, *report));
  EXPECT_EQ(report->baseline->outcome, space::Outcome::kInvalid);
  EXPECT_EQ(report->baseline->violation, 16 << 20);
  EXPECT_EQ(report->candidates[0].violation, 16 << 20);
  EXPECT_EQ(report->candidates[1].outcome, space::Outcome::kOk);
  EXPECT_EQ(report->candidates[1].ratio, 1);
}

TEST(TpuBench, WhatCannotBeMeasuredIsAnError) {
  const auto error = [](auto change) {
    KernelRequest request = Request();
    change(request);
    return MeasureOnTpu(request).status();
  };
  EXPECT_THAT(error([](KernelRequest& r) { r.tpu = ""; }),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("[core] is missing")));
  EXPECT_THAT(
      error([](KernelRequest& r) { r.module = "HloModule"; }),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("<kernel>")));
  EXPECT_THAT(error([](KernelRequest& r) { r.baseline_script = "output=1"; }),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the baseline: the output tile has 1")));
  EXPECT_THAT(error([](KernelRequest& r) { r.calibrate = true; }),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no calibration")));
}

TEST(TpuBench, RequestsAndReportsTravelAsMessages) {
  KernelRequest request = Request();
  request.candidate_scripts = {"output=2048,2048"};
  v1::KernelWork work;
  ToProto(request, work);
  const KernelRequest received = FromProto(work);
  EXPECT_EQ(received.form, KernelForm::kTpuKernel);
  EXPECT_EQ(received.tpu, request.tpu);
  KernelReport report = *MeasureOnTpu(received);
  v1::KernelReport message;
  ToProto(report, message);
  EXPECT_EQ(FromProto(message)->candidates[0].violation,
            report.candidates[0].violation);
  report.candidates[0].violation = -1;
  EXPECT_THAT(CheckReport(request, report),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("violation")));
  report.candidates[0].violation = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(CheckReport(request, report).ok());
}

// Whoever looks among the devices for a worker must not take this machine for
// one.
TEST(TpuBench, ThisMachineMeasuresOnBundledTpusButDoesNotListThem) {
  LocalKernels local;
  const std::string fingerprint = TpuDevice("", *FindTpu("v4")).fingerprint;
  const auto device = local.AwaitDevice(fingerprint, /*stop=*/nullptr);
  ASSERT_THAT(device, IsOk());
  EXPECT_EQ(device->fingerprint, fingerprint);
  for (const KernelDevice& listed : local.Devices()) {
    EXPECT_EQ(listed.kind, "cpu");
  }
}

TEST(TpuBench, TheFingerprintIsOfTheDescription) {
  Tpu tpu = *FindTpu("v3");
  const KernelDevice device = TpuDevice("v3", tpu);
  EXPECT_EQ(device.kind, "tpu_sim");
  EXPECT_TRUE(absl::StartsWith(device.fingerprint, "tpu_sim:"));
  EXPECT_EQ(TpuDevice("other", tpu).fingerprint, device.fingerprint);
  tpu.step_cycles += 1;
  EXPECT_NE(TpuDevice("v3", tpu).fingerprint, device.fingerprint);
  v1::Device message;
  ToProto(device, message);
  EXPECT_EQ(FromProto(message).fingerprint, device.fingerprint);
}

}  // namespace
}  // namespace hone::backends
