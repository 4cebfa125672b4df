#include "learning/networks/losses.h"

#include <limits>

namespace hone::learning {

torch::Tensor PolicyLoss(const torch::Tensor& log_probability,
                         const torch::Tensor& log_probability_before,
                         const torch::Tensor& advantage, double clip) {
  const torch::Tensor ratio =
      torch::exp(log_probability - log_probability_before);
  return -torch::min(ratio * advantage,
                     ratio.clamp(1 - clip, 1 + clip) * advantage);
}

torch::Tensor Entropy(const torch::Tensor& log_probabilities) {
  // 0 · -inf is not a number where a value is not allowed.
  const torch::Tensor finite = log_probabilities.clamp_min(-30);
  return -(torch::exp(finite) * finite).sum(1);
}

torch::Tensor MaskedLogSoftmax(const torch::Tensor& scores,
                               const torch::Tensor& allowed) {
  return torch::log_softmax(
      scores.masked_fill(allowed.logical_not(),
                         -std::numeric_limits<float>::infinity()),
      1);
}

torch::Tensor ChoiceLoss(const torch::Tensor& scores,
                         const torch::Tensor& wanted,
                         const torch::Tensor& allowed) {
  // 0 · -inf is not a number where a value is not allowed.
  return -(torch::exp(MaskedLogSoftmax(wanted, allowed)) *
           MaskedLogSoftmax(scores, allowed).clamp_min(-1e4));
}

torch::Tensor QLoss(const torch::Tensor& values, const torch::Tensor& rewards,
                    const torch::Tensor& discounts, const torch::Tensor& next,
                    double beta) {
  return torch::smooth_l1_loss(values, (rewards + discounts * next).detach(),
                               at::Reduction::None, beta);
}

torch::Tensor DoubleQValues(const torch::Tensor& online,
                            const torch::Tensor& target) {
  return target.gather(1, online.argmax(1, /*keepdim=*/true)).squeeze(1);
}

torch::Tensor PairwiseLoss(PairLoss phi, const torch::Tensor& scores,
                           const torch::Tensor& times,
                           const torch::Tensor& present) {
  // [K, M, M]: how much higher i scores than j, and whether that is right.
  const torch::Tensor difference = scores.unsqueeze(2) - scores.unsqueeze(1);
  const torch::Tensor slower =
      times.unsqueeze(2)
          .gt(times.unsqueeze(1))
          .logical_and(present.unsqueeze(2).logical_and(present.unsqueeze(1)));
  const torch::Tensor loss = phi == PairLoss::kHinge
                                 ? torch::relu(1 - difference)
                                 : torch::softplus(-difference);
  const torch::Tensor count = present.sum(1).to(torch::kFloat32);
  const torch::Tensor pairs = (count * (count - 1) / 2).clamp_min(1);
  return torch::where(slower, loss, torch::zeros({})).sum({1, 2}) / pairs;
}

torch::Tensor LogTimeLoss(const torch::Tensor& log_time,
                          const torch::Tensor& true_log_time) {
  return (log_time - true_log_time).square();
}

}  // namespace hone::learning
