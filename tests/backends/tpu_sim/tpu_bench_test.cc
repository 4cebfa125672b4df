#include "backends/tpu_sim/tpu_bench.h"

#include <limits>
#include <string>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "backends/process/check_report.h"
#include "backends/process/kernel_messages.h"
#include "backends/process/local_kernels.h"
#include "backends/process/time_limit.h"
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

// Of several kernels, one of which does not fit.
KernelRequest RequestOfSeveral() {
  KernelRequest request;
  request.form = KernelForm::kTpuKernels;
  request.tpu = PrintTpu(*FindTpu("v3"));
  for (const char* const kernel : {R"(
  p = f32[2048,2048] parameter(0)
  ROOT r = f32[2048,2048] negate(p))",
                                   R"(
  p = bf16[512,1024] parameter(0)
  q = bf16[1024,256] parameter(1)
  ROOT r = bf16[512,256] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0})",
                                   R"(
  p = f32[2048,2048] parameter(0)
  ROOT r = f32[2048,2048] tanh(p))"}) {
    request.kernels.push_back(hlo::PrintModule(ParseTpuKernel(kernel)));
  }
  request.candidate_scripts = {"", "output=64,256 reduction=1024",
                               "output=2048,2048"};
  return request;
}

TEST(TpuBench, TimesSeveralKernelsEachByItself) {
  const KernelRequest request = RequestOfSeveral();
  const auto report = MeasureOnTpu(request);
  ASSERT_THAT(report, IsOk());
  HONE_EXPECT_OK(CheckReport(request, *report));
  ASSERT_EQ(report->candidates.size(), 3u);
  EXPECT_EQ(report->candidates[2].outcome, space::Outcome::kInvalid);
  EXPECT_EQ(report->candidates[2].violation, 16 << 20);
  for (size_t i = 0; i < 2; ++i) {
    KernelRequest alone;
    alone.form = KernelForm::kTpuKernel;
    alone.tpu = request.tpu;
    alone.module = request.kernels[i];
    alone.baseline_script = request.candidate_scripts[i];
    alone.time_baseline = true;
    EXPECT_EQ(report->candidates[i].ns, MeasureOnTpu(alone)->baseline->ns);
    EXPECT_EQ(report->candidates[i].ratio, 1);
  }
}

TEST(TpuBench, SeveralKernelsThatCannotBeMeasuredAreAnError) {
  const auto error = [](auto change) {
    KernelRequest request = RequestOfSeveral();
    change(request);
    return MeasureOnTpu(request).status();
  };
  EXPECT_THAT(error([](KernelRequest& r) { r.kernels.pop_back(); }),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("2 kernels, expected one for each of 3")));
  EXPECT_THAT(
      error([](KernelRequest& r) { r.kernels[1] = "HloModule"; }),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("<kernel 1>")));
  EXPECT_THAT(error([](KernelRequest& r) { r.calibrate = true; }),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no calibration")));
  // None is a request like any other.
  KernelRequest none = RequestOfSeveral();
  none.kernels.clear();
  none.candidate_scripts.clear();
  EXPECT_THAT(MeasureOnTpu(none), IsOk());
}

TEST(TpuBench, AProcessThatSimulatesIsTakenToHangAfterATimeForEachCandidate) {
  KernelRequest request = RequestOfSeveral();
  request.timeout = absl::Seconds(1);
  const absl::Duration of_three = TimeLimit(request);
  request.kernels.push_back(request.kernels[0]);
  request.candidate_scripts.emplace_back();
  EXPECT_EQ(TimeLimit(request) - of_three, request.timeout);
}

TEST(TpuBench, SeveralKernelsTravelAsMessages) {
  KernelRequest request = RequestOfSeveral();
  // Names are bytes.
  request.kernels[0] += "// \xff\n";
  v1::KernelWork work;
  ToProto(request, work);
  v1::KernelWork copy;
  ASSERT_TRUE(copy.ParseFromString(work.SerializeAsString()));
  const KernelRequest received = FromProto(copy);
  EXPECT_EQ(received.form, KernelForm::kTpuKernels);
  EXPECT_EQ(received.kernels, request.kernels);
  EXPECT_EQ(received.candidate_scripts, request.candidate_scripts);
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
