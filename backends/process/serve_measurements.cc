#include "backends/process/serve_measurements.h"

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "backends/cpu/measure/calibration.h"
#include "backends/cpu/measure/isolated_child.h"
#include "backends/cpu/measure/kernel_bench.h"
#include "backends/process/frames.h"
#include "backends/process/kernel_messages.h"
#include "base/status_macros.h"
#include "hlo/inference/verifier.h"
#include "hlo/text/parser.h"

namespace hone::backends {
namespace {

// Calibrates in a child process, since it starts threads.
absl::StatusOr<Calibration> CalibrateApart(int32_t threads) {
  constexpr int64_t kMaxBytes = 1 << 16;
  HONE_ASSIGN_OR_RETURN(const auto memory, SharedMemory::Create(kMaxBytes));
  HONE_ASSIGN_OR_RETURN(const ChildOutcome outcome,
                        RunInChild(
                            [&] {
                              const auto calibration = Calibrate(threads);
                              if (!calibration.ok()) return;
                              v1::Calibration proto;
                              ToProto(*calibration, proto);
                              const std::string frame = Frame(proto);
                              std::memcpy(memory->data(), frame.data(),
                                          frame.size());
                            },
                            {.timeout = absl::Seconds(60)}));
  std::string received(reinterpret_cast<const char*>(memory->data()),
                       static_cast<size_t>(memory->bytes()));
  v1::Calibration proto;
  if (outcome.end != ChildEnd::kDone ||
      !proto.ParseFromString(TakeMessage(received).value_or("")) ||
      proto.levels().empty()) {
    return absl::InternalError(
        absl::StrCat("the machine cannot be calibrated: ", outcome.message));
  }
  return FromProto(proto);
}

// Keeps the bench of the last kernel: most work is about the same one.
class KernelBenches {
 public:
  absl::StatusOr<KernelReport> Measure(const KernelRequest& request) {
    HONE_RETURN_IF_ERROR(Prepare(request));
    KernelReport report;
    if (request.calibrate) {
      HONE_ASSIGN_OR_RETURN(report.calibration,
                            CalibrateApart(request.threads));
    }
    if (request.time_baseline) report.baseline = bench_->MeasureBaseline();
    for (const std::string& script : request.candidate_scripts) {
      report.candidates.push_back(bench_->Measure(script));
    }
    return report;
  }

 private:
  absl::Status Prepare(const KernelRequest& request) {
    // The fields of a request that the bench depends on.
    KernelRequest common = request;
    common.candidate_scripts.clear();
    common.calibrate = common.time_baseline = common.fresh_process = false;
    v1::KernelWork message;
    ToProto(common, message);
    std::string key = message.SerializeAsString();
    if (bench_ != nullptr && key == key_) return absl::OkStatus();
    bench_ = nullptr;
    HONE_ASSIGN_OR_RETURN(const hlo::Module module,
                          hlo::ParseHloText(request.module));
    HONE_RETURN_IF_ERROR(hlo::VerifyModule(module));
    KernelBenchOptions options;
    options.threads = request.threads;
    options.seed = request.seed;
    options.pairs = request.pairs;
    options.timeout = request.timeout;
    HONE_ASSIGN_OR_RETURN(
        bench_, KernelBench::Create(module, request.baseline_script, options));
    key_ = std::move(key);
    return absl::OkStatus();
  }

  std::string key_;
  std::unique_ptr<KernelBench> bench_;
};

v1::Completion Do(const v1::Work& work, KernelBenches& kernels) {
  v1::Completion completion;
  absl::Status status =
      absl::UnimplementedError("a kind of work that this worker lacks");
  if (work.has_kernel()) {
    const auto report = kernels.Measure(FromProto(work.kernel()));
    status = report.status();
    if (report.ok()) ToProto(*report, *completion.mutable_kernel());
  }
  if (!status.ok()) {
    completion.mutable_error()->set_code(static_cast<int>(status.code()));
    completion.mutable_error()->set_message(WireText(status.message()));
  }
  return completion;
}

}  // namespace

absl::Status ServeMeasurements(int from, int to) {
  KernelBenches kernels;
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

}  // namespace hone::backends
