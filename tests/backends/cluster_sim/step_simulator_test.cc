#include "backends/cluster_sim/step_simulator.h"

#include <string>
#include <utility>
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
using ::testing::IsEmpty;
using Kernel = RecordedStep::Kernel;
using Memory = RecordedStep::Memory;
using Transfer = RecordedStep::Transfer;
using graphs::Cluster;
using graphs::DeviceTimes;
using graphs::Fusion;
using graphs::KernelIndex;
using graphs::OpEdge;
using graphs::OpGraph;
using graphs::OpNode;

// A program of kernels with one node each, in the order in which they are
// added, unless `fused` says otherwise.
class Program {
 public:
  // A kernel that computes for a time and reads its inputs whole.
  KernelIndex Add(double seconds, double output_bytes,
                  const std::vector<KernelIndex>& inputs) {
    const auto node = static_cast<KernelIndex>(nodes.size());
    nodes.push_back({.id = node,
                     .opcode = seconds > 0 ? "dot" : "reshape",
                     .flops = seconds,
                     .output_bytes = output_bytes});
    for (const KernelIndex input : inputs) {
      edges.push_back({input, node, nodes[input].output_bytes});
    }
    fused.push_back(0);
    return node;
  }

  // Runs it on devices without overhead, between which a byte takes a second,
  // with priorities that fall in the order of kernels.
  StepResult Run(const std::vector<int32_t>& devices) {
    const OpGraph graph = *OpGraph::Create(nodes, edges);
    graphs::FusionRules rules(graph);
    const DeviceTimes times = *DeviceTimes::Create(cluster);
    const graphs::KernelGraph kernels(rules, fused, times);
    if (priorities.empty()) {
      for (uint64_t i = kernels.size(); i > 0; --i) priorities.push_back(i);
    }
    step = {};
    return StepSimulator(kernels, times).Run(devices, priorities, &step);
  }

  static Cluster ThreeDevices() {
    Cluster made;
    made.accelerators = {{.count = 3,
                          .flops_per_second = 1,
                          .bytes_per_second = 1,
                          .memory_bytes = 100}};
    made.link = {1, 0};
    return made;
  }

  std::vector<OpNode> nodes;
  std::vector<OpEdge> edges;
  Fusion fused;
  Cluster cluster = ThreeDevices();
  std::vector<uint64_t> priorities;
  RecordedStep step;
};

TEST(StepSimulatorTest, AResultGoesToAnotherDevice) {
  Program program;
  const KernelIndex a = program.Add(2, 10, {});
  const KernelIndex b = program.Add(3, 1, {a});
  program.cluster.link = {2, 0.5};
  EXPECT_EQ(program.Run({0, 0}).seconds, 5);
  EXPECT_THAT(program.step.transfers, IsEmpty());
  EXPECT_EQ(program.Run({0, 1}).seconds, 2 + 5.5 + 3);
  EXPECT_THAT(program.step.transfers,
              ElementsAre(Transfer{a, 0, 1, 10, 2, 7.5}));
  EXPECT_THAT(program.step.kernels,
              ElementsAre(Kernel{a, 0, 0, 2}, Kernel{b, 1, 7.5, 10.5}));
}

TEST(StepSimulatorTest, AResultGoesToEachDeviceOnce) {
  Program program;
  const KernelIndex a = program.Add(1, 10, {});
  const KernelIndex b = program.Add(1, 1, {a});
  const KernelIndex c = program.Add(1, 1, {a});
  program.Add(1, 1, {a});
  program.edges[0].bytes = 4;  // to b, which reads a part
  program.edges[2].bytes = 4;
  EXPECT_EQ(program.Run({0, 1, 1, 2}).seconds, 1 + 10 + 2);
  // The most that a kernel there reads, to all devices at the same time.
  EXPECT_THAT(program.step.transfers, ElementsAre(Transfer{a, 0, 1, 10, 1, 11},
                                                  Transfer{a, 0, 2, 4, 1, 5}));
  EXPECT_THAT(program.step.kernels,
              ElementsAre(Kernel{a, 0, 0, 1}, Kernel{3, 2, 5, 6},
                          Kernel{b, 1, 11, 12}, Kernel{c, 1, 12, 13}));
}

TEST(StepSimulatorTest, AChannelSendsInTheOrderOfFinishedKernels) {
  Program program;
  const KernelIndex a = program.Add(1, 10, {});
  const KernelIndex b = program.Add(1, 2, {});
  const KernelIndex c = program.Add(1, 1, {b});
  const KernelIndex d = program.Add(1, 1, {a});
  const KernelIndex e = program.Add(1, 1, {b});
  program.priorities = {5, 4, 9, 1, 1};
  EXPECT_EQ(program.Run({0, 0, 1, 1, 2}).seconds, 14);
  EXPECT_THAT(program.step.transfers,
              ElementsAre(Transfer{a, 0, 1, 10, 1, 11},
                          Transfer{b, 0, 2, 2, 2, 4},  // another channel
                          Transfer{b, 0, 1, 2, 11, 13}));
  EXPECT_THAT(
      program.step.kernels,
      ElementsAre(Kernel{a, 0, 0, 1}, Kernel{b, 0, 1, 2}, Kernel{e, 2, 4, 5},
                  Kernel{d, 1, 11, 12}, Kernel{c, 1, 13, 14}));
}

TEST(StepSimulatorTest, BothDirectionsOfALinkAreChannels) {
  Program program;
  const KernelIndex a = program.Add(1, 10, {});
  const KernelIndex b = program.Add(1, 10, {});
  program.Add(1, 1, {a});
  program.Add(1, 1, {b});
  EXPECT_EQ(program.Run({0, 1, 1, 0}).seconds, 12);
}

TEST(StepSimulatorTest, TheHighestPriorityGoesFirstThenTheFirstNode) {
  Program program;
  for (int i = 0; i < 4; ++i) program.Add(1, 1, {});
  program.priorities = {3, ~uint64_t{0}, 3, 8};
  EXPECT_EQ(program.Run({0, 0, 0, 0}).seconds, 4);
  EXPECT_THAT(program.step.kernels,
              ElementsAre(Kernel{1, 0, 0, 1}, Kernel{3, 0, 1, 2},
                          Kernel{0, 0, 2, 3}, Kernel{2, 0, 3, 4}));
}

TEST(StepSimulatorTest, ARunningKernelIsNotStopped) {
  Program program;
  const KernelIndex a = program.Add(1, 1, {});
  const KernelIndex urgent = program.Add(1, 1, {a});
  const KernelIndex slow = program.Add(10, 1, {});
  const KernelIndex other = program.Add(10, 1, {});
  program.priorities = {0, 9, 2, 1};
  program.Run({0, 1, 1, 1});
  EXPECT_THAT(program.step.kernels,
              ElementsAre(Kernel{a, 0, 0, 1}, Kernel{slow, 1, 0, 10},
                          Kernel{urgent, 1, 10, 11}, Kernel{other, 1, 11, 21}));
}

TEST(StepSimulatorTest, WhatComesAtOneTimeIsThereBeforeDevicesStart) {
  // A copy for b comes when c has finished, and d has waited.
  Program program;
  const KernelIndex a = program.Add(1, 2, {});
  const KernelIndex b = program.Add(1, 1, {a});
  const KernelIndex c = program.Add(3, 1, {});
  const KernelIndex d = program.Add(1, 1, {});
  program.priorities = {1, 3, 4, 2};
  program.Run({0, 1, 1, 1});
  EXPECT_THAT(program.step.kernels,
              ElementsAre(Kernel{a, 0, 0, 1}, Kernel{c, 1, 0, 3},
                          Kernel{b, 1, 3, 4}, Kernel{d, 1, 4, 5}));
}

TEST(StepSimulatorTest, KernelsWithoutTimeRunBesideOthers) {
  Program program;
  const KernelIndex p = program.Add(0, 1, {});
  const KernelIndex busy = program.Add(10, 1, {});
  const KernelIndex a = program.Add(1, 4, {p});
  const KernelIndex r = program.Add(0, 4, {a});
  const KernelIndex b = program.Add(1, 1, {r});
  EXPECT_EQ(program.Run({1, 0, 1, 0, 1}).seconds, 10);
  EXPECT_THAT(
      program.step.kernels,
      ElementsAre(Kernel{p, 1, 0, 0}, Kernel{busy, 0, 0, 10},
                  Kernel{a, 1, 0, 1}, Kernel{r, 0, 5, 5}, Kernel{b, 1, 9, 10}));
}

TEST(StepSimulatorTest, EachKindOfDeviceHasItsTimes) {
  Program program;
  program.cluster.accelerators[0].launch_seconds = 0.5;
  program.cluster.cpus = {
      {.count = 1, .flops_per_second = 0.25, .bytes_per_second = 1}};
  program.Add(2, 1, {});
  EXPECT_EQ(program.Run({2}).seconds, 2.5);
  EXPECT_EQ(program.Run({3}).seconds, 8);
}

TEST(StepSimulatorTest, ResultsAreReleasedAfterTheLastUse) {
  Program program;
  const KernelIndex a = program.Add(1, 10, {});
  const KernelIndex b = program.Add(1, 20, {a});
  program.Add(1, 5, {b});
  EXPECT_THAT(program.Run({0, 0, 0}).peak_bytes, ElementsAre(30, 0, 0));
  EXPECT_THAT(program.step.memory,
              ElementsAre(Memory{0, 0, 10}, Memory{1, 0, 0}, Memory{2, 0, 0},
                          Memory{0, 1, 30}, Memory{0, 2, 25}));
  program.nodes[a].is_output = true;
  EXPECT_THAT(program.Run({0, 0, 0}).peak_bytes, ElementsAre(35, 0, 0));
}

TEST(StepSimulatorTest, WhatNobodyReadsStays) {
  Program program;
  program.Add(1, 10, {});
  program.Add(1, 20, {});
  EXPECT_THAT(program.Run({0, 0}).peak_bytes, ElementsAre(30, 0, 0));
}

TEST(StepSimulatorTest, CopiesTakeMemoryFromTheStartOfTheirTransfer) {
  Program program;
  const KernelIndex a = program.Add(1, 10, {});
  const KernelIndex b = program.Add(1, 4, {});
  program.Add(1, 1, {a});
  program.Add(1, 2, {b});
  program.Run({0, 0, 1, 1});
  // a is sent from 1 to 11, b from 11 to 15; the readers follow at once.
  EXPECT_THAT(program.step.memory,
              ElementsAre(Memory{0, 0, 10}, Memory{1, 0, 0}, Memory{2, 0, 0},
                          Memory{0, 1, 14}, Memory{1, 1, 10}, Memory{0, 11, 4},
                          Memory{1, 11, 10 + 4 + 1}, Memory{1, 12, 4 + 1},
                          Memory{0, 15, 0}, Memory{1, 15, 4 + 1 + 2}));
}

TEST(StepSimulatorTest, MemoryThatIsInUseForNoTimeDoesNotCount) {
  Program program;
  const KernelIndex r = program.Add(0, 60, {});
  const KernelIndex s = program.Add(0, 30, {r});
  program.Add(1, 1, {s});
  EXPECT_THAT(program.Run({0, 0, 0}).peak_bytes, ElementsAre(31, 0, 0));
}

TEST(StepSimulatorTest, WeightsAreOnEachDeviceThatHoldsThem) {
  Program program;
  const KernelIndex a = program.Add(0, 4, {});
  for (int i = 0; i < 3; ++i) {
    program.nodes[program.Add(1, 1, {a})].opcode = "negate";
  }
  program.nodes[a].parameter_bytes = 40;
  program.nodes[3].parameter_bytes = 8;
  program.fused[a] = 1;  // in all three
  EXPECT_THAT(program.Run({0, 0, 1}).peak_bytes,
              ElementsAre(40 + 2, 40 + 8 + 1, 0));
}

TEST(StepSimulatorTest, BytesOverTheMemoryAreCounted) {
  Program program;
  program.Add(1, 150, {});
  program.Add(1, 120, {});
  program.Add(1, 100, {});
  const StepResult result = program.Run({0, 1, 2});
  EXPECT_EQ(result.excess_bytes, 50 + 20);
  EXPECT_EQ(result.worst_excess, 0.5);
  EXPECT_EQ(program.Run({2, 2, 2}).excess_bytes, 270);
  program.nodes[0].output_bytes = program.nodes[1].output_bytes = 100;
  EXPECT_EQ(program.Run({0, 1, 2}).excess_bytes, 0);
  EXPECT_EQ(program.Run({0, 1, 2}).worst_excess, 0);
}

}  // namespace
}  // namespace hone::backends
