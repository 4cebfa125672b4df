#include "optimizers/policies/assignment_decoding.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "learning/assignments/sample.h"

namespace hone::optimizers::policies {

std::vector<std::vector<int32_t>> DecodeInRounds(
    const learning::AssignmentModel& model, const learning::ValueView& view,
    absl::Span<const int32_t> start, int rounds, space::Domains& domains) {
  std::vector<int32_t> order(start.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::vector<int32_t>> decoded;
  std::vector<int32_t> before(start.begin(), start.end());
  for (int round = 0; round < rounds; ++round) {
    const std::vector<float> scores = model.Score(view, before);
    std::optional<learning::AssignmentSample> sample =
        learning::DecodeAssignment(
            view, scores, learning::SurestFirst(view, scores, order), domains);
    if (!sample || sample->values == before ||
        std::find(decoded.begin(), decoded.end(), sample->values) !=
            decoded.end()) {
      break;
    }
    before = sample->values;
    decoded.push_back(std::move(sample->values));
  }
  return decoded;
}

}  // namespace hone::optimizers::policies
