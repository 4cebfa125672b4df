#include "backends/cluster_sim/timeline.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "graphs/cluster.h"
#include "graphs/op_graph.h"
#include "graphs/step/device_times.h"
#include "graphs/step/fusion_rules.h"
#include "graphs/step/kernel_graph.h"
#include "tests/backends/cluster_sim/recorded_step.h"

namespace hone::backends {
namespace {

using ::hone::testing::RecordedStep;
using ::testing::ElementsAre;

TEST(TimelineTest, RecordsWhatItIsTold) {
  Timeline timeline;
  timeline.OnKernel(3, 1, 0.5, 2);
  timeline.OnMemory(1, 0.5, 64);
  timeline.OnTransfer(3, 1, 0, 16, 2, 4);
  timeline.OnKernel(4, 0, 4, 4);
  timeline.OnMemory(0, 4, 16);
  EXPECT_THAT(timeline.kernels(), ElementsAre(Timeline::Kernel{3, 1, 0.5, 2},
                                              Timeline::Kernel{4, 0, 4, 4}));
  EXPECT_THAT(timeline.transfers(),
              ElementsAre(Timeline::Transfer{3, 1, 0, 16, 2, 4}));
  EXPECT_THAT(timeline.memory(), ElementsAre(Timeline::MemorySample{1, 0.5, 64},
                                             Timeline::MemorySample{0, 4, 16}));
}

// A diamond on two devices.
class TimelineOfAStepTest : public ::testing::Test {
 protected:
  StepResult Run(StepObserver* observer) {
    const std::vector<int32_t> devices = {0, 0, 1, 0};
    const std::vector<uint64_t> priorities = {4, 3, 2, 1};
    return StepSimulator(kernels_, times_).Run(devices, priorities, observer);
  }

 private:
  static graphs::Cluster TwoDevices() {
    graphs::Cluster cluster;
    cluster.accelerators = {{.count = 2,
                             .flops_per_second = 1,
                             .bytes_per_second = 1,
                             .memory_bytes = 100}};
    cluster.link = {2, 0.5};
    return cluster;
  }

  const graphs::OpGraph graph_ = *graphs::OpGraph::Create(
      {{.id = 0, .opcode = "dot", .flops = 2, .output_bytes = 4},
       {.id = 1, .opcode = "dot", .flops = 1, .output_bytes = 4},
       {.id = 2, .opcode = "dot", .flops = 3, .output_bytes = 2},
       {.id = 3, .opcode = "dot", .flops = 1, .output_bytes = 1}},
      {{0, 1, 4}, {0, 2, 4}, {1, 3, 4}, {2, 3, 2}});
  graphs::FusionRules rules_{graph_};
  const graphs::DeviceTimes times_ = *graphs::DeviceTimes::Create(TwoDevices());
  const graphs::KernelGraph kernels_{rules_, graphs::Fusion(4, 0), times_};
};

TEST_F(TimelineOfAStepTest, HasEverythingThatHappens) {
  RecordedStep expected;
  Timeline timeline;
  const StepResult result = Run(&timeline);
  EXPECT_EQ(result.seconds, Run(&expected).seconds);
  ASSERT_EQ(timeline.kernels().size(), 4u);
  ASSERT_EQ(timeline.kernels().size(), expected.kernels.size());
  for (size_t i = 0; i < expected.kernels.size(); ++i) {
    const RecordedStep::Kernel& kernel = expected.kernels[i];
    EXPECT_EQ(timeline.kernels()[i],
              (Timeline::Kernel{kernel.kernel, kernel.device, kernel.begin,
                                kernel.end}));
  }
  // 4 bytes there, 2 bytes back.
  EXPECT_THAT(timeline.transfers(),
              ElementsAre(Timeline::Transfer{0, 0, 1, 4, 2, 4.5},
                          Timeline::Transfer{2, 1, 0, 2, 7.5, 9}));
  ASSERT_EQ(timeline.memory().size(), expected.memory.size());
  std::vector<double> peaks(2);
  for (const Timeline::MemorySample& sample : timeline.memory()) {
    double& peak = peaks[static_cast<size_t>(sample.device)];
    peak = std::max(peak, sample.bytes);
  }
  EXPECT_EQ(peaks, result.peak_bytes);
}

TEST_F(TimelineOfAStepTest, IsInTheOrderOfTime) {
  Timeline timeline;
  const StepResult result = Run(&timeline);
  double begin = 0, end = 0;
  for (const Timeline::Kernel& kernel : timeline.kernels()) {
    EXPECT_LE(begin, kernel.begin_seconds);
    begin = kernel.begin_seconds;
    end = std::max(end, kernel.end_seconds);
  }
  EXPECT_EQ(end, result.seconds);
}

}  // namespace
}  // namespace hone::backends
