#include "backends/process/kernel_messages.h"

#include <iterator>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "proto/duration.h"

namespace hone::backends {
namespace {

// At most four bytes for each of the text's stay below the daemon's limits.
constexpr size_t kMaxText = 1000;

constexpr struct {
  space::Outcome outcome;
  v1::KernelTiming::Outcome proto;
} kOutcomes[] = {
    {space::Outcome::kOk, v1::KernelTiming::OK},
    {space::Outcome::kInvalid, v1::KernelTiming::INVALID},
    {space::Outcome::kCompileError, v1::KernelTiming::COMPILE_ERROR},
    {space::Outcome::kTimeout, v1::KernelTiming::TIMEOUT},
    {space::Outcome::kCrashed, v1::KernelTiming::CRASHED},
    {space::Outcome::kWrongResult, v1::KernelTiming::WRONG_RESULT}};

v1::KernelWork::Form ToProto(KernelForm form) {
  switch (form) {
    case KernelForm::kHlo:
      return v1::KernelWork::HLO;
    case KernelForm::kProgram:
      return v1::KernelWork::PROGRAM;
    case KernelForm::kModule:
      return v1::KernelWork::MODULE;
    case KernelForm::kTpuKernel:
      return v1::KernelWork::TPU_KERNEL;
    case KernelForm::kTpuKernels:
      return v1::KernelWork::TPU_KERNELS;
  }
  return v1::KernelWork::HLO;
}

// A form that this version does not know is taken for HLO: its text does not
// parse then.
KernelForm FromProto(v1::KernelWork::Form form) {
  switch (form) {
    case v1::KernelWork::PROGRAM:
      return KernelForm::kProgram;
    case v1::KernelWork::MODULE:
      return KernelForm::kModule;
    case v1::KernelWork::TPU_KERNEL:
      return KernelForm::kTpuKernel;
    case v1::KernelWork::TPU_KERNELS:
      return KernelForm::kTpuKernels;
    default:
      return KernelForm::kHlo;
  }
}

void ToProto(const KernelTiming& timing, v1::KernelTiming& proto) {
  for (const auto& known : kOutcomes) {
    if (known.outcome == timing.outcome) proto.set_outcome(known.proto);
  }
  proto.set_message(WireText(timing.message));
  proto.set_violation(timing.violation);
  proto.set_ns(timing.ns);
  proto.mutable_samples_ns()->Add(timing.samples_ns.begin(),
                                  timing.samples_ns.end());
  proto.set_ratio(timing.ratio);
  proto.set_ratio_low(timing.ratio_low);
  proto.set_ratio_high(timing.ratio_high);
  proto.set_max_rel_error(timing.max_rel_error);
  *proto.mutable_compile_time() = ToProtoDuration(timing.compile_time);
}

absl::StatusOr<KernelTiming> FromProto(const v1::KernelTiming& proto) {
  KernelTiming timing;
  const auto* known = absl::c_find_if(kOutcomes, [&](const auto& each) {
    return each.proto == proto.outcome();
  });
  if (known == std::end(kOutcomes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a report has the unknown outcome ",
                     static_cast<int>(proto.outcome())));
  }
  timing.outcome = known->outcome;
  timing.message = proto.message();
  timing.violation = proto.violation();
  timing.ns = proto.ns();
  timing.samples_ns.assign(proto.samples_ns().begin(),
                           proto.samples_ns().end());
  timing.ratio = proto.ratio();
  timing.ratio_low = proto.ratio_low();
  timing.ratio_high = proto.ratio_high();
  timing.max_rel_error = proto.max_rel_error();
  timing.compile_time = FromProtoDuration(proto.compile_time());
  return timing;
}

}  // namespace

std::string WireText(absl::string_view text) {
  text = text.substr(0, kMaxText);
  const bool is_ascii = absl::c_all_of(
      text, [](char c) { return static_cast<signed char>(c) > 0; });
  return is_ascii ? std::string(text) : absl::CHexEscape(text);
}

void ToProto(const KernelDevice& device, v1::Device& proto) {
  proto.set_kind(device.kind);
  proto.set_model(device.model);
  proto.set_isa(device.isa);
  proto.set_threads(device.machine.threads);
  proto.set_fingerprint(device.fingerprint);
  v1::Device::Machine& machine = *proto.mutable_machine();
  machine.set_l1_bytes(device.machine.l1_bytes);
  machine.set_l2_bytes(device.machine.l2_bytes);
  machine.set_l3_bytes(device.machine.l3_bytes);
  machine.set_cache_line_bytes(device.machine.cache_line_bytes);
  machine.set_vector_bytes(device.machine.vector_bytes);
  machine.set_vector_registers(device.machine.vector_registers);
}

KernelDevice FromProto(const v1::Device& proto) {
  KernelDevice device;
  device.kind = proto.kind();
  device.model = proto.model();
  device.isa = proto.isa();
  device.fingerprint = proto.fingerprint();
  device.machine.threads = proto.threads();
  device.machine.l1_bytes = proto.machine().l1_bytes();
  device.machine.l2_bytes = proto.machine().l2_bytes();
  device.machine.l3_bytes = proto.machine().l3_bytes();
  device.machine.cache_line_bytes = proto.machine().cache_line_bytes();
  device.machine.vector_bytes = proto.machine().vector_bytes();
  device.machine.vector_registers = proto.machine().vector_registers();
  return device;
}

void ToProto(const KernelRequest& request, v1::KernelWork& proto) {
  proto.set_module(request.module);
  proto.set_baseline_script(request.baseline_script);
  for (const std::string& script : request.candidate_scripts) {
    proto.add_candidate_scripts(script);
  }
  proto.set_threads(request.threads);
  proto.set_seed(request.seed);
  proto.set_samples(request.pairs);
  *proto.mutable_candidate_timeout() = ToProtoDuration(request.timeout);
  proto.set_time_baseline(request.time_baseline);
  proto.set_calibrate(request.calibrate);
  proto.set_fresh_process(request.fresh_process);
  proto.set_confirm(request.confirm);
  proto.set_form(ToProto(request.form));
  proto.set_bar(request.bar);
  proto.set_tpu(request.tpu);
  for (const std::string& kernel : request.kernels) proto.add_kernels(kernel);
}

KernelRequest FromProto(const v1::KernelWork& proto) {
  KernelRequest request;
  request.module = proto.module();
  request.baseline_script = proto.baseline_script();
  request.candidate_scripts.assign(proto.candidate_scripts().begin(),
                                   proto.candidate_scripts().end());
  request.threads = proto.threads();
  request.seed = proto.seed();
  request.pairs = proto.samples();
  request.timeout = FromProtoDuration(proto.candidate_timeout());
  request.time_baseline = proto.time_baseline();
  request.calibrate = proto.calibrate();
  request.fresh_process = proto.fresh_process();
  request.confirm = proto.confirm();
  request.form = FromProto(proto.form());
  request.bar = proto.bar();
  request.tpu = proto.tpu();
  request.kernels.assign(proto.kernels().begin(), proto.kernels().end());
  return request;
}

void ToProto(const Calibration& calibration, v1::Calibration& proto) {
  proto.set_threads(calibration.threads);
  proto.set_peak_gflops(calibration.peak_gflops);
  proto.set_f64_gflops(calibration.f64_gflops);
  proto.set_bf16_dot_gflops(calibration.bf16_dot_gflops);
  proto.set_s16_dot_gflops(calibration.s16_dot_gflops);
  proto.set_s8_dot_gflops(calibration.s8_dot_gflops);
  for (const Calibration::Level& level : calibration.levels) {
    v1::Calibration::Level& to = *proto.add_levels();
    to.set_bytes(level.bytes);
    to.set_read_gbps(level.read_gbps);
    to.set_copy_gbps(level.copy_gbps);
  }
}

Calibration FromProto(const v1::Calibration& proto) {
  Calibration calibration;
  calibration.threads = proto.threads();
  calibration.peak_gflops = proto.peak_gflops();
  calibration.f64_gflops = proto.f64_gflops();
  calibration.bf16_dot_gflops = proto.bf16_dot_gflops();
  calibration.s16_dot_gflops = proto.s16_dot_gflops();
  calibration.s8_dot_gflops = proto.s8_dot_gflops();
  for (const v1::Calibration::Level& level : proto.levels()) {
    calibration.levels.push_back(
        {level.bytes(), level.read_gbps(), level.copy_gbps()});
  }
  return calibration;
}

void ToProto(const KernelReport& report, v1::KernelReport& proto) {
  if (report.calibration.has_value()) {
    ToProto(*report.calibration, *proto.mutable_calibration());
  }
  if (report.baseline.has_value()) {
    ToProto(*report.baseline, *proto.mutable_baseline());
  }
  for (const KernelTiming& timing : report.candidates) {
    ToProto(timing, *proto.add_candidates());
  }
  for (const std::string& worker : report.workers) proto.add_workers(worker);
  for (const std::string& machine : report.machines) {
    proto.add_machines(machine);
  }
}

absl::StatusOr<KernelReport> FromProto(const v1::KernelReport& proto) {
  KernelReport report;
  if (proto.has_calibration()) {
    report.calibration = FromProto(proto.calibration());
  }
  if (proto.has_baseline()) {
    HONE_ASSIGN_OR_RETURN(report.baseline, FromProto(proto.baseline()));
  }
  for (const v1::KernelTiming& timing : proto.candidates()) {
    HONE_ASSIGN_OR_RETURN(KernelTiming candidate, FromProto(timing));
    report.candidates.push_back(std::move(candidate));
  }
  report.workers.assign(proto.workers().begin(), proto.workers().end());
  report.machines.assign(proto.machines().begin(), proto.machines().end());
  return report;
}

}  // namespace hone::backends
