#include "bench/cost_model/kernel_samples.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include <nlohmann/json.hpp>

#include "base/excerpt.h"
#include "base/status_macros.h"
#include "bench/cost_model/data_file.h"
#include "bench/cost_model/member_reader.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

Json MachineJson(const loops::Machine& machine) {
  return {{"l1_bytes", machine.l1_bytes},
          {"l2_bytes", machine.l2_bytes},
          {"l3_bytes", machine.l3_bytes},
          {"cache_line_bytes", machine.cache_line_bytes},
          {"vector_bytes", machine.vector_bytes},
          {"vector_registers", machine.vector_registers},
          {"has_bf16_dot", machine.has_bf16_dot},
          {"has_integer_dot", machine.has_integer_dot}};
}

Json CalibrationJson(const backends::Calibration& calibration) {
  Json levels = Json::array();
  for (const backends::Calibration::Level& level : calibration.levels) {
    levels.push_back({{"bytes", level.bytes},
                      {"read_gbps", level.read_gbps},
                      {"copy_gbps", level.copy_gbps}});
  }
  return {{"threads", calibration.threads},
          {"peak_gflops", calibration.peak_gflops},
          {"f64_gflops", calibration.f64_gflops},
          {"bf16_dot_gflops", calibration.bf16_dot_gflops},
          {"s16_dot_gflops", calibration.s16_dot_gflops},
          {"s8_dot_gflops", calibration.s8_dot_gflops},
          {"levels", std::move(levels)}};
}

Json SampleJson(const ScheduleSample& sample) {
  Json json = {{"script", sample.script}};
  if (sample.outcome != space::Outcome::kOk) {
    json["outcome"] = space::OutcomeName(sample.outcome);
    json["message"] = sample.message;
    return json;
  }
  json["ratio"] = sample.ratio;
  json["ratio_low"] = sample.ratio_low;
  json["ratio_high"] = sample.ratio_high;
  json["ns"] = sample.ns;
  json["least_ns"] = sample.least_ns;
  return json;
}

constexpr int64_t kMostBytes = int64_t{1} << 40;
// Nanoseconds: nothing is timed below the resolution of a clock.
constexpr double kLeastNs = 1e-3;
constexpr double kLeastRatio = 1e-9;

loops::Machine ReadMachine(MemberReader& read, const Json& json) {
  loops::Machine machine;
  machine.l1_bytes = read.Count(json, "l1_bytes", kMostBytes);
  machine.l2_bytes = read.Count(json, "l2_bytes", kMostBytes);
  machine.l3_bytes = read.Count(json, "l3_bytes", kMostBytes);
  machine.cache_line_bytes =
      read.Count(json, "cache_line_bytes", 1 << 16, /*least=*/1);
  machine.vector_bytes = read.Count(json, "vector_bytes", 1 << 16, /*least=*/1);
  machine.vector_registers = read.Count(json, "vector_registers", 1 << 16);
  machine.has_bf16_dot = read.Flag(json, "has_bf16_dot");
  machine.has_integer_dot = read.Flag(json, "has_integer_dot");
  return machine;
}

backends::Calibration ReadCalibration(MemberReader& read, const Json& json) {
  backends::Calibration calibration;
  calibration.threads =
      static_cast<int32_t>(read.Count(json, "threads", 1 << 16));
  calibration.peak_gflops = read.Number(json, "peak_gflops");
  calibration.f64_gflops = read.Number(json, "f64_gflops");
  calibration.bf16_dot_gflops = read.Number(json, "bf16_dot_gflops");
  calibration.s16_dot_gflops = read.Number(json, "s16_dot_gflops");
  calibration.s8_dot_gflops = read.Number(json, "s8_dot_gflops");
  for (const Json& level : read.List(json, "levels")) {
    calibration.levels.push_back(
        {.bytes = read.Count(level, "bytes", kMostBytes),
         .read_gbps = read.Number(level, "read_gbps"),
         .copy_gbps = read.Number(level, "copy_gbps")});
  }
  return calibration;
}

ScheduleSample ReadSample(MemberReader& read, const Json& json) {
  ScheduleSample sample;
  sample.script = read.Text(json, "script");
  if (json.contains("outcome")) {
    const std::string name = read.Text(json, "outcome");
    const std::optional<space::Outcome> outcome = space::ParseOutcome(name);
    if (!outcome.has_value() || *outcome == space::Outcome::kOk) {
      read.Fail("outcome", absl::StrCat("is '", name, "', no failure"));
    } else {
      sample.outcome = *outcome;
    }
    sample.message = read.Text(json, "message");
    return sample;
  }
  sample.ratio = read.Number(json, "ratio", kLeastRatio);
  sample.ratio_low = read.Number(json, "ratio_low", kLeastRatio);
  sample.ratio_high = read.Number(json, "ratio_high", kLeastRatio);
  sample.ns = read.Number(json, "ns", kLeastNs);
  sample.least_ns = read.Number(json, "least_ns", kLeastNs);
  return sample;
}

}  // namespace

std::string PrintKernelSamples(const KernelSamples& samples) {
  Json list = Json::array();
  for (const ScheduleSample& sample : samples.samples) {
    list.push_back(SampleJson(sample));
  }
  const Json json = {{"family", samples.kernel.family},
                     {"name", samples.kernel.name},
                     {"kernel", samples.kernel.module},
                     {"device",
                      {{"kind", samples.device.kind},
                       {"model", samples.device.model},
                       {"isa", samples.device.isa},
                       {"fingerprint", samples.device.fingerprint},
                       {"machine", MachineJson(samples.device.machine)}}},
                     {"calibration", CalibrationJson(samples.calibration)},
                     {"threads", samples.threads},
                     {"default_ns", samples.default_ns},
                     {"samples", std::move(list)}};
  // Messages may hold anything.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<KernelSamples> ParseKernelSamples(absl::string_view line,
                                                 absl::string_view where) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": '", Excerpt(line),
                     "' is no JSON object, expected the samples of a kernel"));
  }
  MemberReader read(where, "the samples of a kernel");
  KernelSamples samples;
  samples.kernel.family = read.Text(json, "family");
  samples.kernel.name = read.Text(json, "name");
  samples.kernel.module = read.Text(json, "kernel");
  const Json& device = read.Member(json, "device");
  samples.device.kind = read.Text(device, "kind");
  samples.device.model = read.Text(device, "model");
  samples.device.isa = read.Text(device, "isa");
  samples.device.fingerprint = read.Text(device, "fingerprint");
  samples.device.machine = ReadMachine(read, read.Member(device, "machine"));
  samples.calibration = ReadCalibration(read, read.Member(json, "calibration"));
  samples.threads = static_cast<int32_t>(read.Count(json, "threads", 1 << 16));
  samples.device.machine.threads = samples.threads;
  samples.default_ns = read.Number(json, "default_ns", kLeastNs);
  for (const Json& sample : read.List(json, "samples")) {
    samples.samples.push_back(ReadSample(read, sample));
  }
  HONE_RETURN_IF_ERROR(read.status());
  return samples;
}

absl::Status ReadKernelSamples(
    const std::string& path,
    const std::function<absl::Status(KernelSamples)>& use) {
  return ReadDataFile(
      path, "a data file of kernels (hone dataset kernels -o FILE)",
      [&](absl::string_view line, absl::string_view where) -> absl::Status {
        HONE_ASSIGN_OR_RETURN(KernelSamples samples,
                              ParseKernelSamples(line, where));
        return use(std::move(samples));
      });
}

}  // namespace hone::bench
