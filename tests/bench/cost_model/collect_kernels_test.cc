#include "bench/cost_model/collect_kernels.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/temporary_directory.h"
#include "bench/cost_model/kernel_samples.h"
#include "hlo/read_module.h"
#include "hlo/text/parser.h"
#include "loops/lowering/lowering.h"
#include "loops/text/text.h"
#include "loops/transforms/script.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/scripted_kernels.h"

namespace hone::bench {
namespace {

using ::hone::testing::IsOk;
using ::hone::testing::StatusIs;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kProduct[] = R"(HloModule m
ENTRY main {
  a = f32[40,24]{1,0} parameter(0)
  b = f32[24,56]{1,0} parameter(1)
  ROOT c = f32[40,56]{1,0} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})";

class CollectKernelsTest : public ::testing::Test {
 protected:
  CollectKernelsTest() {
    std::ofstream(folder_.path() + "/suite.json")
        << R"({"kernels": [{"name": "matmul_256x3"}, {"name": "matmul_a"}, )"
        << R"({"name": "conv_b"}]})";
    for (const char* name : {"matmul_256x3", "matmul_a", "conv_b"}) {
      std::ofstream(folder_.path() + "/" + name + ".hlo") << kProduct;
    }
    kernels_.time = [time = kernels_.time](
                        const backends::KernelRequest& request,
                        const std::string& script) {
      backends::KernelTiming timing = time(request, script);
      timing.ns = 1000 * timing.ratio;
      return timing;
    };
    options_.suite = folder_.path();
    options_.output = folder_.path() + "/data.jsonl";
    options_.kernels = 6;
    options_.schedules = 20;
  }

  absl::StatusOr<CollectedKernels> Collect() {
    return CollectKernels(options_, kernels_, log_);
  }
  std::vector<KernelSamples> Read() const {
    std::vector<KernelSamples> all;
    EXPECT_THAT(ReadKernelSamples(options_.output,
                                  [&](KernelSamples samples) {
                                    all.push_back(std::move(samples));
                                    return absl::OkStatus();
                                  }),
                IsOk());
    return all;
  }
  std::string Bytes() const { return *hlo::ReadFileBytes(options_.output); }

  TemporaryDirectory folder_;
  CollectKernelsOptions options_;
  tuning::ScriptedKernels kernels_;
  std::ostringstream log_;
};

TEST_F(CollectKernelsTest, MeasuresTheSuiteAndRandomKernels) {
  const auto collected = Collect();
  ASSERT_THAT(collected, IsOk());
  const std::vector<KernelSamples> all = Read();
  ASSERT_EQ(collected->kernels, 6);
  ASSERT_EQ(all.size(), 6);
  // What the bench of searches is about is nothing to learn from.
  EXPECT_EQ(all[0].kernel.name, "matmul_a");
  EXPECT_EQ(all[0].kernel.family, "matmul");
  EXPECT_EQ(all[1].kernel.name, "conv_b");
  EXPECT_EQ(all[2].kernel.name, DrawKernel(0, 0).name);
  for (const KernelSamples& each : all) {
    SCOPED_TRACE(each.kernel.name);
    EXPECT_EQ(each.device.fingerprint, "cpu:a");
    EXPECT_EQ(each.calibration.peak_gflops, 1000);
    EXPECT_EQ(each.default_ns, 1000);
    EXPECT_EQ(each.device.machine.threads, 1);
    EXPECT_GT(each.samples.size(), 4);
    EXPECT_LE(each.samples.size(), 21);
    EXPECT_EQ(each.samples[0].ratio, 1);
    // All are legal, and no program is there twice.
    const auto module = hlo::ParseHloText(each.kernel.module);
    ASSERT_THAT(module, IsOk());
    const auto lowered = loops::LowerToProgram(*module);
    ASSERT_THAT(lowered, IsOk());
    std::set<std::string> programs;
    for (const ScheduleSample& sample : each.samples) {
      const auto script = loops::ParseScript(sample.script);
      ASSERT_THAT(script, IsOk());
      const auto program = loops::ApplyScript(*lowered, *script);
      ASSERT_THAT(program, IsOk()) << sample.script;
      EXPECT_TRUE(programs.insert(loops::PrintProgram(*program)).second);
    }
  }
  EXPECT_EQ(all[0].samples.size(), 21);
}

TEST_F(CollectKernelsTest, AnInterruptedRunGoesOn) {
  ASSERT_THAT(Collect(), IsOk());
  const std::string whole = Bytes();
  // Within the fourth line.
  size_t end = 0;
  for (int line = 0; line < 3; ++line) end = whole.find('\n', end) + 1;
  std::ofstream(options_.output) << whole.substr(0, end + 50);
  kernels_.requests.clear();
  const auto collected = Collect();
  ASSERT_THAT(collected, IsOk());
  EXPECT_EQ(collected->kernels, 3);
  EXPECT_EQ(Bytes(), whole);
  // Nothing is left to do.
  kernels_.requests.clear();
  ASSERT_THAT(Collect(), IsOk());
  EXPECT_EQ(kernels_.requests.size(), 0);
  EXPECT_EQ(Bytes(), whole);
  // More kernels follow those that are there.
  options_.kernels = 7;
  ASSERT_THAT(Collect(), IsOk());
  EXPECT_EQ(Bytes().substr(0, whole.size()), whole);
  EXPECT_EQ(Read().size(), 7);
}

TEST_F(CollectKernelsTest, KeepsFailuresAndEditsTheBest) {
  // The default's own steps are no longer: what is shorter is faster.
  kernels_.time = [](const backends::KernelRequest&,
                     const std::string& script) {
    backends::KernelTiming timing;
    if (script.size() % 3 == 0) {
      timing.outcome = space::Outcome::kTimeout;
      timing.message = "too slow";
    }
    timing.ns = timing.ratio = static_cast<double>(script.size() + 1);
    return timing;
  };
  options_.kernels = 1;
  const auto collected = Collect();
  ASSERT_THAT(collected, IsOk());
  EXPECT_GT(collected->failures, 0);
  int64_t failures = 0;
  for (const ScheduleSample& sample : Read()[0].samples) {
    if (sample.outcome == space::Outcome::kOk) continue;
    ++failures;
    EXPECT_EQ(sample.outcome, space::Outcome::kTimeout);
    EXPECT_EQ(sample.message, "too slow");
  }
  EXPECT_EQ(failures, collected->failures);
}

TEST_F(CollectKernelsTest, SlowKernelsGetFewerSchedules) {
  kernels_.baseline_ns = 8e6;
  options_.kernels = 1;
  ASSERT_THAT(Collect(), IsOk());
  EXPECT_EQ(Read()[0].samples.size(), 6);
}

TEST_F(CollectKernelsTest, AKernelThatCannotBeMeasuredIsLeftOut) {
  kernels_.error = absl::UnimplementedError("no such thing");
  const auto collected = Collect();
  ASSERT_THAT(collected, IsOk());
  EXPECT_EQ(collected->refused, 6);
  EXPECT_THAT(log_.str(), HasSubstr("matmul_a: no such thing"));
  EXPECT_EQ(Bytes(), "");
  kernels_.error = absl::UnavailableError("nobody measures");
  EXPECT_THAT(Collect(), StatusIs(absl::StatusCode::kUnavailable,
                                  HasSubstr("nobody measures")));
}

TEST_F(CollectKernelsTest, SelectsKernelsByName) {
  options_.only = "^conv";
  ASSERT_THAT(Collect(), IsOk());
  for (const KernelSamples& each : Read()) {
    EXPECT_EQ(each.kernel.family, "conv");
  }
  options_.only = "(";
  EXPECT_THAT(Collect(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("(")));
}

TEST_F(CollectKernelsTest, AFileOfAnotherDeviceOrKindIsRefused) {
  options_.kernels = 1;
  ASSERT_THAT(Collect(), IsOk());
  const std::string before = Bytes();
  kernels_.devices = {tuning::ScriptedKernels::Device("cpu:b")};
  EXPECT_THAT(Collect(), StatusIs(absl::StatusCode::kInvalidArgument,
                                  HasSubstr("cpu:a with 1 threads, expected "
                                            "cpu:b with 1")));
  EXPECT_EQ(Bytes(), before);
  std::ofstream(options_.output) << "HloModule m\n";
  EXPECT_THAT(Collect(), StatusIs(absl::StatusCode::kInvalidArgument,
                                  HasSubstr("data.jsonl:1: ")));
  EXPECT_EQ(Bytes(), "HloModule m\n");
}

}  // namespace
}  // namespace hone::bench
