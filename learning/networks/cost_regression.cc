#include "learning/networks/cost_regression.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace hone::learning {
namespace {

constexpr auto kDouble = torch::kFloat64;

// Nodes that one pass of the network sees, for memory's sake.
constexpr size_t kNodesPerPart = 8192;

// The least share of the distance from the training samples in the expected
// squared error of held-out ones.
constexpr double kLeastShareOfDistance = 0.5;

// The samples of all groups of one head.
struct Regression {
  torch::Tensor hidden;     // [S, hidden], double
  torch::Tensor predicted;  // [S], double
  torch::Tensor log_times;  // [S], double
  torch::Tensor group;      // [S] int64, from 0
  int64_t groups = 0;

  int64_t samples() const { return log_times.size(0); }
};

Regression MakeRegression(int32_t head, absl::Span<const CostGroup> groups,
                          const CostSpec& spec, CostNetworkImpl& network) {
  const torch::NoGradGuard no_grad;
  const int64_t width = network.options().hidden;
  Regression all;
  std::vector<torch::Tensor> hidden = {torch::empty({0, width})};
  std::vector<torch::Tensor> predicted = {torch::empty({0})};
  std::vector<double> log_times;
  std::vector<int64_t> group_of_sample;
  std::vector<CostQuery> queries;
  size_t nodes = 0;
  const auto flush = [&] {
    if (queries.empty()) return;
    const CostBatch batch =
        MakeCostBatch(queries, spec, network.options().join);
    hidden.push_back(network.Hidden(
        head, network.Kernels(batch), batch,
        torch::arange(static_cast<int64_t>(queries.size()), torch::kInt64)));
    predicted.push_back(network.Output(head, hidden.back()));
    queries.clear();
    nodes = 0;
  };
  for (const CostGroup& group : groups) {
    if (group.head != head) continue;
    for (const CostSample& sample : group.samples) {
      queries.push_back({sample.graph.get(), sample.config});
      nodes += sample.graph->node_kinds.size();
      log_times.push_back(sample.log_time);
      group_of_sample.push_back(all.groups);
      if (nodes >= kNodesPerPart) flush();
    }
    ++all.groups;
  }
  flush();
  all.hidden = torch::cat(hidden).to(kDouble);
  all.predicted = torch::cat(predicted).to(kDouble);
  all.log_times = torch::tensor(log_times, kDouble);
  all.group = torch::tensor(group_of_sample, torch::kInt64);
  return all;
}

// Subtracts from each row the mean of the rows of its group.
torch::Tensor WithinGroups(const torch::Tensor& rows, const Regression& of) {
  const torch::Tensor columns =
      rows.dim() == 1 ? rows.unsqueeze(1) : rows;  // [S, ·]
  const torch::Tensor sizes =
      torch::zeros({of.groups, 1}, kDouble)
          .index_add(0, of.group, torch::ones({of.samples(), 1}, kDouble));
  const torch::Tensor means =
      torch::zeros({of.groups, columns.size(1)}, kDouble)
          .index_add(0, of.group, columns) /
      sizes;
  const torch::Tensor centered = columns - means.index_select(0, of.group);
  return rows.dim() == 1 ? centered.squeeze(1) : centered;
}

// The errors of predictions, as FitDeviations has them.
torch::Tensor Errors(const Regression& of, CostTarget target) {
  const torch::Tensor errors = of.log_times - of.predicted;
  return target == CostTarget::kOrder ? WithinGroups(errors, of) : errors;
}

// Ridge regressions of one right side with several strengths.
class Ridge {
 public:
  // products: [P, P], XᵀX; right: [P], Xᵀy.
  Ridge(const torch::Tensor& products, const torch::Tensor& right) {
    std::tie(values_, vectors_) = torch::linalg_eigh(products);
    right_ = vectors_.t().matmul(right);
  }
  // [P]
  torch::Tensor Coefficients(double strength) const {
    return vectors_.matmul(right_ / (values_.clamp_min(0) + strength));
  }

 private:
  torch::Tensor values_;
  torch::Tensor vectors_;
  torch::Tensor right_;
};

constexpr int64_t kFolds = 8;

// How far off what is added to the predictions of the samples `indices` [F]
// leaves them.
using ChangeLoss = std::function<double(const torch::Tensor& indices,
                                        const torch::Tensor& change)>;

// Returns the coefficients [P] of the ridge regression of `right` [S] on
// `rows` [S, P] whose strength has the least loss on folds that were left out;
// nothing if none has a lower one than no change. fold: [S] int64,
// 0 … kFolds-1.
std::optional<torch::Tensor> CrossValidatedRidge(const torch::Tensor& rows,
                                                 const torch::Tensor& right,
                                                 const torch::Tensor& fold,
                                                 const ChangeLoss& loss) {
  const torch::Tensor products = rows.t().matmul(rows);
  const torch::Tensor sides = rows.t().matmul(right);
  const double unit =
      products.trace().item<double>() / static_cast<double>(rows.size(1));
  if (!(unit > 0)) return std::nullopt;
  // From the strongest, so that of equal ones it is taken.
  std::vector<double> strengths;
  for (int exponent = 4; exponent >= -6; --exponent) {
    strengths.push_back(unit * std::pow(10, exponent));
  }
  std::vector<double> losses(strengths.size());
  double without = 0;
  for (int64_t f = 0; f < kFolds; ++f) {
    const torch::Tensor mine = fold.eq(f).nonzero().squeeze(1);
    if (mine.numel() == 0) continue;
    const torch::Tensor out = rows.index_select(0, mine);
    const Ridge ridge(products - out.t().matmul(out),
                      sides - out.t().matmul(right.index_select(0, mine)));
    for (size_t i = 0; i < strengths.size(); ++i) {
      losses[i] += loss(mine, out.matmul(ridge.Coefficients(strengths[i])));
    }
    without += loss(mine, torch::zeros_like(mine, kDouble));
  }
  const auto best = std::min_element(losses.begin(), losses.end());
  if (!(*best < without)) return std::nullopt;
  return Ridge(products, sides)
      .Coefficients(strengths[static_cast<size_t>(best - losses.begin())]);
}

// The squared error of predictions.
ChangeLoss SquaredLoss(const torch::Tensor& errors) {
  return [errors](const torch::Tensor& indices, const torch::Tensor& change) {
    return (errors.index_select(0, indices) - change)
        .square()
        .sum()
        .item<double>();
  };
}

// By what the slower of two samples of a group, put first, is slower, summed
// over the pairs in the wrong order: a squared error can fall while the best of
// a group gets another place. Samples of a group must follow each other.
ChangeLoss MisorderLoss(const Regression& of) {
  return [&of](const torch::Tensor& indices, const torch::Tensor& change) {
    const torch::Tensor log_times = of.log_times.index_select(0, indices);
    const torch::Tensor scores = of.predicted.index_select(0, indices) + change;
    const torch::Tensor groups = of.group.index_select(0, indices);
    const auto time = log_times.accessor<double, 1>();
    const auto score = scores.accessor<double, 1>();
    const auto group = groups.accessor<int64_t, 1>();
    double loss = 0;
    for (int64_t i = 0; i < indices.size(0); ++i) {
      for (int64_t j = i + 1; j < indices.size(0) && group[j] == group[i];
           ++j) {
        if ((score[i] - score[j]) * (time[i] - time[j]) < 0) {
          loss += std::abs(time[i] - time[j]);
        }
      }
    }
    return loss;
  };
}

}  // namespace

void RefineLastLayers(absl::Span<const CostGroup> groups, const CostSpec& spec,
                      CostNetworkImpl& network) {
  const torch::NoGradGuard no_grad;
  for (size_t h = 0; h < spec.heads.size(); ++h) {
    const auto head = static_cast<int32_t>(h);
    const Regression of = MakeRegression(head, groups, spec, network);
    const bool has_constant = spec.heads[h].target == CostTarget::kTime;
    // Differences within a group sum up to 0, so that leaving out one of a few
    // leaves out nothing.
    if (of.samples() < (has_constant ? 2 : of.groups + 4)) continue;
    CostNetworkImpl::Head& layers = network.heads()[h];
    const torch::Tensor center = layers.center.to(kDouble);
    torch::Tensor rows = of.hidden - center;
    double constant = 0;
    if (has_constant) {
      // A constant input of three times the others' length: the mean is
      // corrected more readily than what depends on the sample.
      constant = 3 * std::sqrt(rows.square().sum(1).mean().item<double>()) + 1;
      rows = torch::cat(
          {rows, torch::full({of.samples(), 1}, constant, kDouble)}, 1);
    } else {
      rows = WithinGroups(rows, of);
    }
    // What is learned should hold for other kernels, if there are several.
    const torch::Tensor fold = torch::remainder(
        of.groups >= kFolds ? of.group
                            : torch::arange(of.samples(), torch::kInt64),
        kFolds);
    const torch::Tensor errors = Errors(of, spec.heads[h].target);
    const std::optional<torch::Tensor> change = CrossValidatedRidge(
        rows, errors, fold,
        has_constant || of.groups < kFolds ? SquaredLoss(errors)
                                           : MisorderLoss(of));
    if (!change) continue;
    const int64_t width = network.options().hidden;
    const double scale = layers.target.scale.item<double>();
    const torch::Tensor slopes = change->narrow(0, 0, width);
    layers.output->weight += (slopes / scale).to(torch::kFloat32).unsqueeze(0);
    if (has_constant) {
      layers.output->bias +=
          (((*change)[width] * constant - slopes.dot(center)) / scale)
              .to(torch::kFloat32);
    }
  }
}

void FitOrderScale(int32_t head, absl::Span<const CostGroup> groups,
                   const CostSpec& spec, CostNetworkImpl& network) {
  const torch::NoGradGuard no_grad;
  const Regression of = MakeRegression(head, groups, spec, network);
  const torch::Tensor scores = WithinGroups(of.predicted, of);
  const double slope =
      (scores.dot(of.log_times) / scores.dot(scores)).item<double>();
  if (std::isfinite(slope) && slope > 0) {
    network.heads()[static_cast<size_t>(head)].target.scale.mul_(slope);
  }
}

void FitDeviations(int32_t head, absl::Span<const CostGroup> training,
                   absl::Span<const CostGroup> held_out, const CostSpec& spec,
                   CostNetworkImpl& network) {
  const torch::NoGradGuard no_grad;
  CostNetworkImpl::Head& layers = network.heads()[static_cast<size_t>(head)];
  const Regression known = MakeRegression(head, training, spec, network);
  if (known.samples() < 2) return;
  const torch::Tensor center = known.hidden.mean(0);
  const torch::Tensor rows = known.hidden - center;
  torch::Tensor covariance =
      rows.t().matmul(rows) / static_cast<double>(known.samples());
  const int64_t width = rows.size(1);
  const double mean_variance =
      covariance.trace().item<double>() / static_cast<double>(width);
  // Little: what training samples hardly vary in is where strange ones differ.
  covariance += torch::eye(width, kDouble) * (1e-5 * mean_variance + 1e-12);
  const auto [values, vectors] = torch::linalg_eigh(covariance);
  // A training sample has a squared distance of about 1.
  const torch::Tensor spread =
      (vectors * (values.clamp_min(1e-12) * static_cast<double>(width))
                     .rsqrt()
                     .unsqueeze(0))
          .t();
  layers.center.copy_(center.to(torch::kFloat32));
  layers.spread.copy_(spread.to(torch::kFloat32));

  const Regression tested = MakeRegression(head, held_out, spec, network);
  if (tested.samples() < 2) return;
  const torch::Tensor distances =
      (tested.hidden - center).matmul(spread.t()).square().sum(1);
  const torch::Tensor errors =
      Errors(tested, spec.heads[static_cast<size_t>(head)].target).square();
  const double mean_distance = distances.mean().item<double>();
  const double mean_error = errors.mean().item<double>();
  const double slope = ((distances - mean_distance).dot(errors - mean_error) /
                        ((distances - mean_distance).square().sum() + 1e-12))
                           .item<double>();
  // Held-out samples are hardly farther than those of training, so that their
  // errors tell little of samples that are.
  const double most = mean_error / mean_distance;
  double per_distance = std::clamp(slope, kLeastShareOfDistance * most, most);
  if (!std::isfinite(per_distance)) per_distance = 0;
  layers.noise[0] = std::max(mean_error - per_distance * mean_distance, 0.0);
  layers.noise[1] = per_distance;
}

}  // namespace hone::learning
