// honed: the daemon.
#include <atomic>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/notification.h"
#include <CLI/CLI.hpp>
#include <semaphore.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "base/processor.h"
#include "base/status_macros.h"
#include "daemon/access/addresses.h"
#include "daemon/config.h"
#include "daemon/limits.h"
#include "daemon/server.h"
#include "daemon/telemetry/logging.h"

namespace hone::daemon {
namespace {

enum ExitStatus { kDone = 0, kBadUsage = 2, kFailed = 3 };

// The options of the command line; absent: as in the configuration.
struct Flags {
  std::string config;
  std::vector<std::string> listen;
  std::optional<std::string> http;
  std::optional<std::string> state;
  bool log_json = false;
  std::optional<std::string> log_level;
};

absl::StatusOr<Config> Configure(const Flags& flags) {
  Config config;
  if (!flags.config.empty()) {
    HONE_ASSIGN_OR_RETURN(config, ReadConfig(flags.config));
  }
  if (!flags.listen.empty()) config.listen = flags.listen;
  config.http = flags.http.value_or(config.http);
  config.state = flags.state.value_or(config.state);
  config.log_json |= flags.log_json;
  config.log_level = flags.log_level.value_or(config.log_level);
  HONE_RETURN_IF_ERROR(ValidateConfig(config));
  return config;
}

int Report(const absl::Status& status, int exit_status) {
  std::cerr << "honed: " << status.message() << std::endl;
  return exit_status;
}

// SIGTERM and SIGINT. A handler, as blocking them in our threads would leave
// those that libraries start before main (OpenBLAS does).
sem_t asked_to_end;
std::atomic<int> times_asked = 0;

void AskToEnd(int) {
  if (times_asked.fetch_add(1) > 0) _exit(kFailed);
  sem_post(&asked_to_end);
}

// SIGHUP.
std::atomic<bool> asked_to_reload = false;

void AskToReload(int) {
  asked_to_reload = true;
  sem_post(&asked_to_end);
}

void HandleSignals(bool reloads) {
  sem_init(&asked_to_end, 0, 0);
  struct sigaction action = {};
  action.sa_handler = AskToEnd;
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  if (reloads) {
    action.sa_handler = AskToReload;
    sigaction(SIGHUP, &action, nullptr);
  }
  signal(SIGPIPE, SIG_IGN);
  // A write beyond the limit of file sizes is an error like a full disk.
  signal(SIGXFSZ, SIG_IGN);
}

// Each connection takes a file. The soft limit of a shell, 1024, is for
// programs that use select().
void RaiseFileLimit() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

int Run(const Config& config) {
  RaiseFileLimit();
  HandleSignals(/*reloads=*/!config.tokens.empty());
  SetUpLogging(config);
  auto store = OpenStore(config);
  if (!store.ok()) return Report(store.status(), kFailed);
  auto server = Server::Start(config, *std::move(store));
  if (!server.ok()) {
    return Report(server.status(), absl::IsInvalidArgument(server.status())
                                       ? kBadUsage
                                       : kFailed);
  }
  if (const auto http = SplitAddress(config.http);
      http.ok() && !IsLoopbackHost(http->first)) {
    spdlog::warn(
        "{}: other machines can reach it, and everybody may read the metrics",
        config.http);
  }
  spdlog::info("honed {} serves gRPC on {}, HTTP on {}, state in {}",
               HONE_VERSION,
               absl::StrJoin((*server)->grpc_addresses(), " and "),
               (*server)->http_address(), config.state);
  sd_notify(0, "READY=1");

  while (times_asked == 0) {
    if (sem_wait(&asked_to_end) != 0 || !asked_to_reload.exchange(false)) {
      continue;
    }
    if (const absl::Status status = (*server)->Reload(); status.ok()) {
      spdlog::info("read the tokens again");
    } else {
      spdlog::error("the old tokens stay: {}", std::string(status.message()));
    }
  }
  spdlog::info("draining; a second signal ends at once");
  sd_notify(0, "STOPPING=1");
  absl::Notification drained;
  bool stopped = false;
  std::thread drain([&] {
    stopped = (*server)->Drain();
    drained.Notify();
  });
  // A handler that hangs must not keep the process: what is acknowledged is
  // stored, and tunings are resumed.
  if (!drained.WaitForNotificationWithTimeout(
          config.drain_delay + config.drain_grace + absl::Seconds(5))) {
    spdlog::error("draining hangs: ending at once");
    _exit(kFailed);
  }
  drain.join();
  if (!stopped) {
    spdlog::info("a tuning is busy verifying; it will be resumed");
    _exit(kDone);
  }
  server->reset();
  spdlog::info("drained");
  return kDone;
}

int Main(int argc, char** argv) {
  CLI::App app("honed " HONE_VERSION ": the Hone autotuning daemon", "honed");
  Flags flags;
  app.add_option("--config", flags.config, "TOML file; flags override it")
      ->type_name("hone.toml");
  app.add_option("--listen", flags.listen,
                 "gRPC address, may be repeated (default " +
                     Config().listen_addresses().front() + ")")
      ->type_name("unix:PATH|HOST:PORT");
  app.add_option("--http", flags.http,
                 "HTTP address (default " + Config().http + ")")
      ->type_name("HOST:PORT");
  app.add_option("--state", flags.state,
                 "folder of the store (default " + Config().state + ")")
      ->type_name("DIR");
  app.add_flag("--log-json", flags.log_json, "logs as JSON lines");
  app.add_option("--log-level", flags.log_level,
                 "trace, debug, info, warning, error or off")
      ->type_name("LEVEL");
  app.add_flag_callback(
      "--print-limits",
      [] {
        std::cout << LimitsTable();
        throw CLI::Success();
      },
      "print the table of limits (docs/OPERATIONS.md) and end");
  app.set_version_flag("--version", "honed " HONE_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Asking for help or the version is no error.
    if (error.get_exit_code() == 0) {
      app.exit(error);
      return kDone;
    }
    std::cerr << "honed: " << error.what() << " (see honed --help)\n";
    return kBadUsage;
  }
  // For the processes that it starts, which make native code.
  if (const absl::Status isa = CheckIsa(IsaVariable()); !isa.ok()) {
    return Report(isa, kBadUsage);
  }
  const absl::StatusOr<Config> config = Configure(flags);
  if (!config.ok()) return Report(config.status(), kBadUsage);
  return Run(*config);
}

}  // namespace
}  // namespace hone::daemon

int main(int argc, char** argv) { return hone::daemon::Main(argc, argv); }
