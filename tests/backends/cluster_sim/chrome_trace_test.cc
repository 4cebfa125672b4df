#include "backends/cluster_sim/chrome_trace.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "backends/cluster_sim/timeline.h"
#include "graphs/cluster.h"
#include "graphs/op_graph.h"
#include "graphs/step/device_times.h"
#include "graphs/step/fusion_rules.h"
#include "graphs/step/kernel_graph.h"

namespace hone::backends {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Json = nlohmann::json;

// The trace of a chain of two kernels and a reshape, each on the other device.
class ChromeTraceTest : public ::testing::Test {
 protected:
  ChromeTraceTest() {
    nodes_ = {{.id = 0,
               .name = "first",
               .opcode = "dot",
               .flops = 0.25,
               .output_bytes = 8,
               .scope = "layer1"},
              {.id = 1, .name = "view", .opcode = "reshape", .output_bytes = 8},
              {.id = 2,
               .name = "last",
               .opcode = "dot",
               .flops = 0.5,
               .output_bytes = 4}};
  }

  void Trace(const std::vector<int32_t>& devices) {
    graphs::Cluster cluster;
    cluster.accelerators = {{.count = 2,
                             .flops_per_second = 1,
                             .bytes_per_second = 1e9,
                             .memory_bytes = 100}};
    cluster.link = {64, 0};
    const graphs::OpGraph graph =
        *graphs::OpGraph::Create(nodes_, {{0, 1, 8}, {1, 2, 8}});
    graphs::FusionRules rules(graph);
    const graphs::DeviceTimes times = *graphs::DeviceTimes::Create(cluster);
    const graphs::KernelGraph kernels(rules, graphs::Fusion(3, 0), times);
    StepSimulator(kernels, times)
        .Run(devices, std::vector<uint64_t>(3, 0), &timeline_);
    text_ = PrintChromeTrace(timeline_, graph, kernels, 2);
    const Json trace = Json::parse(text_, nullptr, false);
    ASSERT_FALSE(trace.is_discarded()) << text_;
    for (const Json& event : trace["traceEvents"]) events_.push_back(event);
  }

  std::vector<Json> Where(const std::string& field,
                          const std::string& value) const {
    std::vector<Json> found;
    for (const Json& event : events_) {
      if (event.value(field, "") == value) found.push_back(event);
    }
    return found;
  }

  std::vector<graphs::OpNode> nodes_;
  Timeline timeline_;
  std::string text_;
  std::vector<Json> events_;
};

TEST_F(ChromeTraceTest, KernelsAreSlicesOfTheirDevice) {
  Trace({0, 0, 1});
  EXPECT_THAT(Where("cat", "kernel"), ElementsAre(Json({{"name", "first"},
                                                        {"cat", "kernel"},
                                                        {"ph", "X"},
                                                        {"pid", 1},
                                                        {"tid", 0},
                                                        {"ts", 0.0},
                                                        {"dur", 250e3},
                                                        {"args",
                                                         {{"opcode", "dot"},
                                                          {"scope", "layer1"},
                                                          {"flops", 0.25},
                                                          {"bytes", 0.0}}}}),
                                                  Json({{"name", "last"},
                                                        {"cat", "kernel"},
                                                        {"ph", "X"},
                                                        {"pid", 2},
                                                        {"tid", 0},
                                                        {"ts", 375e3},
                                                        {"dur", 500e3},
                                                        {"args",
                                                         {{"opcode", "dot"},
                                                          {"scope", ""},
                                                          {"flops", 0.5},
                                                          {"bytes", 0.0}}}})));
  // The reshape takes no time.
  EXPECT_THAT(timeline_.kernels(), SizeIs(3));
}

TEST_F(ChromeTraceTest, TransfersAreSlicesOfTheirLink) {
  Trace({1, 1, 0});
  EXPECT_THAT(
      Where("cat", "transfer"),
      ElementsAre(Json({{"name", "view"},
                        {"cat", "transfer"},
                        {"ph", "X"},
                        {"pid", 3},
                        {"tid", 0},
                        {"ts", 250e3},
                        {"dur", 125e3},
                        {"args", {{"from", 1}, {"to", 0}, {"bytes", 8.0}}}})));
  std::vector<std::string> names;
  for (const Json& event : Where("name", "thread_name")) {
    names.push_back(event["args"]["name"]);
  }
  EXPECT_THAT(names, ElementsAre("kernels", "kernels", "device 1 to device 0"));
  names.clear();
  for (const Json& event : Where("name", "process_name")) {
    names.push_back(event["args"]["name"]);
  }
  EXPECT_THAT(names, ElementsAre("device 0", "device 1", "links"));
}

TEST_F(ChromeTraceTest, OneDeviceHasNoLinks) {
  Trace({1, 1, 1});
  EXPECT_THAT(Where("cat", "transfer"), IsEmpty());
  EXPECT_THAT(Where("name", "process_name"), SizeIs(2));
}

TEST_F(ChromeTraceTest, MemoryIsACounterOfEachDevice) {
  Trace({0, 0, 1});
  const std::vector<Json> counters = Where("name", "memory");
  ASSERT_THAT(counters, SizeIs(timeline_.memory().size()));
  for (size_t i = 0; i < counters.size(); ++i) {
    const Timeline::MemorySample& sample = timeline_.memory()[i];
    EXPECT_EQ(counters[i], Json({{"name", "memory"},
                                 {"ph", "C"},
                                 {"pid", 1 + sample.device},
                                 {"ts", sample.seconds * 1e6},
                                 {"args", {{"bytes", sample.bytes}}}}));
  }
}

TEST_F(ChromeTraceTest, DurationsAddUpToThoseOfTheTimeline) {
  Trace({0, 1, 0});
  double kernels = 0, transfers = 0;
  for (const Timeline::Kernel& kernel : timeline_.kernels()) {
    kernels += kernel.end_seconds - kernel.begin_seconds;
  }
  for (const Timeline::Transfer& transfer : timeline_.transfers()) {
    transfers += transfer.end_seconds - transfer.begin_seconds;
  }
  for (const Json& event : Where("cat", "kernel")) {
    kernels -= event["dur"].get<double>() / 1e6;
  }
  for (const Json& event : Where("cat", "transfer")) {
    transfers -= event["dur"].get<double>() / 1e6;
  }
  EXPECT_NEAR(kernels, 0, 1e-12);
  EXPECT_NEAR(transfers, 0, 1e-12);
  EXPECT_THAT(Where("cat", "transfer"), SizeIs(timeline_.transfers().size()));
}

TEST_F(ChromeTraceTest, NamesMayHoldAnything) {
  nodes_[0].name = "quote \" back \\ line \n end";
  nodes_[2].name = "not UTF-8 \xff";
  Trace({0, 0, 0});
  const std::vector<Json> kernels = Where("cat", "kernel");
  ASSERT_THAT(kernels, SizeIs(2));
  EXPECT_EQ(kernels[0]["name"], nodes_[0].name);
  EXPECT_EQ(kernels[1]["name"], "not UTF-8 \xef\xbf\xbd");
}

}  // namespace
}  // namespace hone::backends
