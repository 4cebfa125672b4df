#include "learning/networks/encoder_options.h"

#include <array>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace hone::learning {
namespace {

constexpr std::array<std::pair<Aggregator, absl::string_view>, 4> kAggregators =
    {{{Aggregator::kMean, "mean"},
      {Aggregator::kSum, "sum"},
      {Aggregator::kMax, "max"},
      {Aggregator::kAttention, "attention"}}};

absl::Status ReadNumber(absl::string_view name, absl::string_view text,
                        int32_t least, int32_t most, int32_t step,
                        int32_t& value) {
  if (absl::SimpleAtoi(text, &value) && value >= least && value <= most &&
      value % step == 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "architecture: ", name, " is '", text, "', expected a multiple of ", step,
      " from ", least, " to ", most));
}

absl::Status ReadAggregator(absl::string_view text, Aggregator& aggregator) {
  for (const auto& [value, name] : kAggregators) {
    if (name == text) {
      aggregator = value;
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("architecture: aggregator is '", text,
                   "', expected mean, sum, max or attention"));
}

absl::Status ReadOption(absl::string_view name, absl::string_view text,
                        EncoderOptions& options) {
  if (name == "width") {
    return ReadNumber(name, text, 4, 1024, 4, options.width);
  }
  if (name == "layers") {
    return ReadNumber(name, text, 0, 16, 1, options.layers);
  }
  if (name == "segment") {
    return ReadNumber(name, text, 0, 4096, 1, options.segment);
  }
  if (name == "aggregator") return ReadAggregator(text, options.aggregator);
  if (name == "conditioning" || name == "task_heads") {
    int32_t value = 0;
    const absl::Status status = ReadNumber(name, text, 0, 1, 1, value);
    (name == "conditioning" ? options.conditioning : options.task_heads) =
        value == 1;
    return status;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "architecture: unknown option '", name,
      "', expected width, layers, aggregator, segment, conditioning or "
      "task_heads"));
}

}  // namespace

std::string PrintEncoderOptions(const EncoderOptions& options) {
  absl::string_view aggregator;
  for (const auto& [value, name] : kAggregators) {
    if (value == options.aggregator) aggregator = name;
  }
  return absl::StrCat("width=", options.width, ",layers=", options.layers,
                      ",aggregator=", aggregator, ",segment=", options.segment,
                      ",conditioning=", options.conditioning ? 1 : 0,
                      ",task_heads=", options.task_heads ? 1 : 0);
}

absl::StatusOr<EncoderOptions> ParseEncoderOptions(absl::string_view text) {
  EncoderOptions options;
  for (const absl::string_view part :
       absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> option =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    const absl::Status status =
        ReadOption(option.first, option.second, options);
    if (!status.ok()) return status;
  }
  return options;
}

}  // namespace hone::learning
