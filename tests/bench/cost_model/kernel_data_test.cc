#include "bench/cost_model/kernel_data.h"

#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/temporary_directory.h"
#include "costmodels/loop_features.h"
#include "hlo/text/parser.h"
#include "loops/lowering/lowering.h"
#include "loops/schedules/default_schedule.h"
#include "loops/transforms/script.h"
#include "tests/support/status_matchers.h"

namespace hone::bench {
namespace {

using ::hone::testing::IsOk;
using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

KernelSamples Samples(const NamedKernel& kernel) {
  KernelSamples samples;
  samples.kernel = kernel;
  samples.default_ns = 1000;
  samples.calibration.threads = 1;
  const loops::Program program =
      loops::LowerToProgram(hlo::ParseHloText(kernel.module).value()).value();
  const std::string script =
      loops::PrintScript(loops::DefaultSchedule(program, {}));
  samples.samples.push_back(
      {.script = script, .message = "", .ns = 1000, .least_ns = 1000});
  samples.samples.push_back({.script = "",
                             .outcome = space::Outcome::kCrashed,
                             .message = "signal 11"});
  samples.samples.push_back({.script = "",
                             .message = "",
                             .ratio = 3,
                             .ratio_low = 2.9,
                             .ratio_high = 3.1,
                             .ns = 3500,
                             .least_ns = 2800});
  // Something else ran beside most of its pairs.
  samples.samples.push_back({.script = "",
                             .message = "",
                             .ratio = 0.1,
                             .ratio_low = 0.01,
                             .ratio_high = 3.1,
                             .ns = 3500,
                             .least_ns = 2800});
  return samples;
}

TEST(KernelData, HasTheSchedulesThatRanAndTheirTimes) {
  const NamedKernel kernel = DrawKernel(0, 0);
  const auto group = MakeKernelGroup(Samples(kernel), /*with_graphs=*/true);
  ASSERT_THAT(group, IsOk());
  EXPECT_EQ(group->kernel.name, kernel.name);
  ASSERT_EQ(group->schedules.size(), 3);
  EXPECT_NEAR(std::exp(group->schedules[0].log_time), 1000, 1e-6);
  EXPECT_NEAR(std::exp(group->schedules[1].log_time), 3000, 1e-6);
  EXPECT_NEAR(std::exp(group->schedules[2].log_time), 2800, 1e-6);
  EXPECT_EQ(group->schedules[0].deviation, 0);
  EXPECT_NEAR(group->schedules[1].deviation, 0.67 / 1.69 * std::log(3.1 / 2.9),
              1e-9);
  EXPECT_NEAR(group->schedules[2].deviation, 0.67 / 1.69 * std::log(1.25),
              1e-9);
  const loops::Program lowered =
      loops::LowerToProgram(hlo::ParseHloText(kernel.module).value()).value();
  const costmodels::LoopFeatures features =
      costmodels::LoopFeaturesOf(lowered, {});
  EXPECT_EQ(group->schedules[1].config, features.kernel);
  EXPECT_EQ(group->schedules[1].graph->node_features,
            features.graph.node_features);
  EXPECT_NE(group->schedules[0].config, features.kernel);
  EXPECT_GT(group->schedules[1].roofline_ns, group->schedules[0].roofline_ns);
  const auto flat = MakeKernelGroup(Samples(kernel), /*with_graphs=*/false);
  ASSERT_THAT(flat, IsOk());
  EXPECT_EQ(flat->schedules[1].graph, nullptr);
  EXPECT_EQ(flat->schedules[1].config, features.kernel);
}

TEST(KernelData, ErrorsNameTheLine) {
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/data.jsonl";
  KernelSamples broken = Samples(DrawKernel(0, 2));
  broken.samples[2].script = "fly 0\n";
  std::ofstream(path) << PrintKernelSamples(Samples(DrawKernel(0, 0))) << "\n"
                      << PrintKernelSamples(broken) << "\n";
  EXPECT_THAT(ReadKernelData(path, {}, false),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr(absl::StrCat(path, ":2: ", broken.kernel.name,
                                              ": "))));
}

TEST(KernelData, IsATableForOthers) {
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/data.jsonl";
  std::ofstream(path) << PrintKernelSamples(Samples(DrawKernel(0, 0))) << "\n"
                      << PrintKernelSamples(Samples(DrawKernel(0, 1))) << "\n";
  const auto groups = ReadKernelData(path, {}, false);
  ASSERT_THAT(groups, IsOk());
  std::ostringstream out;
  WriteFeatureTable(*groups, out);
  const std::vector<std::string> lines =
      absl::StrSplit(out.str(), '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 1 + 3 + 3);
  const size_t columns = 5 + costmodels::LoopFeatureNames().size();
  for (const std::string& line : lines) {
    EXPECT_EQ(std::vector<std::string>(absl::StrSplit(line, ',')).size(),
              columns);
  }
  EXPECT_THAT(lines[1],
              HasSubstr(absl::StrCat("training,matmul,",
                                     groups->front().kernel.name, ",")));
}

TEST(KernelSplit, HoldsOutWhatItSays) {
  const std::string path =
      HONE_SOURCE_DIR "/bench/data/cost_model/kernel_split.json";
  const auto manual = KernelSplit::Read(path + ":manual");
  ASSERT_THAT(manual, IsOk());
  const auto random = KernelSplit::Read(path);
  ASSERT_THAT(random, IsOk());
  std::map<std::string, std::set<KernelPart>> by_family;
  std::map<KernelPart, int> counts;
  for (int64_t i = 0; i < 3000; ++i) {
    const NamedKernel kernel = DrawKernel(1, i);
    by_family[kernel.family].insert(manual->PartOf(kernel));
    ++counts[random->PartOf(kernel)];
  }
  std::map<KernelPart, int> families;
  for (const auto& [family, parts] : by_family) {
    EXPECT_EQ(parts.size(), 1) << family;
    ++families[*parts.begin()];
  }
  EXPECT_EQ(families[KernelPart::kTest], 6);
  EXPECT_EQ(families[KernelPart::kValidation], 2);
  EXPECT_NEAR(counts[KernelPart::kTest], 600, 80);
  EXPECT_NEAR(counts[KernelPart::kValidation], 300, 60);
}

TEST(KernelSplit, AFileThatIsNoneIsRefused) {
  EXPECT_THAT(
      KernelSplit::Read(HONE_SOURCE_DIR
                        "/bench/data/cost_model/kernel_split.json:odd"),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("no split 'odd', expected one of: random, manual")));
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/split.json";
  for (const char* text :
       {R"({"a": {"test": 2}})", R"({"a": {"test": [1]}})",
        R"({"a": {"test": "matmul"}})", R"({"a": {"seed": -1}})", R"({"a": 3})",
        R"({"a": {"tset": ["matmul"]}})",
        R"({"a": {"test": 0.7, "validation": 0.4}})", "[]", "{"}) {
    std::ofstream(path) << text;
    EXPECT_THAT(
        KernelSplit::Read(path + ":a"),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("split.json")))
        << text;
  }
}

TEST(LoopRates, AreThoseOfTheCalibration) {
  loops::Machine machine;
  machine.vector_bytes = 64;
  machine.l1_bytes = 32 << 10;
  machine.l2_bytes = 1 << 20;
  machine.l3_bytes = 32 << 20;
  backends::Calibration calibration;
  calibration.threads = 2;
  calibration.peak_gflops = 512;
  calibration.levels = {{.bytes = 16 << 10, .read_gbps = 400},
                        {.bytes = 256 << 10, .read_gbps = 200},
                        {.bytes = 4 << 20, .read_gbps = 100},
                        {.bytes = 256 << 20, .read_gbps = 40}};
  const costmodels::LoopRates rates = LoopRatesOf(calibration, machine);
  EXPECT_DOUBLE_EQ(rates.cycles_per_ns, 4);
  EXPECT_THAT(rates.bytes_per_ns, ::testing::ElementsAre(100, 50, 20));
  // Unknown speeds are nominal.
  EXPECT_EQ(LoopRatesOf({}, machine).cycles_per_ns,
            costmodels::LoopRates().cycles_per_ns);
}

}  // namespace
}  // namespace hone::bench
