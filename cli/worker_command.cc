// hone worker: offers this machine's devices to a daemon.

#include <atomic>
#include <chrono>
#include <climits>
#include <csignal>
#include <deque>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/read_hardware.h"
#include "grpcpp/grpcpp.h"
#include <poll.h>
#include <unistd.h>

#include "backends/cpu/host.h"
#include "backends/process/kernel_messages.h"
#include "backends/process/measure_process.h"
#include "backends/process/time_limit.h"
#include "backends/tpu_sim/tpu.h"
#include "backends/tpu_sim/tpu_bench.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/status_macros.h"
#include "base/trace_context.h"
#include "hone/v1/worker_service.grpc.pb.h"
#include "proto/grpc_status.h"
#include "proto/worker_protocol.h"

namespace hone::cli {
namespace {

constexpr absl::Duration kLongestWait = absl::Seconds(20);
constexpr absl::Duration kLeaveTimeout = absl::Seconds(10);
constexpr absl::Duration kCallTimeout = absl::Seconds(30);
// The time that a daemon may take to start, if no address is given.
constexpr absl::Duration kFindTimeout = absl::Seconds(3);
// The delay between calls to a daemon that does not answer doubles from the
// first to the last.
constexpr absl::Duration kFirstBackoff = absl::Milliseconds(100);
constexpr absl::Duration kLastBackoff = absl::Seconds(10);
// Large modules to keep: most work is about the last one.
constexpr size_t kModulesKept = 4;

// Returns the name of this machine, as the protocol has names.
std::string MachineName() {
  char name[HOST_NAME_MAX + 1] = {};
  if (gethostname(name, HOST_NAME_MAX) != 0) return "";
  std::string machine = name;
  for (char& c : machine) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '.') {
      c = '-';
    }
  }
  return machine;
}

// Requests to shut down. SIGTERM asks the worker to drain; a second one, SIGINT
// (which its measuring process gets as well) and the end of stdin ask it to
// stop at once. A request cancels the call that it makes pointless.
class ShutdownRequest {
 public:
  explicit ShutdownRequest(bool at_eof) {
    instance = this;
    if (pipe(wake_) != 0) return;
    for (int number : {SIGINT, SIGTERM}) signal(number, OnSignal);
    signal(SIGPIPE, SIG_IGN);
    watcher_ = std::thread([this, at_eof] { Watch(at_eof); });
  }
  ~ShutdownRequest() {
    OnSignal(SIGINT);
    if (watcher_.joinable()) watcher_.join();
  }

  enum Level { kNone, kDrain, kStop };

  Level level() const { return level_; }
  bool drains() const { return level_ >= kDrain; }
  bool stops() const { return level_ >= kStop; }

  // Cancels `context` when a shutdown of this level is requested; null: no
  // call.
  void CancelOn(Level level, grpc::ClientContext* context) {
    absl::MutexLock lock(&mu_);
    cancel_level_ = level;
    context_ = context;
    CancelIfDue();
  }

  // Returns early when a shutdown of a level above `known` is requested.
  void Sleep(absl::Duration duration, Level known) {
    absl::MutexLock lock(&mu_);
    const auto is_due = [this, known] { return level_ > known; };
    mu_.AwaitWithTimeout(absl::Condition(&is_due), duration);
  }

 private:
  static void OnSignal(int number) {
    const char byte = number == SIGTERM ? kDrain : kStop;
    (void)!write(instance->wake_[1], &byte, 1);
  }

  void Watch(bool at_eof) {
    pollfd events[2] = {{wake_[0], POLLIN, 0},
                        {at_eof ? STDIN_FILENO : -1, POLLIN, 0}};
    while (!stops()) {
      if (poll(events, 2, -1) < 0) continue;
      char read_bytes[256];
      if (events[0].revents != 0 && read(wake_[0], read_bytes, 1) == 1) {
        // The second request to drain is one to stop.
        Raise(drains() ? kStop : static_cast<Level>(read_bytes[0]));
      }
      if (events[1].revents != 0 &&
          read(STDIN_FILENO, read_bytes, sizeof(read_bytes)) <= 0) {
        Raise(kStop);
      }
    }
  }

  void Raise(Level level) {
    absl::MutexLock lock(&mu_);
    level_ = level;
    CancelIfDue();
  }

  void CancelIfDue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (level_ >= cancel_level_ && context_ != nullptr) context_->TryCancel();
  }

  static ShutdownRequest* instance;
  int wake_[2] = {-1, -1};
  std::atomic<Level> level_ = kNone;
  absl::Mutex mu_;
  Level cancel_level_ ABSL_GUARDED_BY(mu_) = kStop;
  grpc::ClientContext* context_ ABSL_GUARDED_BY(mu_) = nullptr;
  std::thread watcher_;
};

ShutdownRequest* ShutdownRequest::instance = nullptr;

// Writes messages to stderr, as text or, like honed --log-json, as one JSON
// object per line.
class Log {
 public:
  explicit Log(bool json) : json_(json) {}

  void Write(absl::string_view level, const std::string& message) const {
    // Each line in one write, as the daemon writes to the same file.
    const std::string trace(CurrentTraceparent());
    if (!json_) {
      std::cerr << absl::StrCat(
          message, trace.empty() ? "" : absl::StrCat(" traceparent=", trace),
          "\n");
      return;
    }
    nlohmann::ordered_json line = {
        {"time", absl::FormatTime("%Y-%m-%dT%H:%M:%E3S%Ez", absl::Now(),
                                  absl::LocalTimeZone())},
        {"level", level},
        {"message", message}};
    if (!trace.empty()) line["traceparent"] = trace;
    std::cerr << line.dump(-1, ' ', false,
                           nlohmann::json::error_handler_t::replace) +
                     "\n";
  }

 private:
  const bool json_;
};

class WorkerLoop {
 public:
  // Offers the simulated TPU `tpu` of that name, or, if it is null, the host.
  WorkerLoop(const Connection& connection, const std::string& id, bool at_eof,
             const Log& log, absl::string_view name, const backends::Tpu* tpu)
      : server_(connection.server.empty() ? FindServer(kFindTimeout)
                                          : connection.server),
        log_(log),
        stub_(v1::WorkerService::NewStub(OpenChannel(server_, connection))),
        shutdown_(at_eof) {
    request_.set_worker_id(id.empty() ? RandomUuid() : id);
    request_.set_machine(MachineName());
    request_.set_protocol_version(kMaxWorkerProtocol);
    request_.set_version(HONE_VERSION);
    request_.add_capabilities(kKernelWork);
    backends::ToProto(tpu == nullptr ? backends::HostDevice()
                                     : backends::TpuDevice(name, *tpu),
                      *request_.add_devices());
    if (tpu != nullptr) tpu_ = backends::PrintTpu(*tpu);
  }

  absl::Status Run() {
    absl::Duration backoff = kFirstBackoff;
    while (!shutdown_.stops()) {
      const ShutdownRequest::Level level = shutdown_.level();
      const bool drains = IsToDrain();
      if (drains && IsDone()) break;
      DescribeState(drains);
      const absl::StatusOr<v1::SynchronizeResponse> response = Call();
      if (response.ok()) {
        if (!std::exchange(connected_, true)) {
          log_.Write("info",
                     absl::StrCat("worker ", request_.worker_id(), " serves ",
                                  server_, ": ", request_.devices(0).model()));
        }
        backoff = kFirstBackoff;
        ApplyDesiredState(*response);
      } else if (absl::IsFailedPrecondition(response.status()) ||
                 absl::IsInvalidArgument(response.status())) {
        return response.status();
      } else if (shutdown_.level() == level) {
        if (std::exchange(connected_, false) || backoff == kFirstBackoff) {
          log_.Write("warning", absl::StrCat("honed at ", server_, ": ",
                                             response.status().message(),
                                             "; trying again"));
        }
        shutdown_.Sleep(backoff, level);
        backoff = std::min(2 * backoff, kLastBackoff);
      }
      if (lease_.has_value()) Work();
    }
    measure_.Kill();
    DescribeState(/*drains=*/true);
    request_.set_state(v1::SynchronizeRequest::LEAVING);
    (void)Call(/*last=*/true);
    return absl::OkStatus();
  }

 private:
  bool IsToDrain() {
    const bool drains = shutdown_.drains() || drain_asked_;
    if (drains && !std::exchange(is_draining_, true) && lease_.has_value()) {
      log_.Write("info", absl::StrCat("worker ", request_.worker_id(),
                                      " finishes its work and leaves"));
    }
    return drains;
  }

  // Returns true if there is neither work in hand nor a result to deliver.
  bool IsDone() const {
    return !lease_.has_value() && request_.completions().empty();
  }

  void DescribeState(bool drains) {
    request_.set_state(drains ? v1::SynchronizeRequest::DRAINING
                              : v1::SynchronizeRequest::ACTIVE);
    request_.clear_executing();
    if (lease_.has_value()) *request_.add_executing() = *lease_;
    // The first call does not wait for work, so that its answer says at once
    // that the daemon is there.
    request_.mutable_longest_wait()->set_seconds(
        connected_ ? absl::ToInt64Seconds(kLongestWait) : 0);
  }

  absl::StatusOr<v1::SynchronizeResponse> Call(bool last = false) {
    grpc::ClientContext context;
    // A worker that was told to stop leaves at once; one that drains is not
    // listed any more once it has ended, also where the daemon is busy.
    const bool hurries = last && shutdown_.stops();
    context.set_deadline(
        absl::ToChronoTime(absl::Now() + (hurries ? absl::Seconds(1)
                                          : last  ? kLeaveTimeout
                                                  : kCallTimeout)));
    if (!hurries) {
      // A wait for work; others are short, and may bring a result.
      const bool is_idle = request_.state() == v1::SynchronizeRequest::ACTIVE &&
                           request_.completions().empty();
      shutdown_.CancelOn(
          is_idle ? ShutdownRequest::kDrain : ShutdownRequest::kStop, &context);
    }
    v1::SynchronizeResponse response;
    const grpc::Status status =
        stub_->Synchronize(&context, request_, &response);
    shutdown_.CancelOn(ShutdownRequest::kStop, nullptr);
    if (!status.ok()) return ToStatus(status);
    return response;
  }

  void ApplyDesiredState(const v1::SynchronizeResponse& response) {
    lease_duration_ = absl::Seconds(response.lease_duration().seconds());
    // Accepted or refused: neither needs a retry.
    request_.clear_completions();
    drain_asked_ |= response.drain();
    if (response.execute().empty()) {
      LoseLease();
      return;
    }
    const v1::SynchronizeResponse::Execute& execute = response.execute(0);
    const v1::Lease& lease = execute.lease();
    if (lease_.has_value() && lease_->fence() == lease.fence()) return;
    // Other work than that in hand.
    LoseLease();
    lease_ = lease;
    work_ = execute.work();
    is_measuring_ = false;
    fetched_.clear();
    end_ = absl::InfiniteDuration();
  }

  // Stops the work in hand, if there is any.
  void LoseLease() {
    if (!lease_.has_value()) return;
    const TraceScope trace(work_.traceparent());
    log_.Write("warning", absl::StrCat("work ", lease_->work_id(),
                                       " is taken away; it is stopped"));
    measure_.Kill();
    lease_.reset();
  }

  // Works until the next call is due. Whatever goes wrong is the result of this
  // work; the worker goes on.
  void Work() {
    const TraceScope trace(work_.traceparent());
    const absl::Duration next_call =
        SystemClock().Monotonic() + lease_duration_ / 4;
    absl::StatusOr<std::optional<v1::Completion>> result = Advance(next_call);
    if (result.ok() && !result->has_value()) {
      if (SystemClock().Monotonic() < end_) return;
      measure_.Kill();
      result = absl::DeadlineExceededError("the measuring process hangs");
    }
    v1::Completion& completion = *request_.add_completions();
    if (result.ok()) {
      completion = **std::move(result);
    } else {
      log_.Write("warning", std::string(result.status().message()));
      completion.mutable_error()->set_code(
          static_cast<int>(result.status().code()));
      completion.mutable_error()->set_message(
          backends::WireText(result.status().message()));
    }
    *completion.mutable_lease() = *lease_;
    lease_.reset();
  }

  // Goes on with the work until `end`; returns its result, if it has one.
  absl::StatusOr<std::optional<v1::Completion>> Advance(absl::Duration end) {
    if (!is_measuring_) {
      HONE_ASSIGN_OR_RETURN(const bool has_module, FetchModule(end));
      if (!has_module) return std::nullopt;
      if (!tpu_.empty()) work_.mutable_kernel()->set_tpu(tpu_);
      HONE_RETURN_IF_ERROR(measure_.Start(work_));
      is_measuring_ = true;
      end_ = SystemClock().Monotonic() +
             backends::TimeLimit(backends::FromProto(work_.kernel()));
    }
    return measure_.Await(end - SystemClock().Monotonic());
  }

  // Puts the module into the work, if the work names it by its digest; returns
  // false if there is more to fetch at `end`.
  // Errors: those of the call; DataLoss if the bytes are others.
  absl::StatusOr<bool> FetchModule(absl::Duration end) {
    v1::KernelWork& kernel = *work_.mutable_kernel();
    const std::string digest = kernel.module_digest();
    if (digest.empty()) return true;
    for (const auto& [known, bytes] : modules_) {
      if (known != digest) continue;
      kernel.set_module(bytes);
      kernel.clear_module_digest();
      return true;
    }
    const auto size = static_cast<size_t>(kernel.module_bytes());
    while (fetched_.size() < size) {
      if (SystemClock().Monotonic() >= end || shutdown_.stops()) {
        return false;
      }
      grpc::ClientContext context;
      context.set_deadline(absl::ToChronoTime(absl::Now() + kCallTimeout));
      shutdown_.CancelOn(ShutdownRequest::kStop, &context);
      v1::ReadModuleRequest request;
      request.set_digest(digest);
      request.set_offset(static_cast<int64_t>(fetched_.size()));
      v1::ReadModuleResponse part;
      const grpc::Status status = stub_->ReadModule(&context, request, &part);
      shutdown_.CancelOn(ShutdownRequest::kStop, nullptr);
      // This worker's own trouble, not an error of the work.
      if (!status.ok() || part.chunk().empty()) {
        return absl::UnavailableError(absl::StrCat(
            "cannot fetch module ", digest, ": ", status.error_message()));
      }
      fetched_ += part.chunk();
    }
    if (Sha256Hex(fetched_) != digest) {
      return absl::DataLossError(
          absl::StrCat("the module fetched is not ", digest));
    }
    kernel.set_module(fetched_);
    kernel.clear_module_digest();
    modules_.emplace_front(digest, std::exchange(fetched_, std::string()));
    if (modules_.size() > kModulesKept) modules_.pop_back();
    return true;
  }

  const std::string server_;
  const Log& log_;
  const std::unique_ptr<v1::WorkerService::Stub> stub_;
  ShutdownRequest shutdown_;
  v1::SynchronizeRequest request_;
  // The description of the TPU that it simulates; empty: none.
  std::string tpu_;
  bool connected_ = false;
  // The daemon has asked; the worker has begun.
  bool drain_asked_ = false;
  bool is_draining_ = false;
  absl::Duration lease_duration_;
  std::optional<v1::Lease> lease_;
  // The work of the lease, and the time by which its measurement ends.
  v1::Work work_;
  absl::Duration end_;
  bool is_measuring_ = false;
  // The part of its module that has come so far.
  std::string fetched_;
  // The last large modules by digest, the latest first.
  std::deque<std::pair<std::string, std::string>> modules_;
  backends::MeasureProcess measure_;
};

}  // namespace

void AddWorkerCommand(CLI::App& app, Context& context) {
  struct Options {
    std::string server;
    std::string id;
    std::string release;
    std::string tpu;
    bool at_eof = false;
    bool log_json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("worker", "Offer this machine's devices to a daemon");
  command->add_option("--connect", options->server,
                      "honed's address (default: --server)");
  // In no help: for honed, which starts one.
  command
      ->add_flag("--until-eof", options->at_eof,
                 "Exit at the end of standard input")
      ->group("");
  command->add_option("--id", options->id, "The worker's id")->group("");
  command
      ->add_option("--release", options->release,
                   "End the quarantine of this worker, an id of hone list "
                   "workers, and exit")
      ->type_name("ID");
  command
      ->add_option("--tpu", options->tpu,
                   "Offer a simulated TPU instead: v3, v4, v5e, or the path of "
                   "a description")
      ->type_name("NAME");
  command->add_flag("--log-json", options->log_json, "Messages as JSON lines")
      ->group("");
  command->callback([options, &context] {
    if (!options->server.empty()) context.server = options->server;
    RunCommand(context, [&]() -> absl::StatusOr<int> {
      const Log log(options->log_json);
      if (!options->release.empty()) {
        HONE_RETURN_IF_ERROR(
            Client(context).ReleaseWorker(options->release).status());
        return kDone;
      }
      HONE_ASSIGN_OR_RETURN(const std::optional<backends::Tpu> tpu,
                            ReadTpu(options->tpu));
      const std::string name = options->tpu.substr(options->tpu.rfind('/') + 1);
      WorkerLoop loop(context, options->id, options->at_eof, log, name,
                      tpu.has_value() ? &*tpu : nullptr);
      const absl::Status status = loop.Run();
      if (status.ok() || !options->log_json) {
        HONE_RETURN_IF_ERROR(status);
        return kDone;
      }
      log.Write("error", std::string(status.message()));
      return ExitStatusOf(status);
    });
  });
}

}  // namespace hone::cli
