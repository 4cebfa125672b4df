#include "graphs/cluster.h"

#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "graphs/bundled_clusters.h"
#include "tests/support/status_matchers.h"

namespace hone::graphs {
namespace {

using ::hone::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

constexpr char kBoth[] = R"([accelerators]
count = 2
flops_per_second = 1e12
bytes_per_second = 100_000_000_000
memory_bytes = 1e9
launch_seconds = 1e-6
[cpus]
count = 3
flops_per_second = 2e10
bytes_per_second = 3e10
launch_seconds = 0
[link]
bytes_per_second = 1e10
latency_seconds = 2e-6
)";

TEST(ClusterTest, ReadsEveryKey) {
  HONE_ASSERT_OK_AND_ASSIGN(const Cluster cluster,
                            ParseCluster(kBoth, "c.toml"));
  EXPECT_EQ(cluster, (Cluster{.accelerators = {{2, 1e12, 1e11, 1e-6, 1e9}},
                              .cpus = {{3, 2e10, 3e10, 0, kUnlimited}},
                              .link = {1e10, 2e-6}}));
}

TEST(ClusterTest, OneKindOfDeviceIsEnough) {
  const std::string text = kBoth;
  HONE_ASSERT_OK_AND_ASSIGN(
      const Cluster cpus,
      ParseCluster(text.substr(text.find("[cpus]")), "c.toml"));
  EXPECT_TRUE(cpus.accelerators.empty());
  ASSERT_EQ(cpus.cpus.size(), 1u);
  EXPECT_EQ(cpus.cpus[0].count, 3);
  const size_t link = text.find("[link]");
  EXPECT_THAT(ParseCluster(text.substr(link), "c.toml"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(StartsWith("c.toml:1:1: no devices"),
                             HasSubstr("[accelerators] or [cpus]"))));
  EXPECT_THAT(ParseCluster(text.substr(0, link), "c.toml"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("[link] is missing")));
}

TEST(ClusterTest, DevicesOfSeveralKindsHaveTheirLinks) {
  HONE_ASSERT_OK_AND_ASSIGN(
      const Cluster cluster,
      ParseCluster(absl::StrCat(R"(
accelerators = [
  {count=2, flops_per_second=1e12, bytes_per_second=1e11, memory_bytes=1e9, launch_seconds=0, link={bytes_per_second=5e10, latency_seconds=1e-6}},
  {count=1, flops_per_second=1e12, bytes_per_second=1e11, memory_bytes=2e9, launch_seconds=0, host=1},
]
link = {bytes_per_second=1e10, latency_seconds=2e-6}
network = {bytes_per_second=1e9, latency_seconds=3e-5}
)",
                                std::string(kBoth).substr(
                                    std::string(kBoth).find("[cpus]"),
                                    std::string(kBoth).find("[link]") -
                                        std::string(kBoth).find("[cpus]"))),
                   "c.toml"));
  const std::vector<const DeviceKind*> kinds = KindsOfDevices(cluster);
  ASSERT_EQ(kinds.size(), 6u);
  EXPECT_EQ(kinds[2]->memory_bytes, 2e9);
  EXPECT_EQ(kinds[5]->count, 3);
  const auto rate = [&](size_t a, size_t b) {
    EXPECT_EQ(LinkBetween(cluster, *kinds[a], *kinds[b]),
              LinkBetween(cluster, *kinds[b], *kinds[a]));
    return LinkBetween(cluster, *kinds[a], *kinds[b]).bytes_per_second;
  };
  EXPECT_EQ(rate(0, 1), 5e10);
  EXPECT_EQ(rate(0, 2), 1e9);
  EXPECT_EQ(rate(0, 3), 1e10);
  EXPECT_EQ(rate(3, 4), 1e10);
}

TEST(ClusterTest, ErrorsNameFilePlaceKeyAndWhatWasExpected) {
  const auto refused = [](const std::string& from, const std::string& to,
                          const auto& message) {
    const std::string text = absl::StrReplaceAll(kBoth, {{from, to}});
    ASSERT_NE(text, kBoth);
    EXPECT_THAT(ParseCluster(text, "c.toml"),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(message, Not(HasSubstr("\n")))));
  };
  refused("count = 2", "count = 0",
          "c.toml:2:9: bad value of \"count\" in [accelerators], expected an "
          "integer from 1 to 1048576");
  refused("count = 2", "count = 2.0", HasSubstr("expected an integer"));
  refused("count = 3", "count = \"3\"", StartsWith("c.toml:8:9: "));
  refused("= 1e12", "= nan", StartsWith("c.toml:3:20: "));
  refused("= 1e12", "= inf", HasSubstr("a number from 1 to 1e+30"));
  refused("= 1e12", "= 0", HasSubstr("\"flops_per_second\""));
  refused("latency_seconds = 2e-6", "latency_seconds = -1",
          HasSubstr("a number from 0 to 3600"));
  refused("memory_bytes = 1e9\n", "",
          AllOf(StartsWith("c.toml:1:"),
                HasSubstr("[accelerators] has no \"memory_bytes\", expected "
                          "a number")));
  refused("launch_seconds = 0", "launch_seconds = 0\nmemory_bytes = 1e9",
          "c.toml:12:1: unknown key \"memory_bytes\" in [cpus], expected "
          "count, flops_per_second, bytes_per_second, launch_seconds, host, "
          "link");
  refused("count = 2", "count = 2\nhost = -1",
          HasSubstr("bad value of \"host\" in [accelerators], expected an "
                    "integer from 0"));
  refused("count = 2", "count = 2\nlink = {bytes_per_second = 1e9}",
          HasSubstr("[accelerators.link] has no \"latency_seconds\""));
  refused("count = 2", "count = 2\nhost = 1",
          HasSubstr("[network] is missing, expected a table, as there are "
                    "several hosts"));
  refused("[link]", "[links]",
          "c.toml:12:2: unknown table \"links\", expected accelerators, cpus, "
          "link, network");
  refused("[accelerators]", "link = 3\n[accelerators]", HasSubstr("TOML"));
  refused("[link]", "[link",
          AllOf(StartsWith("c.toml:12:"), HasSubstr("expected TOML")));
  EXPECT_THAT(ParseCluster("cpus = 4", "c.toml"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("\"cpus\" is a value, expected a table")));
  EXPECT_THAT(
      ParseCluster(std::string(70'000, ' '), "c.toml"),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(StartsWith("c.toml: 70000 bytes"), HasSubstr("8192"))));
}

TEST(ClusterTest, DeepNestingIsAnError) {
  std::string dotted = "a";
  while (dotted.size() < 8180) dotted += ".a";
  std::string braces = "cpus = ";
  while (braces.size() < 8180) braces += "{a=";
  for (const std::string& text : {dotted + " = 1", "[" + dotted + "]",
                                  "cpus = " + std::string(8000, '['), braces}) {
    EXPECT_THAT(
        ParseCluster(text, "c.toml"),
        StatusIs(absl::StatusCode::kInvalidArgument, StartsWith("c.toml:1:")));
  }
}

TEST(ClusterTest, PrintingIsExactAndTakesNoSeparatorOfKeys) {
  Rng rng(3);
  for (int round = 0; round < 500; ++round) {
    const auto draw_kind = [&] {
      DeviceKind kind = {.count = 1 + static_cast<int32_t>(rng.Below(9)),
                         .flops_per_second = 1 + rng.Uniform() * 1e15,
                         .bytes_per_second = 1 + rng.Uniform() * 1e-3,
                         .launch_seconds = rng.Uniform() / 3e7,
                         .host = static_cast<int32_t>(rng.Below(3))};
      if (rng.Below(2) == 0) kind.link = {1 + rng.Uniform(), rng.Uniform()};
      return kind;
    };
    Cluster cluster;
    cluster.link = {1e30, 0};
    for (auto* const kinds : {&cluster.accelerators, &cluster.cpus}) {
      for (uint64_t i = rng.Below(4); i > 0; --i) {
        kinds->push_back(draw_kind());
        if (kinds == &cluster.accelerators) {
          kinds->back().memory_bytes = 1 + static_cast<double>(rng.Below(1e9));
        }
      }
    }
    if (cluster.accelerators.empty()) cluster.cpus.push_back(draw_kind());
    cluster.network = {3.5e9, rng.Uniform()};
    const std::string text = PrintCluster(cluster);
    EXPECT_THAT(text, Not(HasSubstr(";")));
    EXPECT_THAT(text, Not(HasSubstr("|")));
    HONE_ASSERT_OK_AND_ASSIGN(const Cluster again, ParseCluster(text, "c"));
    EXPECT_EQ(again, cluster) << text;
    EXPECT_EQ(PrintCluster(again), text);
  }
}

TEST(ClusterTest, BundledClustersAreFoundByName) {
  for (const BundledCluster& bundled : BundledClusters()) {
    SCOPED_TRACE(bundled.id);
    HONE_ASSERT_OK_AND_ASSIGN(const Cluster cluster, FindCluster(bundled.id));
    HONE_ASSERT_OK_AND_ASSIGN(const Cluster text,
                              FindCluster(PrintCluster(cluster)));
    EXPECT_EQ(text, cluster);
  }
  EXPECT_EQ(FindCluster("v100x4")->accelerators[0].count, 4);
  EXPECT_EQ(FindCluster("t4x2-cpu")->cpus[0].count, 1);
  EXPECT_THAT(FindCluster("abacus"),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr("'abacus'"), HasSubstr("v100x4"))));
  EXPECT_THAT(FindCluster("x = 3"), StatusIs(absl::StatusCode::kInvalidArgument,
                                             StartsWith("<cluster>:1:1: ")));
}

}  // namespace
}  // namespace hone::graphs
