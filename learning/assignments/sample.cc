#include "learning/assignments/sample.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "space/complete.h"

namespace hone::learning {
namespace {

// Draws or picks assignments; `pick` chooses among log probabilities of the
// values in a set.
template <typename Pick>
std::optional<AssignmentSample> Draw(const ValueView& view,
                                     absl::Span<const float> scores,
                                     absl::Span<const int32_t> order,
                                     space::Domains& domains, Pick pick) {
  const auto count = static_cast<size_t>(view.problem().variable_count());
  AssignmentSample sample;
  sample.choice.resize(count);
  std::vector<int32_t> drawn(count);
  sample.log_probability.resize(count);
  const auto choose = [&](int32_t variable, uint64_t left) {
    const float* const row = scores.data() + view.first_score(variable);
    float highest = -std::numeric_limits<float>::infinity();
    for (uint64_t rest = left; rest != 0; rest &= rest - 1) {
      highest = std::max(highest, row[std::countr_zero(rest)]);
    }
    double sum = 0;
    for (uint64_t rest = left; rest != 0; rest &= rest - 1) {
      sum +=
          std::exp(static_cast<double>(row[std::countr_zero(rest)] - highest));
    }
    const int32_t value = pick(row, left, highest, sum);
    const auto v = static_cast<size_t>(variable);
    drawn[v] = value;
    sample.choice[v] = left;
    sample.log_probability[v] =
        row[value] - highest - static_cast<float>(std::log(sum));
    return value;
  };
  auto values = space::Complete(domains, order, choose);
  if (!values) return std::nullopt;
  sample.values = *std::move(values);
  for (size_t v = 0; v < count; ++v) {
    // A conflict after the draw decided otherwise, or nothing was drawn.
    if (drawn[v] != sample.values[v] || std::popcount(sample.choice[v]) < 2) {
      sample.choice[v] = 0;
      sample.log_probability[v] = 0;
    }
  }
  return sample;
}

}  // namespace

std::optional<AssignmentSample> SampleAssignment(
    const ValueView& view, absl::Span<const float> scores,
    absl::Span<const int32_t> order, space::Domains& domains, Rng& rng) {
  return Draw(view, scores, order, domains,
              [&](const float* row, uint64_t left, float highest, double sum) {
                double rest = rng.Uniform() * sum;
                int32_t value = std::countr_zero(left);
                for (; left != 0; left &= left - 1) {
                  value = std::countr_zero(left);
                  rest -= std::exp(static_cast<double>(row[value] - highest));
                  if (rest < 0) break;
                }
                return value;
              });
}

std::optional<AssignmentSample> DecodeAssignment(
    const ValueView& view, absl::Span<const float> scores,
    absl::Span<const int32_t> order, space::Domains& domains) {
  return Draw(view, scores, order, domains,
              [](const float* row, uint64_t left, float highest, double) {
                while (row[std::countr_zero(left)] < highest) left &= left - 1;
                return std::countr_zero(left);
              });
}

std::vector<int32_t> SurestFirst(const ValueView& view,
                                 absl::Span<const float> scores,
                                 std::vector<int32_t> order) {
  std::vector<float> doubt;  // 1 / the probability of the likeliest value
  doubt.reserve(order.size());
  for (const space::VariableGroup& group : view.problem().groups()) {
    const auto domain = static_cast<size_t>(group.domain);
    size_t first = view.first_score(group.first);
    for (int32_t v = 0; v < group.count; ++v, first += domain) {
      const absl::Span<const float> row = scores.subspan(first, domain);
      const float highest = *std::max_element(row.begin(), row.end());
      float sum = 0;
      for (const float score : row) sum += std::exp(score - highest);
      doubt.push_back(sum);
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return doubt[static_cast<size_t>(a)] < doubt[static_cast<size_t>(b)];
  });
  return order;
}

void PreferValues(const ValueView& view, absl::Span<const int32_t> values,
                  float keep, std::vector<float>& scores) {
  size_t first = 0;
  for (const space::VariableGroup& group : view.problem().groups()) {
    for (int32_t v = group.first; v < group.first + group.count; ++v) {
      scores[first + static_cast<size_t>(values[static_cast<size_t>(v)])] +=
          keep;
      first += static_cast<size_t>(group.domain);
    }
  }
}

float KeepForChanges(const space::AssignmentProblem& problem, double changes) {
  const auto count = static_cast<double>(problem.variable_count());
  double others = 0;  // values besides the one to keep, on average
  for (const space::VariableGroup& group : problem.groups()) {
    others += static_cast<double>(group.count) * (group.domain - 1) /
              std::max(count, 1.0);
  }
  // others / (others + e^keep) = changes / count
  const double left = std::max(count / std::max(changes, 1e-6) - 1, 1e-6);
  return static_cast<float>(std::log(std::max(others, 1e-6) * left));
}

}  // namespace hone::learning
