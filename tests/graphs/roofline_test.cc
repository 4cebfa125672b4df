#include "graphs/roofline.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace hone::graphs {
namespace {

using ::hone::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Cluster Both() {
  return {.accelerators = {{.count = 2,
                            .flops_per_second = 1e12,
                            .bytes_per_second = 1e11,
                            .launch_seconds = 1e-3,
                            .memory_bytes = 1e6}},
          .cpus = {{.count = 1,
                    .flops_per_second = 1e10,
                    .bytes_per_second = 1e10,
                    .launch_seconds = 0}},
          .link = {1e10, 1e-3}};
}

OpGraph Graph() {
  return *OpGraph::Create({{7, "p", "parameter", 0, 0, 500, 500},
                           {8, "dot", "dot", 2e9, 1e8, 1e5, 300},
                           {9, "add", "add", 1e6, 1e9, 0, 0},
                           {3, "all", "after-all", 0, 0, 0, 0}},
                          {{7, 8, 500}, {8, 9, 1e5}, {8, 3, 0}, {7, 9, 100}});
}

TEST(RooflineTest, TimesAreThoseOfTheSlowerOfComputingAndMoving) {
  HONE_ASSERT_OK_AND_ASSIGN(const DeviceGraph graph,
                            MakeDeviceGraph(Graph(), Both()));
  EXPECT_EQ(graph.limits(), (DeviceLimits{1e6, 2, 1}));
  EXPECT_THAT(
      graph.nodes(),
      ElementsAre(DeviceNode{.id = 7, .name = "p", .size_bytes = 500},
                  // 2 ms of flops against 1 of bytes; on the CPU 200 and 10.
                  DeviceNode{.id = 8,
                             .name = "dot",
                             .accelerator_latency = 3,
                             .cpu_latency = 200,
                             .size_bytes = 1e5 + 300},
                  DeviceNode{.id = 9,
                             .name = "add",
                             .accelerator_latency = 11,
                             .cpu_latency = 100},
                  DeviceNode{.id = 3, .name = "all"}));
}

TEST(RooflineTest, TheCostOfASourceIsThatOfItsLargestEdge) {
  HONE_ASSERT_OK_AND_ASSIGN(const DeviceGraph graph,
                            MakeDeviceGraph(Graph(), Both()));
  const double of_p = 1e3 * (1e-3 + 500 / 1e10);
  const double of_dot = 1e3 * (1e-3 + 1e5 / 1e10);
  EXPECT_THAT(graph.edges(),
              ElementsAre(DeviceEdge{7, 8, of_p}, DeviceEdge{8, 9, of_dot},
                          DeviceEdge{8, 3, of_dot}, DeviceEdge{7, 9, of_p}));
}

TEST(RooflineTest, AMissingKindHasTheLatenciesOfTheOther) {
  Cluster cluster = Both();
  cluster.cpus = {};
  HONE_ASSERT_OK_AND_ASSIGN(const DeviceGraph accelerators,
                            MakeDeviceGraph(Graph(), cluster));
  EXPECT_EQ(accelerators.limits().cpus, 0);
  EXPECT_EQ(accelerators.node(1).cpu_latency, 3);
  cluster = Both();
  cluster.accelerators = {};
  HONE_ASSERT_OK_AND_ASSIGN(const DeviceGraph cpus,
                            MakeDeviceGraph(Graph(), cluster));
  EXPECT_EQ(cpus.limits().accelerators, 0);
  EXPECT_EQ(cpus.node(1).accelerator_latency, 200);
}

TEST(RooflineTest, OneKindOfEachAndOneLinkIsAllThatTheFormatCanSay) {
  Cluster several = Both();
  several.accelerators.push_back(several.accelerators[0]);
  Cluster linked = Both();
  linked.accelerators[0].link = Link{1e11, 0};
  for (const Cluster& cluster : {several, linked}) {
    EXPECT_THAT(MakeDeviceGraph(Graph(), cluster),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("expected one of each for max-load")));
  }
}

TEST(RooflineTest, ANodeThatFitsNowhereIsNamed) {
  Cluster cluster = Both();
  cluster.accelerators[0].memory_bytes = 1e5;
  HONE_EXPECT_OK(MakeDeviceGraph(Graph(), cluster));
  cluster.cpus = {};
  EXPECT_THAT(MakeDeviceGraph(Graph(), cluster),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("node 'dot' takes 100300 bytes"),
                             HasSubstr("expected at most 100000"))));
}

}  // namespace
}  // namespace hone::graphs
