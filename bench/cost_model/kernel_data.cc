#include "bench/cost_model/kernel_data.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/status_macros.h"
#include "bench/cost_model/split_name.h"
#include "bench/json_file.h"
#include "costmodels/loop_features.h"
#include "costmodels/loop_work.h"
#include "hlo/inference/verifier.h"
#include "hlo/text/parser.h"
#include "loops/lowering/lowering.h"
#include "loops/transforms/script.h"

namespace hone::bench {
namespace {

// Multiply-adds of vectors that a core begins in a cycle.
constexpr double kMultiplyAddsPerCycle = 2;

// An interval wider than this is no measurement of a ratio: most pairs were
// disturbed by something else.
constexpr double kWidest = 1.25;

// The deviation of the median of three normal numbers over the mean of their
// range, which is the interval of three pairs.
constexpr double kDeviationOfRange = 0.67 / 1.69;

// Returns true if the pairs agree. Else something disturbed most of them, and
// the least sample says more.
bool PairsAgree(const ScheduleSample& sample) {
  return sample.ratio_high <= kWidest * sample.ratio_low;
}

// Nanoseconds.
double TimeOf(const KernelSamples& samples, const ScheduleSample& sample) {
  return PairsAgree(sample) ? samples.default_ns * sample.ratio
                            : sample.least_ns;
}

double DeviationOf(const ScheduleSample& sample) {
  return kDeviationOfRange * std::log(PairsAgree(sample)
                                          ? sample.ratio_high / sample.ratio_low
                                          : kWidest);
}

// Reads a list of families, or a share from 0 to 1, of a part of a split.
absl::Status ReadPart(const nlohmann::ordered_json& json,
                      const std::string& where, const char* part,
                      std::vector<std::string>& families, double& share) {
  const auto it = json.find(part);
  if (it == json.end()) return absl::OkStatus();
  if (it->is_number() && it->get<double>() >= 0 && it->get<double>() <= 1) {
    share = it->get<double>();
    return absl::OkStatus();
  }
  bool is_list = it->is_array();
  for (const auto& family : *it) is_list = is_list && family.is_string();
  if (!is_list) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": '", part,
                     "' is neither a list of families nor a share from 0 to "
                     "1, expected one of these"));
  }
  for (const auto& family : *it) families.push_back(family);
  return absl::OkStatus();
}

}  // namespace

absl::string_view KernelPartName(KernelPart part) {
  switch (part) {
    case KernelPart::kTraining:
      return "training";
    case KernelPart::kValidation:
      return "validation";
    case KernelPart::kTest:
      break;
  }
  return "test";
}

absl::StatusOr<KernelSplit> KernelSplit::Read(const std::string& split) {
  const auto [path, name] = ParseSplitName(split);
  HONE_ASSIGN_OR_RETURN(const nlohmann::ordered_json json,
                        ReadJsonFile(path, "a split of kernels"));
  if (!json.is_object() || !json.contains(name) || !json[name].is_object()) {
    std::vector<std::string> names;
    if (json.is_object()) {
      for (const auto& [key, value] : json.items()) names.push_back(key);
    }
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": no split '", name,
                     "', expected one of: ", absl::StrJoin(names, ", ")));
  }
  const nlohmann::ordered_json& parts = json[name];
  const std::string where = absl::StrCat(path, ": ", name);
  for (const auto& [key, value] : parts.items()) {
    if (key == "validation" || key == "test" || key == "seed") continue;
    return absl::InvalidArgumentError(absl::StrCat(
        where, ": '", key, "', expected validation, test or seed"));
  }
  KernelSplit result;
  HONE_RETURN_IF_ERROR(ReadPart(parts, where, "validation",
                                result.validation_families_,
                                result.validation_share_));
  HONE_RETURN_IF_ERROR(ReadPart(parts, where, "test", result.test_families_,
                                result.test_share_));
  if (result.validation_share_ + result.test_share_ > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": shares of ", result.validation_share_, " and ",
                     result.test_share_, ", expected a sum of at most 1"));
  }
  if (parts.contains("seed")) {
    if (!parts["seed"].is_number_unsigned()) {
      return absl::InvalidArgumentError(absl::StrCat(
          where, ": 'seed' is no whole number, expected one from 0 on"));
    }
    result.seed_ = parts["seed"].get<uint64_t>();
  }
  return result;
}

KernelPart KernelSplit::PartOf(const NamedKernel& kernel) const {
  if (absl::c_linear_search(test_families_, kernel.family)) {
    return KernelPart::kTest;
  }
  if (absl::c_linear_search(validation_families_, kernel.family)) {
    return KernelPart::kValidation;
  }
  const Hash128 hash = FastHash(absl::StrCat(seed_, " ", kernel.name));
  const double at = static_cast<double>(hash.low >> 11) * 0x1.0p-53;
  if (at < test_share_) return KernelPart::kTest;
  return at < test_share_ + validation_share_ ? KernelPart::kValidation
                                              : KernelPart::kTraining;
}

costmodels::LoopRates LoopRatesOf(const backends::Calibration& calibration,
                                  const loops::Machine& machine) {
  costmodels::LoopRates rates;
  const double lanes = static_cast<double>(machine.vector_bytes) / 4;
  const double threads = std::max(1, calibration.threads);
  if (calibration.peak_gflops > 0 && lanes > 0) {
    rates.cycles_per_ns =
        calibration.peak_gflops / threads / (2 * lanes * kMultiplyAddsPerCycle);
  }
  // The bandwidth of the level of memory behind each cache: of the smallest
  // working set that is well beyond it.
  const double sizes[] = {static_cast<double>(machine.l1_bytes),
                          static_cast<double>(machine.l2_bytes),
                          static_cast<double>(machine.l3_bytes)};
  for (size_t cache = 0; cache < costmodels::kCacheCount; ++cache) {
    for (const backends::Calibration::Level& level : calibration.levels) {
      if (level.read_gbps <= 0) continue;
      rates.bytes_per_ns[cache] = level.read_gbps / threads;
      if (static_cast<double>(level.bytes) >= 1.5 * sizes[cache]) break;
    }
  }
  return rates;
}

absl::StatusOr<KernelGroup> MakeKernelGroup(const KernelSamples& samples,
                                            bool with_graphs) {
  HONE_ASSIGN_OR_RETURN(const hlo::Module module,
                        hlo::ParseHloText(samples.kernel.module));
  HONE_RETURN_IF_ERROR(hlo::VerifyModule(module));
  HONE_ASSIGN_OR_RETURN(const loops::Program lowered,
                        loops::LowerToProgram(module));
  const loops::Machine& machine = samples.device.machine;
  const costmodels::LoopRates rates = LoopRatesOf(samples.calibration, machine);
  KernelGroup group;
  group.kernel = samples.kernel;
  group.default_ns = samples.default_ns;
  for (const ScheduleSample& sample : samples.samples) {
    if (sample.outcome != space::Outcome::kOk) continue;
    HONE_ASSIGN_OR_RETURN(const std::vector<loops::Step> script,
                          loops::ParseScript(sample.script));
    HONE_ASSIGN_OR_RETURN(const loops::Program program,
                          loops::ApplyScript(lowered, script));
    ScheduleFeatures schedule;
    if (with_graphs) {
      costmodels::LoopFeatures features =
          costmodels::LoopFeaturesOf(program, machine);
      schedule.graph =
          std::make_shared<const space::Observation>(std::move(features.graph));
      schedule.config = std::move(features.kernel);
    } else {
      schedule.config = costmodels::KernelLoopFeatures(program, machine);
    }
    schedule.log_time = std::log(TimeOf(samples, sample));
    schedule.deviation = DeviationOf(sample);
    schedule.roofline_ns =
        costmodels::PredictLoopTimes(
            costmodels::CountLoopWork(program, machine), machine, rates)
            .ns;
    group.schedules.push_back(std::move(schedule));
  }
  return group;
}

absl::StatusOr<std::vector<KernelGroup>> ReadKernelData(
    const std::string& path, const KernelSplit& split, bool with_graphs) {
  std::vector<KernelGroup> groups;
  int64_t line = 0;
  HONE_RETURN_IF_ERROR(ReadKernelSamples(
      path, [&](const KernelSamples& samples) -> absl::Status {
        ++line;
        absl::StatusOr<KernelGroup> group =
            MakeKernelGroup(samples, with_graphs);
        if (!group.ok()) {
          return absl::Status(
              group.status().code(),
              absl::StrCat(path, ":", line, ": ", samples.kernel.name, ": ",
                           group.status().message()));
        }
        group->part = split.PartOf(group->kernel);
        groups.push_back(*std::move(group));
        return absl::OkStatus();
      }));
  return groups;
}

void WriteFeatureTable(const std::vector<KernelGroup>& groups,
                       std::ostream& out) {
  out << "part,family,kernel,log_time,roofline_ns,"
      << absl::StrJoin(costmodels::LoopFeatureNames(), ",") << "\n";
  for (const KernelGroup& group : groups) {
    for (const ScheduleFeatures& schedule : group.schedules) {
      out << KernelPartName(group.part) << "," << group.kernel.family << ","
          << group.kernel.name << ","
          << absl::StrFormat("%.17g,%.17g", schedule.log_time,
                             schedule.roofline_ns)
          << "," << absl::StrJoin(schedule.config, ",") << "\n";
    }
  }
}

}  // namespace hone::bench
