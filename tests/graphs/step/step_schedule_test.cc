#include "graphs/step/step_schedule.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/op_graph_json.h"
#include "graphs/step/partial_schedule.h"
#include "tests/graphs/step/random_cluster.h"
#include "tests/graphs/step/random_op_graph.h"
#include "tests/graphs/step/sample_kernels.h"
#include "tests/graphs/step/schedule_by_definition.h"

namespace hone::graphs {
namespace {

using ::hone::testing::EarliestFirstByDefinition;
using ::hone::testing::HeftByDefinition;
using ::hone::testing::ProblemOf;
using ::hone::testing::RandomCluster;
using ::hone::testing::RandomFusion;
using ::hone::testing::RandomOpGraph;
using ::hone::testing::SampleEdge;
using ::hone::testing::SampleKernel;
using ::hone::testing::SampleKernels;
using ::hone::testing::ScheduleByDefinition;
using ::hone::testing::ScheduleProblem;
using ::hone::testing::UpwardRanksByDefinition;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::Pointwise;

constexpr ListScheduleOptions kPlain = {};

// The example of Topcuoglu, Hariri and Wu, 2002: figure 2, its computation
// costs, and the schedule and ranks that they give for it.
constexpr size_t kPaperTasks = 10;
constexpr double kPaperSeconds[kPaperTasks][3] = {
    {14, 16, 9}, {13, 19, 18}, {11, 13, 19}, {13, 8, 17},  {12, 13, 10},
    {13, 16, 9}, {7, 15, 11},  {5, 11, 14},  {18, 12, 20}, {21, 7, 16}};
const std::vector<SampleEdge> kPaperEdges = {
    {0, 1, 18}, {0, 2, 12}, {0, 3, 9},  {0, 4, 11}, {0, 5, 14},
    {1, 7, 19}, {1, 8, 16}, {2, 6, 23}, {3, 7, 27}, {3, 8, 23},
    {4, 8, 13}, {5, 7, 15}, {6, 9, 17}, {7, 9, 11}, {8, 9, 13}};
constexpr double kPaperRanks[kPaperTasks] = {
    108, 77, 80, 80, 69, 190.0 / 3, 128.0 / 3, 107.0 / 3, 133.0 / 3, 44.0 / 3};

ScheduleProblem ProblemOfPaper() {
  ScheduleProblem problem;
  for (size_t task = 0; task < kPaperTasks; ++task) {
    problem.seconds.emplace_back(std::begin(kPaperSeconds[task]),
                                 std::end(kPaperSeconds[task]));
    problem.topological_order.push_back(task);
  }
  problem.inputs.resize(kPaperTasks);
  for (const SampleEdge& edge : kPaperEdges) {
    problem.inputs[edge.to].push_back({edge.from, edge.bytes});
  }
  problem.transfer = [](size_t, size_t, double bytes) { return bytes; };
  problem.mean_transfer = [](double bytes) { return bytes; };
  problem.has_channels = false;
  problem.memory.assign(3, std::numeric_limits<double>::infinity());
  problem.output_bytes.assign(kPaperTasks, 0);
  problem.is_output.assign(kPaperTasks, false);
  return problem;
}

// The definition that all else is compared with is HEFT.
TEST(StepScheduleTest, TheDefinitionGivesTheScheduleOfThePaper) {
  const ScheduleProblem problem = ProblemOfPaper();
  EXPECT_THAT(UpwardRanksByDefinition(problem, true),
              Pointwise(DoubleNear(1e-9), kPaperRanks));
  const ScheduleByDefinition schedule = HeftByDefinition(problem, kPlain);
  EXPECT_THAT(schedule.Schedule().devices,
              ElementsAre(2, 0, 2, 1, 2, 1, 2, 0, 1, 1));
  const double finish[] = {9, 40, 28, 26, 38, 42, 49, 62, 68, 80};
  for (size_t task = 0; task < kPaperTasks; ++task) {
    EXPECT_EQ(schedule.scheduled(task)->finish, finish[task]) << task;
  }
}

// Ranks know nothing of devices but their means, so equal devices that take the
// mean of the three have the same.
TEST(StepScheduleTest, UpwardRanksAreThoseOfThePaper) {
  std::vector<SampleKernel> kernels;
  for (const auto& seconds : kPaperSeconds) {
    kernels.push_back({.first = (seconds[0] + seconds[1] + seconds[2]) / 3});
  }
  const SampleKernels sample(
      SampleKernels::ClusterOf({SampleKernels::First(3)}), kernels,
      kPaperEdges);
  EXPECT_THAT(UpwardRanks(sample.kernels(), sample.times(), true),
              Pointwise(DoubleNear(1e-6), kPaperRanks));
}

// Random kernels, with what they are scheduled on.
struct RandomKernels {
  explicit RandomKernels(uint64_t seed)
      : rng(seed),
        graph(RandomOpGraph(rng, 1 + rng.Below(40))),
        cluster(RandomCluster(rng)),
        times(*DeviceTimes::Create(cluster)),
        rules(graph),
        kernels(rules, RandomFusion(rng, rules), times),
        problem(ProblemOf(kernels, times)) {}

  std::string Text() const {
    return PrintOpGraph(graph) + PrintCluster(cluster);
  }

  Rng rng;
  OpGraph graph;
  Cluster cluster;
  DeviceTimes times;
  FusionRules rules;
  KernelGraph kernels;
  ScheduleProblem problem;
};

// Random kernels whose times on two kinds of devices have nothing to do with
// each other, small integers all.
SampleKernels RandomSample(Rng& rng) {
  const size_t size = 1 + rng.Below(30);
  const auto memory = [&] { return static_cast<double>(10 + rng.Below(60)); };
  const Cluster cluster = SampleKernels::ClusterOf(
      {SampleKernels::First(static_cast<int32_t>(1 + rng.Below(2)), memory()),
       SampleKernels::Second(static_cast<int32_t>(1 + rng.Below(2)),
                             memory())});
  std::vector<SampleKernel> kernels;
  std::vector<SampleEdge> edges;
  for (size_t i = 0; i < size; ++i) {
    SampleKernel& kernel = kernels.emplace_back();
    for (uint64_t count = i == 0 ? 0 : rng.Below(4); count > 0; --count) {
      const size_t from = i - 1 - rng.Below(std::min(i, size_t{8}));
      const bool is_new =
          std::none_of(edges.begin(), edges.end(), [&](const SampleEdge& edge) {
            return edge.from == from && edge.to == i;
          });
      // Some read only a part.
      if (!is_new) continue;
      const double all = kernels[from].output_bytes;
      edges.push_back({from, i, rng.Below(4) == 0 ? 1 : all});
    }
    kernel.output_bytes = static_cast<double>(1 + rng.Below(9));
    kernel.is_output = rng.Below(8) == 0;
    if (rng.Below(3) == 0) {
      kernel.weight_bytes = static_cast<double>(1 + rng.Below(5));
    }
    if (rng.Below(5) == 0) continue;  // takes no time
    kernel.first = static_cast<double>(1 + rng.Below(12));
    kernel.second = static_cast<double>(1 + rng.Below(12));
  }
  return SampleKernels(cluster, kernels, edges);
}

// Calls `check` with random kernels of both kinds.
template <typename Check>
void ForEachRandom(uint64_t count, const Check& check) {
  for (uint64_t seed = 0; seed < count; ++seed) {
    {
      const RandomKernels random(seed);
      SCOPED_TRACE(absl::StrCat("seed ", seed, "\n", random.Text()));
      check(random.kernels, random.times, random.problem);
    }
    Rng rng(seed);
    const SampleKernels sample = RandomSample(rng);
    SCOPED_TRACE(absl::StrCat("sample of seed ", seed, "\n",
                              PrintOpGraph(sample.graph())));
    check(sample.kernels(), sample.times(),
          ProblemOf(sample.kernels(), sample.times()));
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(StepScheduleTest, UpwardRanksAreTheLongestPaths) {
  ForEachRandom(300, [](const KernelGraph& kernels, const DeviceTimes& times,
                        const ScheduleProblem& problem) {
    for (const bool transfers : {false, true}) {
      const std::vector<double> ranks = UpwardRanks(kernels, times, transfers);
      const std::vector<double> expected =
          UpwardRanksByDefinition(problem, transfers);
      ASSERT_EQ(ranks.size(), expected.size());
      for (size_t k = 0; k < ranks.size(); ++k) {
        EXPECT_DOUBLE_EQ(ranks[k], expected[k]);
      }
    }
  });
}

// Each kernel on its device alone, and transfers only between different ones.
TEST(StepScheduleTest, PlacedRanksAreTheLongestPathsOfAPlacement) {
  Rng rng(1);
  ForEachRandom(300, [&](const KernelGraph& kernels, const DeviceTimes& times,
                         const ScheduleProblem& problem) {
    std::vector<int32_t> devices;
    for (size_t k = 0; k < kernels.size(); ++k) {
      devices.push_back(static_cast<int32_t>(rng.Below(problem.devices())));
    }
    const std::vector<double> ranks = PlacedRanks(kernels, times, devices);
    ASSERT_EQ(ranks.size(), kernels.size());
    const auto device = [&](size_t task) {
      return static_cast<size_t>(devices[task]);
    };
    for (size_t task = 0; task < kernels.size(); ++task) {
      double after = 0;
      for (const size_t reader : problem.ReadersOf(task)) {
        double between = 0;
        for (const ScheduleProblem::Input& input : problem.inputs[reader]) {
          if (input.task == task && device(reader) != device(task)) {
            between =
                problem.transfer(device(task), device(reader), input.bytes);
          }
        }
        after = std::max(after, between + ranks[reader]);
      }
      EXPECT_DOUBLE_EQ(ranks[task],
                       problem.seconds[task][device(task)] + after);
    }
  });
}

// All kernels are on devices, and in an order in which they could start.
void CheckIsSchedule(const KernelGraph& kernels, const DeviceTimes& times,
                     const StepSchedule& schedule) {
  ASSERT_EQ(schedule.devices.size(), kernels.size());
  ASSERT_EQ(schedule.order.size(), kernels.size());
  for (const int32_t device : schedule.devices) {
    EXPECT_GE(device, 0);
    EXPECT_LT(device, times.device_count());
  }
  std::vector<bool> started(kernels.size());
  for (const KernelIndex kernel : schedule.order) {
    for (const KernelIndex input : kernels.inputs(kernel)) {
      EXPECT_TRUE(started[input]) << input << " before " << kernel;
    }
    EXPECT_FALSE(started[kernel]) << kernel;
    started[kernel] = true;
  }
}

// No two tasks share a device at a time, nor transfers a channel, and tasks
// start when all that they read is there.
void CheckTimes(const ScheduleProblem& problem,
                const ScheduleByDefinition& schedule) {
  for (size_t a = 0; a < problem.tasks(); ++a) {
    if (!schedule.scheduled(a)) continue;
    const hone::testing::ScheduledTask& task = *schedule.scheduled(a);
    for (size_t b = a + 1; b < problem.tasks(); ++b) {
      if (!schedule.scheduled(b)) continue;
      const hone::testing::ScheduledTask& other = *schedule.scheduled(b);
      EXPECT_TRUE(task.device != other.device || task.start == task.finish ||
                  other.start == other.finish || task.finish <= other.start ||
                  other.finish <= task.start)
          << a << " beside " << b;
    }
    for (const ScheduleProblem::Input& input : problem.inputs[a]) {
      ASSERT_TRUE(schedule.scheduled(input.task));
      const hone::testing::ScheduledTask& from =
          *schedule.scheduled(input.task);
      EXPECT_GE(task.start, from.finish);
      if (from.device == task.device) continue;
      const auto arrival = std::find_if(
          schedule.transfers().begin(), schedule.transfers().end(),
          [&](const hone::testing::Transfer& transfer) {
            return transfer.task == input.task && transfer.to == task.device;
          });
      ASSERT_NE(arrival, schedule.transfers().end());
      EXPECT_GE(task.start, arrival->end) << a << " before its input";
    }
  }
  for (const hone::testing::Transfer& a : schedule.transfers()) {
    EXPECT_GE(a.begin, schedule.scheduled(a.task)->finish);
    for (const hone::testing::Transfer& b : schedule.transfers()) {
      EXPECT_TRUE(&a == &b || a.from != b.from || a.to != b.to ||
                  a.end <= b.begin || b.end <= a.begin);
    }
  }
}

void ExpectSame(const StepSchedule& found, const StepSchedule& expected) {
  EXPECT_THAT(found.devices, ElementsAreArray(expected.devices));
  EXPECT_THAT(found.order, ElementsAreArray(expected.order));
}

TEST(StepScheduleTest, HeftIsThatOfTheDefinition) {
  int looked_ahead = 0;
  int inserted = 0;
  int ranked = 0;
  ForEachRandom(200, [&](const KernelGraph& kernels, const DeviceTimes& times,
                         const ScheduleProblem& problem) {
    StepSchedule found[16];
    for (int i = 0; i < 16; ++i) {
      const ListScheduleOptions options = {.rank = static_cast<ListRank>(i / 4),
                                           .looks_ahead = i % 2 == 1,
                                           .inserts = i / 2 % 2 == 1};
      SCOPED_TRACE(absl::StrCat("variant ", i));
      found[i] = ScheduleByRank(kernels, times, options);
      CheckIsSchedule(kernels, times, found[i]);
      const ScheduleByDefinition expected = HeftByDefinition(problem, options);
      CheckTimes(problem, expected);
      ExpectSame(found[i], expected.Schedule());
    }
    looked_ahead += found[0].devices != found[1].devices ? 1 : 0;
    inserted += found[0].order != found[2].order ? 1 : 0;
    ranked += found[0].order != found[12].order ? 1 : 0;
  });
  EXPECT_GT(looked_ahead, 50);
  EXPECT_GT(inserted, 50);
  EXPECT_GT(ranked, 50);
}

TEST(StepScheduleTest, TheEarliestComesFirst) {
  int waited = 0;
  ForEachRandom(400, [&](const KernelGraph& kernels, const DeviceTimes& times,
                         const ScheduleProblem& problem) {
    StepSchedule found[2];
    for (const bool favorites : {false, true}) {
      SCOPED_TRACE(absl::StrCat("favorites ", favorites));
      found[favorites] = ScheduleEarliestFirst(kernels, times, favorites);
      CheckIsSchedule(kernels, times, found[favorites]);
      const ScheduleByDefinition expected =
          EarliestFirstByDefinition(problem, favorites);
      CheckTimes(problem, expected);
      ExpectSame(found[favorites], expected.Schedule());
    }
    waited += found[0].devices != found[1].devices ? 1 : 0;
  });
  EXPECT_GT(waited, 50);
}

// Kernels anywhere, each after its inputs.
TEST(PartialScheduleTest, IsThatOfTheDefinition) {
  int64_t full = 0;
  int64_t gaps = 0;
  Rng rng(2);
  ForEachRandom(200, [&](const KernelGraph& kernels, const DeviceTimes& times,
                         const ScheduleProblem& problem) {
    PartialSchedule schedule(kernels, times);
    ScheduleByDefinition expected(problem);
    for (KernelIndex k = 0; k < kernels.size(); ++k) {
      EXPECT_EQ(schedule.is_scheduled(k), !expected.follows(k));
    }
    for (std::vector<size_t> ready = expected.Ready(); !ready.empty();
         ready = expected.Ready()) {
      const size_t task = ready[rng.Below(ready.size())];
      const auto kernel = static_cast<KernelIndex>(task);
      for (size_t d = 0; d < problem.devices(); ++d) {
        const auto device = static_cast<int32_t>(d);
        double starts[2];
        for (const bool inserts : {false, true}) {
          starts[inserts] = schedule.EarliestStart(kernel, device, inserts);
          EXPECT_EQ(starts[inserts], expected.EarliestStart(task, d, inserts));
        }
        gaps += starts[1] < starts[0] ? 1 : 0;
        EXPECT_EQ(schedule.Fits(kernel, device), expected.Fits(task, d));
        full += expected.Fits(task, d) ? 0 : 1;
        EXPECT_EQ(schedule.last(device),
                  expected.Last(d).value_or(PartialSchedule::kNone));
        if (times.memory_bytes(device) < 1e100) {
          EXPECT_NEAR(schedule.free_bytes(device), expected.FreeBytes(d), 1e-3);
        }
      }
      const size_t d = rng.Below(problem.devices());
      const auto device = static_cast<int32_t>(d);
      const double start = expected.EarliestStart(task, d, rng.Below(2) == 0);
      for (const size_t reader : problem.ReadersOf(task)) {
        const size_t other = rng.Below(problem.devices());
        const double finish = start + problem.seconds[task][d];
        EXPECT_EQ(schedule.StartAfter(static_cast<KernelIndex>(reader),
                                      static_cast<int32_t>(other), kernel,
                                      device, finish),
                  expected.StartAfter(reader, other, task, d, finish));
      }
      schedule.Add(kernel, device, start);
      expected.Add(task, d, start);
    }
    CheckTimes(problem, expected);
    CheckIsSchedule(kernels, times, schedule.Finish());
    ExpectSame(schedule.Finish(), expected.Schedule());
  });
  EXPECT_GT(full, 1000);
  EXPECT_GT(gaps, 500);
}

Cluster OneOfEach() {
  return SampleKernels::ClusterOf(
      {SampleKernels::First(1), SampleKernels::Second(1)});
}

TEST(StepScheduleTest, HeftStartsKernelsInGapsIfAsked) {
  // x runs on the first device until 1, y on the second from 3 to 6, z on the
  // first from 8. w comes last, and fits between x and z.
  const SampleKernels sample(OneOfEach(),
                             {{1, 100}, {100, 3}, {5, 100}, {4, 100}},
                             {{0, 1, 2}, {1, 2, 2}});
  const StepSchedule inserted =
      ScheduleByRank(sample.kernels(), sample.times(), {.inserts = true});
  EXPECT_THAT(inserted.devices, ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(inserted.order, ElementsAre(0, 3, 1, 2));
  const StepSchedule appended =
      ScheduleByRank(sample.kernels(), sample.times(), {.inserts = false});
  EXPECT_THAT(appended.devices, ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(appended.order, ElementsAre(0, 1, 2, 3));
}

TEST(StepScheduleTest, HeftLooksAheadIfAsked) {
  // The first kernel is done sooner on the second device, but then the other
  // has to wait for the transfer.
  const SampleKernels sample(OneOfEach(), {{3, 2}, {1, 50}}, {{0, 1, 10}});
  EXPECT_THAT(ScheduleByRank(sample.kernels(), sample.times(), kPlain).devices,
              ElementsAre(1, 0));
  EXPECT_THAT(
      ScheduleByRank(sample.kernels(), sample.times(), {.looks_ahead = true})
          .devices,
      ElementsAre(0, 0));
}

TEST(StepScheduleTest, TransfersOfOneChannelFollowEachOther) {
  // Both results are on the first device at 2. They reach the second at 7 and
  // 12, where the third kernel would finish at 13; on the first it does at 11.
  const SampleKernels sample(OneOfEach(), {{1, 100}, {1, 100}, {9, 1}},
                             {{0, 2, 5}, {1, 2, 5}});
  for (const bool inserts : {false, true}) {
    EXPECT_THAT(
        ScheduleByRank(sample.kernels(), sample.times(), {.inserts = inserts})
            .devices,
        ElementsAre(0, 0, 0));
  }
}

TEST(StepScheduleTest, DevicesWaitForFavoriteChildren) {
  // The first kernel sends most to the last, which lacks the fourth. So its
  // device would rather wait than run the third, which goes to the other one.
  const SampleKernels sample(
      SampleKernels::ClusterOf({SampleKernels::First(2)}),
      {{.first = 1}, {.first = 4}, {.first = 20}, {.first = 4}, {.first = 5}},
      {{0, 4, 10}, {0, 2, 1}, {1, 3, 3}, {3, 4, 1}});
  EXPECT_THAT(
      ScheduleEarliestFirst(sample.kernels(), sample.times(), false).devices,
      ElementsAre(0, 1, 0, 1, 1));
  EXPECT_THAT(
      ScheduleEarliestFirst(sample.kernels(), sample.times(), true).devices,
      ElementsAre(0, 1, 1, 0, 0));
}

// Of many ready kernels those of the highest levels start first.
// Longer than a stack is deep.
TEST(StepScheduleTest, LongChainsFollowWhatReadsThem) {
  constexpr int64_t kLength = 100'000;
  std::vector<OpNode> nodes = {{.id = 0, .opcode = "parameter"}};
  std::vector<OpEdge> edges;
  for (int64_t i = 1; i <= kLength; ++i) {
    nodes.push_back({.id = i, .opcode = "reshape"});
    edges.push_back({i - 1, i, 8});
  }
  nodes.push_back({.id = kLength + 1, .opcode = "dot", .flops = 1e9});
  edges.push_back({kLength, kLength + 1, 8});
  const OpGraph graph = *OpGraph::Create(nodes, edges);
  const DeviceTimes times =
      *DeviceTimes::Create(SampleKernels::ClusterOf({SampleKernels::First(2)}));
  FusionRules rules(graph);
  const KernelGraph kernels(rules, Fusion(graph.size()), times);
  for (const StepSchedule& schedule :
       {ScheduleByRank(kernels, times, {.looks_ahead = true}),
        ScheduleEarliestFirst(kernels, times, true)}) {
    EXPECT_EQ(schedule.devices,
              std::vector<int32_t>(kernels.size(), schedule.devices[0]));
  }
}

TEST(StepScheduleTest, AllOfManyReadyKernelsAreScheduled) {
  std::vector<SampleKernel> kernels;
  for (int i = 0; i < 100; ++i) {
    kernels.push_back({.first = static_cast<double>(1 + i * 37 % 100)});
  }
  const SampleKernels sample(
      SampleKernels::ClusterOf({SampleKernels::First(1)}), kernels, {});
  const StepSchedule schedule =
      ScheduleEarliestFirst(sample.kernels(), sample.times(), false);
  CheckIsSchedule(sample.kernels(), sample.times(), schedule);
  for (size_t i = 1; i < kernels.size(); ++i) {
    EXPECT_GT(kernels[schedule.order[i - 1]].first,
              kernels[schedule.order[i]].first);
  }
}

// Kernels go where they finish first as long as there is memory.
TEST(StepScheduleTest, FullDevicesAreLeftOut) {
  const std::vector<SampleKernel> kernels(
      4, {.first = 1, .second = 100, .output_bytes = 10, .is_output = true});
  const auto devices_of = [&](double first_bytes, double second_bytes) {
    const SampleKernels sample(
        SampleKernels::ClusterOf({SampleKernels::First(1, first_bytes),
                                  SampleKernels::Second(1, second_bytes)}),
        kernels, {});
    return ScheduleByRank(sample.kernels(), sample.times(), kPlain).devices;
  };
  EXPECT_THAT(devices_of(40, 40), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(devices_of(39, 40), ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(devices_of(20, 40), ElementsAre(0, 0, 1, 1));
  // When both are full, that with the most left.
  EXPECT_THAT(devices_of(10, 15), ElementsAre(0, 1, 1, 0));
}

// A kernel needs memory for what follows it, and for what it reads of a result
// that is sent to it.
TEST(StepScheduleTest, FullDevicesHaveNoMemoryForInputs) {
  const auto device_of = [&](double bytes) {
    // An argument, a reshape of it, and a kernel that would be on the first
    // device; another kernel has to be on the second.
    const SampleKernels sample(
        SampleKernels::ClusterOf(
            {SampleKernels::First(1, bytes), SampleKernels::Second(1, 1000)}),
        {{.weight_bytes = 10},
         {.output_bytes = 10},
         {.first = 90, .second = 100, .output_bytes = 1},
         {.first = 900, .second = 1, .output_bytes = 500}},
        {{0, 1, 10}, {1, 2, 10}, {3, 2, 3}});
    return ScheduleByRank(sample.kernels(), sample.times(), kPlain).devices[2];
  };
  EXPECT_EQ(device_of(10 + 10 + 3 + 1), 0);
  EXPECT_EQ(device_of(10 + 10 + 3), 1);
}

}  // namespace
}  // namespace hone::graphs
