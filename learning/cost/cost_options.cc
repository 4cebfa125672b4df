#include "learning/cost/cost_options.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

#include "base/status_macros.h"

namespace hone::learning {
namespace {

template <typename T, size_t N>
using Names = std::array<std::pair<T, absl::string_view>, N>;

constexpr Names<CostEncoder, 3> kEncoders = {
    {{CostEncoder::kSage, "sage"},
     {CostEncoder::kAttention, "attention"},
     {CostEncoder::kSequence, "sequence"}}};
constexpr Names<CostAggregator, 3> kAggregators = {
    {{CostAggregator::kMean, "mean"},
     {CostAggregator::kSum, "sum"},
     {CostAggregator::kMax, "max"}}};
constexpr Names<CostReduction, 5> kReductions = {
    {{CostReduction::kMean, "mean"},
     {CostReduction::kSum, "sum"},
     {CostReduction::kMax, "max"},
     {CostReduction::kLstm, "lstm"},
     {CostReduction::kTransformer, "transformer"}}};
constexpr Names<CostJoin, 2> kJoins = {
    {{CostJoin::kEarly, "early"}, {CostJoin::kLate, "late"}}};

template <typename T, size_t N>
absl::string_view NameOf(const Names<T, N>& names, T value) {
  for (const auto& [known, name] : names) {
    if (known == value) return name;
  }
  return "";
}

template <typename T, size_t N>
absl::Status ReadName(const Names<T, N>& names, absl::string_view option,
                      absl::string_view text, T& value) {
  for (const auto& [known, name] : names) {
    if (name != text) continue;
    value = known;
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "architecture: ", option, " is '", text, "', expected one of: ",
      absl::StrJoin(names, ", ", [](std::string* out, const auto& entry) {
        absl::StrAppend(out, entry.second);
      })));
}

absl::Status ReadNumber(absl::string_view option, absl::string_view text,
                        int32_t least, int32_t most, int32_t step,
                        int32_t& value) {
  if (absl::SimpleAtoi(text, &value) && value >= least && value <= most &&
      value % step == 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "architecture: ", option, " is '", text, "', expected a multiple of ",
      step, " from ", least, " to ", most));
}

absl::Status ReadReductions(absl::string_view text,
                            std::vector<CostReduction>& reductions) {
  reductions.clear();
  for (const absl::string_view name : absl::StrSplit(text, '+')) {
    CostReduction reduction{};
    HONE_RETURN_IF_ERROR(ReadName(kReductions, "reduction", name, reduction));
    if (std::find(reductions.begin(), reductions.end(), reduction) !=
        reductions.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("architecture: reduction is '", text,
                       "', expected each at most once"));
    }
    reductions.push_back(reduction);
  }
  return absl::OkStatus();
}

absl::Status ReadOption(absl::string_view name, absl::string_view text,
                        CostOptions& options) {
  if (name == "encoder") {
    return ReadName(kEncoders, name, text, options.encoder);
  }
  if (name == "aggregator") {
    return ReadName(kAggregators, name, text, options.aggregator);
  }
  if (name == "layers") {
    return ReadNumber(name, text, 0, 16, 1, options.layers);
  }
  if (name == "width") {
    return ReadNumber(name, text, 16, 1024, 16, options.width);
  }
  if (name == "hidden") {
    return ReadNumber(name, text, 16, 1024, 16, options.hidden);
  }
  if (name == "reduction") return ReadReductions(text, options.reductions);
  if (name == "join") return ReadName(kJoins, name, text, options.join);
  return absl::InvalidArgumentError(
      absl::StrCat("architecture: unknown option '", name,
                   "', expected encoder, aggregator, layers, width, hidden, "
                   "reduction or join"));
}

}  // namespace

std::string PrintCostOptions(const CostOptions& options) {
  return absl::StrCat(
      "encoder=", NameOf(kEncoders, options.encoder),
      ",aggregator=", NameOf(kAggregators, options.aggregator),
      ",layers=", options.layers, ",width=", options.width,
      ",hidden=", options.hidden, ",reduction=",
      absl::StrJoin(options.reductions, "+",
                    [](std::string* out, CostReduction reduction) {
                      absl::StrAppend(out, NameOf(kReductions, reduction));
                    }),
      ",join=", NameOf(kJoins, options.join));
}

absl::StatusOr<CostOptions> ParseCostOptions(absl::string_view text) {
  CostOptions options;
  for (const absl::string_view part :
       absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> option =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    HONE_RETURN_IF_ERROR(ReadOption(option.first, option.second, options));
  }
  return options;
}

}  // namespace hone::learning
