#include "cli/measure_process.h"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/cpu/calibration.h"
#include "backends/cpu/isolated_child.h"
#include "backends/cpu/kernel_bench.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "hlo/text_parser.h"
#include "hlo/verifier.h"

extern char** environ;

namespace hone::cli {
namespace {

// A message on a pipe: its length in 8 bytes, little-endian, then its bytes.
std::string Frame(const google::protobuf::MessageLite& message) {
  const std::string bytes = message.SerializeAsString();
  uint64_t length = bytes.size();
  std::string frame;
  for (int i = 0; i < 8; ++i, length >>= 8) {
    frame.push_back(static_cast<char>(length & 0xff));
  }
  return frame + bytes;
}

// The first message in `received`, taken out of it once it is complete.
std::optional<std::string> TakeMessage(std::string& received) {
  if (received.size() < 8) return std::nullopt;
  uint64_t length = 0;
  for (size_t i = 8; i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(received[i]);
  }
  if (received.size() - 8 < length) return std::nullopt;
  std::string message = received.substr(8, length);
  received.erase(0, 8 + length);
  return message;
}

absl::Status WriteAll(int fd, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      return absl::InternalError(
          absl::StrCat("cannot write to a pipe: ", std::strerror(errno)));
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

// Appends what there is to read, waiting for it; false at the end.
bool ReadSome(int fd, std::string& received) {
  char buffer[1 << 16];
  ssize_t count = 0;
  do {
    count = read(fd, buffer, sizeof(buffer));
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return false;
  received.append(buffer, static_cast<size_t>(count));
  return true;
}

v1::KernelTiming ToProto(const backends::KernelTiming& timing) {
  v1::KernelTiming proto;
  proto.set_outcome(std::string(space::OutcomeName(timing.outcome)));
  proto.set_message(timing.message);
  proto.set_ns(timing.ns);
  proto.mutable_samples_ns()->Add(timing.samples_ns.begin(),
                                  timing.samples_ns.end());
  proto.set_ratio(timing.ratio);
  proto.set_ratio_low(timing.ratio_low);
  proto.set_ratio_high(timing.ratio_high);
  proto.set_max_rel_error(timing.max_rel_error);
  proto.set_compile_ms(absl::ToDoubleMilliseconds(timing.compile_time));
  return proto;
}

// In a child, as it starts threads.
absl::StatusOr<v1::Calibration> CalibrateApart(int32_t threads) {
  constexpr int64_t kMaxBytes = 1 << 16;
  HONE_ASSIGN_OR_RETURN(const auto memory,
                        backends::SharedMemory::Create(kMaxBytes));
  HONE_ASSIGN_OR_RETURN(
      const backends::ChildOutcome outcome,
      backends::RunInChild(
          [&] {
            const auto calibration = backends::Calibrate(threads);
            if (!calibration.ok()) return;
            v1::Calibration proto;
            proto.set_peak_gflops(calibration->peak_gflops);
            for (const auto& level : calibration->levels) {
              v1::Calibration::Level& to = *proto.add_levels();
              to.set_bytes(level.bytes);
              to.set_read_gbps(level.read_gbps);
              to.set_copy_gbps(level.copy_gbps);
            }
            const std::string frame = Frame(proto);
            std::memcpy(memory->data(), frame.data(), frame.size());
          },
          {.timeout = absl::Seconds(60)}));
  std::string received(reinterpret_cast<const char*>(memory->data()),
                       static_cast<size_t>(memory->bytes()));
  v1::Calibration proto;
  if (outcome.end != backends::ChildEnd::kDone ||
      !proto.ParseFromString(TakeMessage(received).value_or("")) ||
      proto.levels().empty()) {
    return absl::InternalError(
        absl::StrCat("the machine cannot be calibrated: ", outcome.message));
  }
  return proto;
}

// Keeps the bench of the last module: most work is about the same one.
class KernelMeasurer {
 public:
  absl::StatusOr<v1::KernelReport> Measure(const v1::KernelWork& work) {
    HONE_RETURN_IF_ERROR(Prepare(work));
    v1::KernelReport report;
    if (work.calibrate()) {
      HONE_ASSIGN_OR_RETURN(*report.mutable_calibration(),
                            CalibrateApart(work.threads()));
    }
    *report.mutable_baseline() = ToProto(bench_->MeasureBaseline());
    for (const std::string& script : work.candidate_scripts()) {
      *report.add_candidates() = ToProto(bench_->Measure(script));
    }
    return report;
  }

 private:
  absl::Status Prepare(const v1::KernelWork& work) {
    v1::KernelWork common = work;
    common.clear_candidate_scripts();
    common.clear_calibrate();
    std::string key = common.SerializeAsString();
    if (bench_ != nullptr && key == key_) return absl::OkStatus();
    bench_ = nullptr;
    HONE_ASSIGN_OR_RETURN(const hlo::Module module,
                          hlo::ParseHloText(work.module()));
    HONE_RETURN_IF_ERROR(hlo::VerifyModule(module));
    backends::KernelBenchOptions options;
    options.threads = work.threads();
    options.seed = work.seed();
    options.pairs = work.samples();
    options.timeout = absl::Seconds(work.timeout_seconds());
    HONE_ASSIGN_OR_RETURN(bench_, backends::KernelBench::Create(
                                      module, work.baseline_script(), options));
    key_ = std::move(key);
    return absl::OkStatus();
  }

  std::string key_;
  std::unique_ptr<backends::KernelBench> bench_;
};

v1::Completion Do(const v1::Work& work, KernelMeasurer& kernels) {
  v1::Completion completion;
  absl::Status status =
      absl::UnimplementedError("a kind of work that this worker lacks");
  if (work.has_kernel()) {
    auto report = kernels.Measure(work.kernel());
    status = report.status();
    if (report.ok()) *completion.mutable_kernel() = *std::move(report);
  }
  if (!status.ok()) {
    completion.mutable_error()->set_code(static_cast<int>(status.code()));
    completion.mutable_error()->set_message(std::string(status.message()));
  }
  return completion;
}

}  // namespace

MeasureProcess::MeasureProcess() = default;

MeasureProcess::~MeasureProcess() { Kill(); }

absl::Status MeasureProcess::Spawn() {
  int to[2];
  int from[2];
  if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) {
    return absl::InternalError("cannot make a pipe");
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
  std::string program = "/proc/self/exe";
  std::string command = "measure";
  char* argv[] = {program.data(), command.data(), nullptr};
  // OpenBLAS starts threads when it is loaded, unless it is told not to.
  std::string one_thread = "OPENBLAS_NUM_THREADS=1";
  std::vector<char*> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!absl::StartsWith(*entry, "OPENBLAS_NUM_THREADS=")) {
      environment.push_back(*entry);
    }
  }
  environment.push_back(one_thread.data());
  environment.push_back(nullptr);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, program.c_str(), &actions, nullptr, argv,
                                environment.data());
  posix_spawn_file_actions_destroy(&actions);
  close(to[0]);
  close(from[1]);
  if (error != 0) {
    close(to[1]);
    close(from[0]);
    return absl::InternalError(
        absl::StrCat("cannot start hone measure: ", std::strerror(error)));
  }
  pid_ = pid;
  to_ = to[1];
  from_ = from[0];
  received_.clear();
  return absl::OkStatus();
}

absl::Status MeasureProcess::Start(const v1::Work& work) {
  if (pid_ < 0) HONE_RETURN_IF_ERROR(Spawn());
  absl::Status status = WriteAll(to_, Frame(work));
  if (!status.ok()) Kill();
  return status;
}

absl::StatusOr<std::optional<v1::Completion>> MeasureProcess::Await(
    absl::Duration timeout) {
  const absl::Duration end = SystemClock().Monotonic() + timeout;
  for (;;) {
    if (std::optional<std::string> bytes = TakeMessage(received_)) {
      v1::Completion completion;
      if (completion.ParseFromString(*bytes)) return completion;
      Kill();
      return absl::InternalError("the measuring process sends no message");
    }
    const absl::Duration left = end - SystemClock().Monotonic();
    if (left <= absl::ZeroDuration()) return std::nullopt;
    pollfd ready = {from_, POLLIN, 0};
    const int events = poll(&ready, 1,
                            static_cast<int>(absl::ToInt64Milliseconds(
                                absl::Ceil(left, absl::Milliseconds(1)))));
    if (events > 0 && !ReadSome(from_, received_)) {
      Kill();
      return absl::InternalError("the measuring process has died");
    }
  }
}

void MeasureProcess::Kill() {
  if (pid_ < 0) return;
  close(to_);
  close(from_);
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

absl::Status ServeMeasurements(int from, int to) {
  KernelMeasurer kernels;
  std::string received;
  for (;;) {
    while (std::optional<std::string> bytes = TakeMessage(received)) {
      v1::Work work;
      if (!work.ParseFromString(*bytes)) {
        return absl::InvalidArgumentError("stdin: not a message of work");
      }
      HONE_RETURN_IF_ERROR(WriteAll(to, Frame(Do(work, kernels))));
    }
    if (!ReadSome(from, received)) return absl::OkStatus();
  }
}

}  // namespace hone::cli
