#ifndef HONE_LEARNING_COST_COST_PREDICTOR_H_
#define HONE_LEARNING_COST_COST_PREDICTOR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "learning/cost/cost_samples.h"

namespace hone::learning {

// The predictions for a list of queries. Both [queries].
struct CostPredictions {
  // The logarithm of nanoseconds or, of a head for an order, a score: of two
  // configurations of one kernel, the one of the higher score is slower, by
  // about the factor exp(difference).
  std::vector<float> values;
  // The standard deviation that values are expected to have from the truth: it
  // is larger where a query is unlike what the model has learned.
  std::vector<float> deviations;
};

// A trained cost model, for callers that do not see Torch.
// Threads: const methods are thread-safe while Refine does not run.
class CostPredictor {
 public:
  virtual ~CostPredictor() = default;

  virtual const CostSpec& spec() const = 0;

  // Predicts what head `head` of the spec says about the queries, on all
  // processors if there are many. Queries that share a graph are encoded once
  // if the features of configurations join late. A prediction does not depend
  // on the other queries.
  // Errors: InvalidArgument if a query does not fit the spec.
  virtual absl::StatusOr<CostPredictions> Predict(
      int32_t head, absl::Span<const CostQuery> queries) const = 0;

  // Adapts the last layers to new measurements, a thousand of them in less than
  // 0.1 s: by ridge regression on what the predictions leave, as strongly as
  // cross-validation says is best, over groups if there are many, and not at
  // all if that is worse than leaving them as they are. Groups of heads for an
  // order teach by the differences between their samples, at least five; if
  // there are eight groups, what cross-validation compares is how wrong the
  // order of others is.
  // Deviations stay those of the training. Deterministic.
  // Errors: InvalidArgument if a group does not fit the spec; nothing changes.
  virtual absl::Status Refine(absl::Span<const CostGroup> groups) = 0;

  // Returns the weights as a file that `hone train` writes.
  virtual std::string Serialize() const = 0;
  // Returns a copy, to be refined by itself.
  virtual std::unique_ptr<CostPredictor> Clone() const = 0;
};

}  // namespace hone::learning

#endif  // HONE_LEARNING_COST_COST_PREDICTOR_H_
