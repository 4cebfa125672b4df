#ifndef HONE_LEARNING_COST_COST_TRAINING_OPTIONS_H_
#define HONE_LEARNING_COST_COST_TRAINING_OPTIONS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hone::learning {

// What heads for an order learn by. Heads for times learn by the squared error
// of the logarithm.
enum class OrderLoss {
  kHinge,     // pairwise, max(0, 1 - z)
  kLogistic,  // pairwise, log(1 + exp(-z))
  kSquared,   // of the logarithm of the time, for comparison
};

// Returns the loss of that name: hinge, logistic or squared.
// Errors: InvalidArgument, listing the names.
absl::StatusOr<OrderLoss> ParseOrderLoss(absl::string_view name);
absl::string_view OrderLossName(OrderLoss loss);

// How a cost model is trained.
struct CostTrainingOptions {
  uint64_t seed = 0;
  OrderLoss order_loss = OrderLoss::kHinge;
  int64_t epochs = 60;
  // Groups of a minibatch, and the most samples of a group in it, which are
  // drawn anew each time.
  int32_t groups_per_batch = 64;
  int32_t samples_per_group = 32;
  // The learning rate rises linearly over the first `warmup` of all steps and
  // falls as a cosine to 0.
  double learning_rate = 2e-3;
  double warmup = 0.05;
  // By which weights shrink with each step, times the learning rate.
  double weight_decay = 1e-2;
  double max_gradient_norm = 1;
  // The standard deviation of the noise that is added to the standardized
  // features of nodes and configurations, so that a network of few kernels
  // does not rely on the last digits of any.
  double input_noise = 0;
  // The share of nodes whose kind is hidden from the network, so that it learns
  // what to make of kinds that it does not know.
  double unknown_share = 0.01;

  friend bool operator==(const CostTrainingOptions&,
                         const CostTrainingOptions&) = default;
};

}  // namespace hone::learning

#endif  // HONE_LEARNING_COST_COST_TRAINING_OPTIONS_H_
