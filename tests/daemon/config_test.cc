#include "daemon/config.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/temporary_directory.h"
#include "tests/support/status_matchers.h"

namespace hone::daemon {
namespace {

using ::hone::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Config, EmptyTextGivesTheDefaults) {
  HONE_ASSERT_OK_AND_ASSIGN(const Config config, ParseConfig("", "hone.toml"));
  EXPECT_THAT(config.listen_addresses(),
              ElementsAre("unix:" + config.state + "/hone.sock"));
  EXPECT_EQ(config.http, "127.0.0.1:7421");
  HONE_EXPECT_OK(ValidateConfig(config));
}

TEST(Config, EveryKeyIsTaken) {
  HONE_ASSERT_OK_AND_ASSIGN(const Config config, ParseConfig(R"(
[server]
listen = ["unix:/s/s", "127.0.0.1:1"]
http = "127.0.0.1:2"
http_hosts = "hone.example"
state = "/s"
reflection = false
[access]
tokens = "/t"
tls_cert = "/c"
tls_key = "/k"
tls_client_ca = "/a"
[limits]
max_bytes_in_flight = 10000000
max_client_bytes_in_flight = 9000000
max_streams_per_connection = 10
max_waiting_calls = 11
max_uploads = 12
max_upload_bytes = 8000000
upload_idle_seconds = 1.5
max_budget_trials = 13
max_budget_seconds = 14
max_evaluation_flops = 15
max_evaluation_bytes = 16
max_module_bytes = 1000
max_running_tunings = 3
max_queued_tunings = 4
process_memory_bytes = 300000000
rpc_memory_bytes = 100000000
max_environments = 6
environment_memory_bytes = 2000000
environment_idle_seconds = 8.5
[storage]
max_age_days = 30
max_bytes = 5000000
[tuning]
default_optimizer = "random"
default_trials = 5
[workers]
lease_seconds = 9
local = false
[drain]
delay_seconds = 0.5
grace_seconds = 7
[log]
format = "json"
level = "debug"
)",
                                                             "hone.toml"));
  EXPECT_THAT(config.listen, ElementsAre("unix:/s/s", "127.0.0.1:1"));
  EXPECT_THAT(config.http_hosts, ElementsAre("hone.example"));
  EXPECT_EQ(config.tokens, "/t");
  EXPECT_EQ(config.tls_cert, "/c");
  EXPECT_EQ(config.tls_key, "/k");
  EXPECT_EQ(config.tls_client_ca, "/a");
  EXPECT_EQ(config.http, "127.0.0.1:2");
  EXPECT_EQ(config.state, "/s");
  EXPECT_FALSE(config.reflection);
  EXPECT_EQ(config.max_bytes_in_flight, 10'000'000);
  EXPECT_EQ(config.max_client_bytes_in_flight, 9'000'000);
  EXPECT_EQ(config.max_streams_per_connection, 10);
  EXPECT_EQ(config.max_waiting_calls, 11);
  EXPECT_EQ(config.max_uploads, 12);
  EXPECT_EQ(config.max_upload_bytes, 8'000'000);
  EXPECT_EQ(config.upload_idle, absl::Milliseconds(1500));
  EXPECT_EQ(config.max_budget_trials, 13);
  EXPECT_EQ(config.max_budget, absl::Seconds(14));
  EXPECT_EQ(config.max_evaluation_flops, 15);
  EXPECT_EQ(config.max_evaluation_bytes, 16);
  EXPECT_EQ(config.max_module_bytes, 1000);
  EXPECT_EQ(config.max_running_tunings, 3);
  EXPECT_EQ(config.max_queued_tunings, 4);
  EXPECT_EQ(config.process_memory_bytes, 300'000'000);
  EXPECT_EQ(config.rpc_memory_bytes, 100'000'000);
  EXPECT_EQ(config.max_environments, 6);
  EXPECT_EQ(config.environment_memory_bytes, 2'000'000);
  EXPECT_EQ(config.environment_idle, absl::Milliseconds(8500));
  EXPECT_EQ(config.max_age, absl::Hours(24 * 30));
  EXPECT_EQ(config.max_store_bytes, 5'000'000);
  EXPECT_EQ(config.default_optimizer, "random");
  EXPECT_EQ(config.default_trials, 5);
  EXPECT_EQ(config.worker_lease, absl::Seconds(9));
  EXPECT_FALSE(config.local_worker);
  EXPECT_EQ(config.drain_delay, absl::Milliseconds(500));
  EXPECT_EQ(config.drain_grace, absl::Seconds(7));
  EXPECT_TRUE(config.log_json);
  EXPECT_EQ(config.log_level, "debug");
  HONE_EXPECT_OK(ValidateConfig(config));
}

TEST(Config, TheManualHasTheDefaults) {
  std::ifstream file(absl::StrCat(HONE_SOURCE_DIR, "/deploy/README.md"));
  const std::string manual((std::istreambuf_iterator<char>(file)), {});
  const size_t start = manual.find("```toml\n") + 8;
  const size_t stop = manual.find("```", start);
  ASSERT_LT(start, stop);
  HONE_ASSERT_OK_AND_ASSIGN(
      const Config config,
      ParseConfig(manual.substr(start, stop - start), "deploy/README.md"));
  EXPECT_EQ(config, Config());
}

TEST(Config, TheInstalledFileHasEveryLimitWithItsDefault) {
  std::ifstream file(absl::StrCat(HONE_SOURCE_DIR, "/deploy/hone.toml"));
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  HONE_ASSERT_OK_AND_ASSIGN(const Config config,
                            ParseConfig(text, "hone.toml"));
  EXPECT_EQ(static_cast<const LimitValues&>(config), LimitValues());
  for (const Limit& limit : Limits()) {
    if (limit.key.empty()) continue;
    const bool depends_on_machine = limit.name == "max_running_tunings" ||
                                    limit.name == "process_memory_bytes";
    const std::string line =
        depends_on_machine
            ? absl::StrCat("# ", limit.key, " = ")
            : absl::StrFormat("# %s = %.0f\n", limit.key, limit.value(config));
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(Config, EveryUploadThatIsAllowedHasRoom) {
  Config config;
  config.max_module_bytes = config.max_client_bytes_in_flight + 1;
  EXPECT_THAT(ValidateConfig(config),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       StartsWith("limits.max_module_bytes is ")));
}

TEST(Config, OtherMachinesNeedTlsAndTokens) {
  for (const char* address : {"0.0.0.0:7420", "192.0.2.1:7420", "[::]:7420",
                              "localhost.example:1", "127.0.0.1.example:1"}) {
    Config config;
    config.listen = {"127.0.0.1:1", address};
    EXPECT_THAT(ValidateConfig(config),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(StartsWith(address), HasSubstr("tokens"))));
    config.tokens = "t";
    EXPECT_FALSE(ValidateConfig(config).ok()) << address;
    config.tls_cert = "c";
    EXPECT_THAT(ValidateConfig(config),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("expected both")));
    config.tls_key = "k";
    HONE_EXPECT_OK(ValidateConfig(config));
  }
  Config config;
  config.listen = {"unix:/s", "127.0.0.1:1", "localhost:1", "[::1]:1"};
  HONE_EXPECT_OK(ValidateConfig(config));
}

TEST(Config, UnknownKeysAreErrorsWithTheirPlace) {
  EXPECT_THAT(
      ParseConfig("[server]\nlisten = \"127.0.0.1:1\"\nport = 3\n", "h.toml"),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(StartsWith("h.toml:3:1: unknown key \"port\""),
                     HasSubstr("listen"))));
  EXPECT_THAT(ParseConfig("[sever]\n", "h.toml"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(StartsWith("h.toml:1:"), HasSubstr("server"))));
}

TEST(Config, WrongValuesAreErrorsWithTheirPlace) {
  for (const char* listen : {"7420", "[7420]", "[\"a\", 1]"}) {
    EXPECT_THAT(ParseConfig(absl::StrCat("[server]\nlisten = ", listen, "\n"),
                            "h.toml"),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(StartsWith("h.toml:2:10: "),
                               HasSubstr("expected a string"))));
  }
  EXPECT_THAT(ParseConfig("[limits]\nmax_running_tunings = 0\n", "h.toml"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("expected an integer from 1 to 1024")));
  EXPECT_THAT(ParseConfig("[limits]\nenvironment_idle_seconds = 0\n", "h.toml"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("expected seconds from 1 to 86400")));
  EXPECT_THAT(ParseConfig("[log]\nformat = \"xml\"\n", "h.toml"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("expected \"text\" or \"json\"")));
}

TEST(Config, BadSyntaxIsAnErrorWithItsPlace) {
  EXPECT_THAT(ParseConfig("[server\n", "h.toml"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(StartsWith("h.toml:1:"), HasSubstr("expected"))));
}

TEST(Config, ValidationListsWhatIsKnown) {
  Config config;
  config.default_optimizer = "magic";
  EXPECT_THAT(
      ValidateConfig(config),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("random")));
  config = Config();
  config.log_level = "loud";
  EXPECT_THAT(ValidateConfig(config),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("debug")));
}

TEST(Config, AnUnknownOptimizerHasItsPlace) {
  EXPECT_THAT(
      ParseConfig("[tuning]\ndefault_optimizer = \"magic\"\n", "h.toml"),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(StartsWith("h.toml:2:21: "),
                     HasSubstr("\"default_optimizer\", expected one of: "),
                     HasSubstr("random"))));
  Config config;
  config.default_optimizer = "magic";
  EXPECT_THAT(ValidateConfig(config),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       StartsWith("tuning.default_optimizer: ")));
}

TEST(Config, AnEmptyFileGivesTheDefaults) {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory.path());
  const std::string path = directory.path() + "/hone.toml";
  std::ofstream(path).close();
  HONE_ASSERT_OK_AND_ASSIGN(const Config config, ReadConfig(path));
  EXPECT_EQ(config, Config());
}

TEST(Config, AFolderIsNoFile) {
  EXPECT_THAT(ReadConfig("/tmp"), StatusIs(absl::StatusCode::kNotFound,
                                           HasSubstr("cannot be read")));
}

TEST(Config, MissingFileIsNotFound) {
  EXPECT_THAT(ReadConfig("/nonexistent/hone.toml"),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("/nonexistent/hone.toml")));
}

}  // namespace
}  // namespace hone::daemon
