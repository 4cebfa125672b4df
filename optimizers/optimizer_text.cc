#include "optimizers/optimizer_text.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "base/status_macros.h"

namespace hone::optimizers {
namespace {

// The most that options may be: all candidates that are judged for a batch are
// kept, and those of a batch compared with each other.
constexpr int64_t kMostPredictions = 1 << 16;
constexpr int64_t kMostTopK = 1000;
constexpr int64_t kMostRefresh = 1'000'000;

absl::Status Expected(absl::string_view option, absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("optimizer option '", option, "', expected ", expected));
}

absl::StatusOr<int64_t> ParseNumber(absl::string_view option,
                                    absl::string_view value, int64_t least,
                                    int64_t most) {
  int64_t number = 0;
  if (!absl::SimpleAtoi(value, &number) || number < least || number > most) {
    return Expected(option,
                    absl::StrCat("a whole number from ", least, " to ", most));
  }
  return number;
}

absl::Status SetOption(absl::string_view option, OptimizerOptions& options) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(option, absl::MaxSplits('=', 1));
  const auto& [name, value] = parts;
  if (name == "top_k") {
    HONE_ASSIGN_OR_RETURN(const int64_t number,
                          ParseNumber(option, value, 1, kMostTopK));
    options.top_k = static_cast<int32_t>(number);
  } else if (name == "refresh") {
    HONE_ASSIGN_OR_RETURN(const int64_t number,
                          ParseNumber(option, value, 0, kMostRefresh));
    options.refresh = static_cast<int32_t>(number);
  } else if (name == "predictions") {
    HONE_ASSIGN_OR_RETURN(options.predictions,
                          ParseNumber(option, value, 1, kMostPredictions));
  } else if (name == "proposer") {
    HONE_RETURN_IF_ERROR(Optimizers().Find(value).status());
    if (value == "xtat") return Expected(option, "another optimizer than xtat");
    options.proposer = std::string(value);
  } else {
    return Expected(option,
                    "top_k=N, refresh=N, predictions=N or proposer=OPTIMIZER");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<OptimizerChoice> ParseOptimizer(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ':');
  OptimizerChoice choice;
  HONE_ASSIGN_OR_RETURN(choice.info, Optimizers().Find(parts[0]));
  for (size_t i = 1; i < parts.size(); ++i) {
    if (choice.info->id != "xtat") {
      return Expected(parts[i], absl::StrCat("none, as '", choice.info->id,
                                             "' has no options"));
    }
    const absl::string_view name = parts[i].substr(0, parts[i].find('='));
    for (size_t j = 1; j < i; ++j) {
      if (absl::StartsWith(parts[j], absl::StrCat(name, "="))) {
        return Expected(parts[i], absl::StrCat("one value of ", name));
      }
    }
    HONE_RETURN_IF_ERROR(SetOption(parts[i], choice.options));
  }
  return choice;
}

}  // namespace hone::optimizers
