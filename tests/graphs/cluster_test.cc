#include "graphs/cluster.h"

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
  EXPECT_EQ(cluster, (Cluster{.accelerators = {2, 1e12, 1e11, 1e-6},
                              .accelerator_bytes = 1e9,
                              .cpus = {3, 2e10, 3e10, 0},
                              .link_bytes_per_second = 1e10,
                              .link_latency_seconds = 2e-6}));
}

TEST(ClusterTest, OneKindOfDeviceIsEnough) {
  const std::string text = kBoth;
  HONE_ASSERT_OK_AND_ASSIGN(
      const Cluster cpus,
      ParseCluster(text.substr(text.find("[cpus]")), "c.toml"));
  EXPECT_EQ(cpus.accelerators, DeviceKind());
  EXPECT_EQ(cpus.cpus.count, 3);
  const size_t link = text.find("[link]");
  EXPECT_THAT(ParseCluster(text.substr(link), "c.toml"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(StartsWith("c.toml:1:1: no devices"),
                             HasSubstr("[accelerators] or [cpus]"))));
  EXPECT_THAT(ParseCluster(text.substr(0, link), "c.toml"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("[link] is missing")));
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
          "count, flops_per_second, bytes_per_second, launch_seconds");
  refused("[link]", "[links]",
          "c.toml:12:2: unknown table \"links\", expected accelerators, cpus, "
          "link");
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
    const auto kind = [&] {
      return DeviceKind{.count = static_cast<int32_t>(rng.Below(9)),
                        .flops_per_second = 1 + rng.Uniform() * 1e15,
                        .bytes_per_second = 1 + rng.Uniform() * 1e-3,
                        .launch_seconds = rng.Uniform() / 3e7};
    };
    Cluster cluster = {
        .accelerators = kind(),
        .accelerator_bytes = static_cast<double>(1 + rng.Below(1u << 31)),
        .cpus = kind(),
        .link_bytes_per_second = 1e30,
        .link_latency_seconds = 0};
    if (cluster.accelerators.count == 0) {
      cluster.accelerators = {};
      cluster.accelerator_bytes = 0;
      cluster.cpus.count += 1;
    }
    if (cluster.cpus.count == 0) cluster.cpus = {};
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
  EXPECT_EQ(FindCluster("v100x4")->accelerators.count, 4);
  EXPECT_EQ(FindCluster("t4x2-cpu")->cpus.count, 1);
  EXPECT_THAT(FindCluster("abacus"),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr("'abacus'"), HasSubstr("v100x4"))));
  EXPECT_THAT(FindCluster("x = 3"), StatusIs(absl::StatusCode::kInvalidArgument,
                                             StartsWith("<cluster>:1:1: ")));
}

}  // namespace
}  // namespace hone::graphs
