#include "learning/cost/cost_training_options.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace hone::learning {

absl::StatusOr<OrderLoss> ParseOrderLoss(absl::string_view name) {
  for (const OrderLoss loss :
       {OrderLoss::kHinge, OrderLoss::kLogistic, OrderLoss::kSquared}) {
    if (OrderLossName(loss) == name) return loss;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "loss is '", name, "', expected hinge, logistic or squared"));
}

absl::string_view OrderLossName(OrderLoss loss) {
  switch (loss) {
    case OrderLoss::kHinge:
      return "hinge";
    case OrderLoss::kLogistic:
      return "logistic";
    case OrderLoss::kSquared:
      return "squared";
  }
  return "";
}

}  // namespace hone::learning
