#include "hlo/tiles/kernel_config.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

#include "base/excerpt.h"
#include "base/status_macros.h"

namespace hone::hlo {
namespace {

// More dimensions than a shape may have.
constexpr size_t kMaxSizes = 1024;

absl::Status Error(absl::string_view key, absl::string_view value,
                   absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat("kernel configuration: ", key,
                                                 "=", Excerpt(value),
                                                 ", expected ", expected));
}

absl::StatusOr<DimensionVector> ParseSizes(absl::string_view key,
                                           absl::string_view value) {
  DimensionVector sizes;
  if (value.empty())
    return Error(key, value, "sizes of at least 1, like 8,128");
  for (const absl::string_view part : absl::StrSplit(value, ',')) {
    int64_t size = 0;
    if (!absl::SimpleAtoi(part, &size) || size < 1 ||
        sizes.size() == kMaxSizes) {
      return Error(key, value, "sizes of at least 1, like 8,128");
    }
    sizes.push_back(size);
  }
  return sizes;
}

absl::StatusOr<int32_t> ParseBuffers(absl::string_view value) {
  int32_t buffers = 0;
  if (!absl::SimpleAtoi(value, &buffers) || buffers < 1 ||
      buffers > kMaxBuffers) {
    return Error("buffers", value, absl::StrCat("1 to ", kMaxBuffers));
  }
  return buffers;
}

absl::StatusOr<int32_t> ParseUnroll(absl::string_view value) {
  int32_t unroll = 0;
  if (!absl::SimpleAtoi(value, &unroll) || unroll < 1 || unroll > kMaxUnroll ||
      (unroll & (unroll - 1)) != 0) {
    return Error("unroll", value,
                 absl::StrCat("a power of two up to ", kMaxUnroll));
  }
  return unroll;
}

absl::Status ParseField(absl::string_view key, absl::string_view value,
                        KernelConfig& config) {
  if (key == "output") {
    HONE_ASSIGN_OR_RETURN(config.tile.output, ParseSizes(key, value));
  } else if (key == "reduction") {
    HONE_ASSIGN_OR_RETURN(config.tile.reduction, ParseSizes(key, value));
  } else if (key == "order") {
    if (value != "row" && value != "column") {
      return Error(key, value, "row or column");
    }
    config.order = value == "row" ? GridOrder::kRow : GridOrder::kColumn;
  } else if (key == "buffers") {
    HONE_ASSIGN_OR_RETURN(config.buffers, ParseBuffers(value));
  } else if (key == "unroll") {
    HONE_ASSIGN_OR_RETURN(config.unroll, ParseUnroll(value));
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("kernel configuration: unknown key \"", Excerpt(key),
                     "\", expected output, reduction, order, buffers, unroll"));
  }
  return absl::OkStatus();
}

}  // namespace

std::string PrintKernelConfig(const KernelConfig& config) {
  std::string text;
  if (!config.tile.output.empty()) {
    absl::StrAppend(&text, "output=", absl::StrJoin(config.tile.output, ","),
                    " ");
  }
  if (!config.tile.reduction.empty()) {
    absl::StrAppend(
        &text, "reduction=", absl::StrJoin(config.tile.reduction, ","), " ");
  }
  absl::StrAppend(&text,
                  "order=", config.order == GridOrder::kRow ? "row" : "column",
                  " buffers=", config.buffers, " unroll=", config.unroll);
  return text;
}

absl::StatusOr<KernelConfig> ParseKernelConfig(absl::string_view text) {
  KernelConfig config;
  std::set<absl::string_view> seen;
  for (const absl::string_view field :
       absl::StrSplit(text, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(field, absl::MaxSplits('=', 1));
    HONE_RETURN_IF_ERROR(ParseField(pair.first, pair.second, config));
    if (!seen.insert(pair.first).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("kernel configuration: ", pair.first,
                       " is given twice, expected "
                       "once"));
    }
  }
  return config;
}

}  // namespace hone::hlo
