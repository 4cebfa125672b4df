#include "tuning/tasks/tile_problem.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/check.h"
#include "base/status_macros.h"

namespace hone::tuning {
namespace {

constexpr std::array kOrders = {hlo::GridOrder::kRow, hlo::GridOrder::kColumn};
constexpr std::array<int32_t, 4> kUnrolls = {1, 2, 4, 8};

template <typename List, typename Value>
int32_t IndexOf(const List& list, const Value& value) {
  const auto at = std::find(list.begin(), list.end(), value);
  return at == list.end() ? 0 : static_cast<int32_t>(at - list.begin());
}

}  // namespace

TileProblem::TileProblem(TileProblemOptions options)
    : options_(std::move(options)), tiled_(*options_.kernel), space_(tiled_) {
  const auto add = [this](std::string name, size_t domain) {
    groups_.push_back({.name = std::move(name),
                       .first = static_cast<int32_t>(groups_.size()),
                       .count = 1,
                       .domain = static_cast<int32_t>(domain)});
  };
  const size_t outputs = tiled_.output_dimensions().size();
  for (size_t d = 0; d < space_.sizes().size(); ++d) {
    add(d < outputs ? absl::StrCat("output", d)
                    : absl::StrCat("reduction", d - outputs),
        space_.sizes()[d].size());
  }
  if (!options_.with_flags) return;
  add("order", kOrders.size());
  add("buffers", hlo::kMaxBuffers);
  add("unroll", kUnrolls.size());
}

hlo::KernelConfig TileProblem::ConfigOf(
    absl::Span<const int32_t> values) const {
  hlo::KernelConfig config;
  const size_t outputs = tiled_.output_dimensions().size();
  const size_t sizes = space_.sizes().size();
  for (size_t d = 0; d < sizes; ++d) {
    const int64_t size = space_.sizes()[d][static_cast<size_t>(values[d])];
    (d < outputs ? config.tile.output : config.tile.reduction).push_back(size);
  }
  if (!options_.with_flags) {
    const hlo::Tile tile = config.tile;
    config = options_.by_default;
    config.tile = tile;
    return config;
  }
  config.order = kOrders[static_cast<size_t>(values[sizes])];
  config.buffers = values[sizes + 1] + 1;
  config.unroll = kUnrolls[static_cast<size_t>(values[sizes + 2])];
  return config;
}

space::Candidate TileProblem::CandidateOf(
    const hlo::KernelConfig& config) const {
  space::Candidate candidate;
  const size_t outputs = tiled_.output_dimensions().size();
  for (size_t d = 0; d < space_.sizes().size(); ++d) {
    const std::vector<int64_t>& sizes = space_.sizes()[d];
    const int64_t size = d < outputs ? config.tile.output[d]
                                     : config.tile.reduction[d - outputs];
    // The largest one is the whole dimension.
    const auto at = std::min(std::lower_bound(sizes.begin(), sizes.end(), size),
                             sizes.end() - 1);
    candidate.choices.push_back(static_cast<int32_t>(at - sizes.begin()));
  }
  if (!options_.with_flags) return candidate;
  candidate.choices.push_back(IndexOf(kOrders, config.order));
  candidate.choices.push_back(config.buffers - 1);
  candidate.choices.push_back(IndexOf(kUnrolls, config.unroll));
  return candidate;
}

space::Candidate TileProblem::DefaultCandidate() const {
  return CandidateOf(options_.by_default);
}

bool TileProblem::IsInSpace(absl::Span<const int32_t> values) const {
  if (values.size() != groups_.size()) return false;
  for (size_t v = 0; v < values.size(); ++v) {
    if (values[v] < 0 || values[v] >= groups_[v].domain) return false;
  }
  return true;
}

absl::StatusOr<std::vector<space::Measurement>> TileProblem::MeasureBatch(
    absl::Span<const space::Candidate> candidates) const {
  std::vector<space::Measurement> measurements(candidates.size());
  std::vector<hlo::KernelConfig> configs;
  std::vector<size_t> measured;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (IsInSpace(candidates[i].choices)) {
      configs.push_back(ConfigOf(candidates[i].choices));
      measured.push_back(i);
      continue;
    }
    measurements[i].outcome = space::Outcome::kInvalid;
    measurements[i].message =
        absl::StrCat("not a configuration, expected ", groups_.size(),
                     " values within their domains");
  }
  if (configs.empty()) return measurements;
  HONE_ASSIGN_OR_RETURN(std::vector<space::Measurement> results,
                        options_.measure(configs));
  HONE_CHECK(results.size() == configs.size());
  for (size_t i = 0; i < measured.size(); ++i) {
    results[i].cost *= options_.executions;
    measurements[measured[i]] = std::move(results[i]);
  }
  return measurements;
}

absl::StatusOr<std::unique_ptr<space::Surrogate>> TileProblem::MakeSurrogate()
    const {
  if (!options_.make_surrogate) return nullptr;
  return options_.make_surrogate(*this);
}

}  // namespace hone::tuning
