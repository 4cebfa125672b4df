#ifndef HONE_LEARNING_NETWORKS_LOSSES_H_
#define HONE_LEARNING_NETWORKS_LOSSES_H_

#include <torch/torch.h>

namespace hone::learning {

// The losses of K decisions, one each, so that a caller can sum them over parts
// of a minibatch. All tensors are [K] unless said otherwise.

// Returns -min(r A, clamp(r, 1 - clip, 1 + clip) A) with the ratio r of the
// probabilities of what was decided: each decision is clipped by itself.
// Source: Schulman et al., "Proximal Policy Optimization Algorithms", 2017,
// equation 7.
torch::Tensor PolicyLoss(const torch::Tensor& log_probability,
                         const torch::Tensor& log_probability_before,
                         const torch::Tensor& advantage, double clip);

// Returns the entropies of distributions in nats. `log_probabilities`: [K, M],
// -inf for values that are not allowed. Finite, and so is its gradient.
torch::Tensor Entropy(const torch::Tensor& log_probabilities);

// Returns the logarithms of the softmax of `scores` over the values that
// `allowed` has (at least one a row), -inf for others. Both [K, M]. Scores of
// values that are not allowed get no gradient.
torch::Tensor MaskedLogSoftmax(const torch::Tensor& scores,
                               const torch::Tensor& allowed);

// Returns the terms, one for each value, of the cross entropies of the softmax
// of `scores` where the softmax of `wanted` is right, both over the values that
// `allowed` has (at least one a row). All [K, M]; 0 for other values.
torch::Tensor ChoiceLoss(const torch::Tensor& scores,
                         const torch::Tensor& wanted,
                         const torch::Tensor& allowed);

// Returns the losses of double Q-learning with a Huber error of unit `beta`:
// `values` are those of the chosen moves, `rewards`, `discounts` and `next`
// give the targets rewards + discounts * next, which get no gradient.
torch::Tensor QLoss(const torch::Tensor& values, const torch::Tensor& rewards,
                    const torch::Tensor& discounts, const torch::Tensor& next,
                    double beta);

// Returns the values that double Q-learning bootstraps from: those of `target`
// for the moves that `online` likes best. Both [K, M], -inf for no move.
// Source: van Hasselt, Guez and Silver, "Deep Reinforcement Learning with
// Double Q-learning", 2015, equation 4.
torch::Tensor DoubleQValues(const torch::Tensor& online,
                            const torch::Tensor& target);

// How two configurations in the wrong order are punished: by
// max(0, 1 - z) or log(1 + exp(-z)), where z is how far they are in the right
// order.
enum class PairLoss { kHinge, kLogistic };

// Returns the rank losses of K groups of at most M configurations: for each
// group of n, the sum over its pairs (i, j) with times_i > times_j of
// φ(scores_i - scores_j), divided by n (n - 1) / 2; 0 for n < 2. All [K, M];
// entries that `present` lacks count for nothing and get no gradient.
// Source: Kaufman et al., "A Learned Performance Model for Tensor Processing
// Units", 2021, section 4.2.
torch::Tensor PairwiseLoss(PairLoss phi, const torch::Tensor& scores,
                           const torch::Tensor& times,
                           const torch::Tensor& present);

// Returns the squared errors of logarithms of times. Source: the same.
torch::Tensor LogTimeLoss(const torch::Tensor& log_time,
                          const torch::Tensor& true_log_time);

}  // namespace hone::learning

#endif  // HONE_LEARNING_NETWORKS_LOSSES_H_
