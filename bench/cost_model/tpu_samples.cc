#include "bench/cost_model/tpu_samples.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include <nlohmann/json.hpp>

#include "base/excerpt.h"
#include "base/status_macros.h"
#include "bench/cost_model/data_file.h"
#include "bench/cost_model/member_reader.h"
#include "hlo/inference/verifier.h"
#include "hlo/text/parser.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr absl::string_view kExpected = "configurations of a TPU's kernel";
// Nothing is simulated in less.
constexpr double kLeastNs = 1e-3;

}  // namespace

std::string PrintTpuSamples(const TpuSamples& samples) {
  Json list = Json::array();
  for (const TileSample& sample : samples.samples) {
    list.push_back(
        {{"config", hlo::PrintKernelConfig(sample.config)}, {"ns", sample.ns}});
  }
  const Json json = {{"program", samples.program},
                     {"family", samples.family},
                     {"device", samples.device},
                     {"kernel", samples.kernel},
                     {"samples", std::move(list)}};
  // Names in kernels may hold anything.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<TpuSamples> ParseTpuSamples(absl::string_view line,
                                           absl::string_view where) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": '", Excerpt(line),
                     "' is no JSON object, expected ", kExpected));
  }
  MemberReader read(where, kExpected);
  TpuSamples samples;
  samples.program = read.Text(json, "program");
  samples.family = read.Text(json, "family");
  samples.device = read.Text(json, "device");
  samples.kernel = read.Text(json, "kernel");
  for (const Json& sample : read.List(json, "samples")) {
    TileSample& added = samples.samples.emplace_back();
    const absl::StatusOr<hlo::KernelConfig> config =
        hlo::ParseKernelConfig(read.Text(sample, "config"));
    if (config.ok()) {
      added.config = *config;
    } else {
      read.Fail("config", absl::StrCat("is none: ", config.status().message()));
    }
    added.ns = read.Number(sample, "ns", kLeastNs);
  }
  if (samples.samples.empty()) read.Fail("samples", "is empty");
  HONE_RETURN_IF_ERROR(read.status());
  return samples;
}

absl::StatusOr<hlo::Module> ParseTpuKernel(const TpuSamples& samples) {
  HONE_ASSIGN_OR_RETURN(hlo::Module kernel, hlo::ParseHloText(samples.kernel));
  HONE_RETURN_IF_ERROR(hlo::VerifyModule(kernel));
  return kernel;
}

absl::Status ReadTpuSamples(
    const std::string& path,
    const std::function<absl::Status(TpuSamples)>& use) {
  return ReadDataFile(
      path, "a data file of TPU kernels (hone dataset tpu -o FILE)",
      [&](absl::string_view line, absl::string_view where) -> absl::Status {
        HONE_ASSIGN_OR_RETURN(TpuSamples samples, ParseTpuSamples(line, where));
        const absl::Status status = use(std::move(samples));
        if (status.ok() || absl::StrContains(status.message(), path)) {
          return status;
        }
        return absl::Status(status.code(),
                            absl::StrCat(where, ": ", status.message()));
      });
}

}  // namespace hone::bench
