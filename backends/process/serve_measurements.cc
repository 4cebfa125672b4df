#include "backends/process/serve_measurements.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "backends/cpu/measure/calibration.h"
#include "backends/cpu/measure/isolated_child.h"
#include "backends/cpu/measure/kernel_bench.h"
#include "backends/process/frames.h"
#include "backends/process/kernel_messages.h"
#include "backends/tpu_sim/tpu_bench.h"
#include "base/status_macros.h"

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

// Keeps the benches of the last kernels: most work is about the same one, or,
// of a module, about a few.
class KernelBenches {
 public:
  absl::StatusOr<KernelReport> Measure(const KernelRequest& request) {
    if (IsForTpu(request.form)) return MeasureOnTpu(request);
    HONE_ASSIGN_OR_RETURN(KernelBench* const bench, Prepare(request));
    KernelReport report;
    if (request.calibrate) {
      HONE_ASSIGN_OR_RETURN(report.calibration,
                            CalibrateApart(request.threads));
    }
    if (request.time_baseline) report.baseline = bench->MeasureBaseline();
    report.candidates = bench->Measure(request.candidate_scripts, request.bar);
    return report;
  }

 private:
  // Each holds arguments and results of two examples.
  static constexpr size_t kKept = 4;

  struct Kept {
    std::string key;
    std::unique_ptr<KernelBench> bench;
  };

  absl::StatusOr<KernelBench*> Prepare(const KernelRequest& request) {
    // The fields of a request that the bench depends on.
    KernelRequest common = request;
    common.candidate_scripts.clear();
    common.calibrate = common.time_baseline = common.confirm = false;
    common.bar = 0;
    v1::KernelWork message;
    ToProto(common, message);
    std::string key = message.SerializeAsString();
    const auto known =
        std::find_if(kept_.begin(), kept_.end(),
                     [&](const Kept& k) { return k.key == key; });
    if (known != kept_.end()) {
      std::rotate(kept_.begin(), known, known + 1);
      return kept_.front().bench.get();
    }
    if (kept_.size() == kKept) kept_.pop_back();
    KernelBenchOptions options;
    options.threads = request.threads;
    options.seed = request.seed;
    options.pairs = request.pairs;
    options.timeout = request.timeout;
    options.scatter = request.fresh_process;
    HONE_ASSIGN_OR_RETURN(
        auto bench, KernelBench::Create(request.module, request.form,
                                        request.baseline_script, options));
    kept_.insert(kept_.begin(), {std::move(key), std::move(bench)});
    return kept_.front().bench.get();
  }

  // The last one used first.
  std::vector<Kept> kept_;
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
