#include "learning/networks/losses.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include <torch/torch.h>

namespace hone::learning {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

void ExpectNear(const torch::Tensor& actual, std::vector<float> expected) {
  const torch::Tensor wanted = torch::tensor(expected).view(actual.sizes());
  EXPECT_TRUE(torch::allclose(actual, wanted, 1e-5, 1e-6))
      << actual << "\nexpected\n"
      << wanted;
}

TEST(PolicyLoss, ClipsEachDecisionByItself) {
  // Ratios 1, 1.5, 1.5, 0.5, 0.5.
  const torch::Tensor before = torch::zeros({5});
  const torch::Tensor now =
      torch::log(torch::tensor({1.F, 1.5F, 1.5F, .5F, .5F}));
  const torch::Tensor advantage = torch::tensor({2.F, 2.F, -2.F, 2.F, -2.F});
  // Gains are capped at 1.2 and 0.8, losses are not.
  ExpectNear(PolicyLoss(now, before, advantage, 0.2), {-2, -2.4F, 3, -1, 1.6F});
}

TEST(PolicyLoss, HasNoGradientBeyondTheClip) {
  torch::Tensor now =
      torch::log(torch::tensor({1.F, 1.5F, 1.5F, 0.5F})).requires_grad_();
  PolicyLoss(now, torch::zeros({4}), torch::tensor({2.F, 2.F, -2.F, -2.F}), 0.2)
      .sum()
      .backward();
  // d ratio / d log = ratio.
  ExpectNear(now.grad(), {-2, 0, 3, 0});
}

TEST(MaskedLogSoftmax, GivesNothingToWhatIsNotAllowed) {
  torch::Tensor scores =
      torch::log(torch::tensor({{1.F, 2.F, 5.F}})).requires_grad_();
  const torch::Tensor allowed = torch::tensor({{true, true, false}});
  const torch::Tensor logs = MaskedLogSoftmax(scores, allowed);
  ExpectNear(torch::exp(logs), {1.F / 3, 2.F / 3, 0});
  EXPECT_EQ(logs[0][2].item<float>(), -kInfinity);
  // The gradient of the chosen logarithm: 1 - p for it, -p for others.
  logs[0][0].backward();
  ExpectNear(scores.grad(), {2.F / 3, -2.F / 3, 0});
}

TEST(MaskedLogSoftmax, OfASingleValueHasNoGradient) {
  torch::Tensor scores = torch::tensor({{0.3F, -2.F}}).requires_grad_();
  const torch::Tensor logs =
      MaskedLogSoftmax(scores, torch::tensor({{true, false}}));
  EXPECT_EQ(logs[0][0].item<float>(), 0);
  logs[0][0].backward();
  ExpectNear(scores.grad(), {0, 0});
}

TEST(Entropy, IsFiniteWithItsGradient) {
  torch::Tensor scores =
      torch::tensor({{0.F, 0.F, -kInfinity}, {5.F, -kInfinity, -kInfinity}})
          .requires_grad_();
  const torch::Tensor entropy = Entropy(torch::log_softmax(scores, 1));
  ExpectNear(entropy, {std::log(2.F), 0});
  entropy.sum().backward();
  EXPECT_TRUE(torch::isfinite(scores.grad()).all().item<bool>());
}

TEST(ChoiceLoss, IsTheCrossEntropyOfWhatIsAllowed) {
  torch::Tensor scores =
      torch::log(torch::tensor({{1.F, 3.F, 9.F}})).requires_grad_();
  const torch::Tensor wanted = torch::log(torch::tensor({{1.F, 1.F, 9.F}}));
  const torch::Tensor loss =
      ChoiceLoss(scores, wanted, torch::tensor({{true, true, false}}));
  ExpectNear(loss, {0.5F * std::log(4.F), 0.5F * std::log(4.F / 3), 0});
  // What is chosen less what is wanted.
  loss.sum().backward();
  ExpectNear(scores.grad(), {-0.25F, 0.25F, 0});
}

TEST(QLoss, IsTheHuberErrorOfTheTarget) {
  // Errors 0.05 and 1 around targets 1 + 0.5·2 = 2 and 3.
  torch::Tensor values = torch::tensor({2.05F, 4.F}).requires_grad_();
  torch::Tensor next = torch::tensor({2.F, 100.F}).requires_grad_();
  const torch::Tensor loss = QLoss(values, torch::tensor({1.F, 3.F}),
                                   torch::tensor({.5F, 0.F}), next, 0.1);
  ExpectNear(loss, {0.0125F, 0.95F});
  loss.sum().backward();
  EXPECT_FALSE(next.grad().defined());
}

TEST(DoubleQValues, AreTheTargetsOfTheOnlineChoice) {
  ExpectNear(
      DoubleQValues(
          torch::tensor({{1.F, 3.F, 2.F}, {4.F, -kInfinity, -kInfinity}}),
          torch::tensor({{9.F, 5.F, 7.F}, {6.F, -kInfinity, -kInfinity}})),
      {5, 6});
}

TEST(PairwiseLoss, CountsPairsWhoseFirstIsSlower) {
  // Pairs (slower, faster): (1, 0) by 0.5, (2, 0) by -1, (2, 1) by -1.5. Of 3.
  torch::Tensor scores = torch::tensor({{0.F, 0.5F, -1.F}}).requires_grad_();
  const torch::Tensor times = torch::tensor({{1.F, 2.F, 3.F}});
  const torch::Tensor all = torch::tensor({{true, true, true}});
  const torch::Tensor hinge =
      PairwiseLoss(PairLoss::kHinge, scores, times, all);
  ExpectNear(hinge, {(0.5F + 2 + 2.5F) / 3});
  ExpectNear(PairwiseLoss(PairLoss::kLogistic, scores, times, all),
             {(std::log(1 + std::exp(-0.5F)) + std::log(1 + std::exp(1.F)) +
               std::log(1 + std::exp(1.5F))) /
              3});
  // Each pair pushes the slower one up and the faster one down.
  hinge.sum().backward();
  ExpectNear(scores.grad(), {2.F / 3, 0, -2.F / 3});
}

TEST(PairwiseLoss, LeavesOutTiesAndWhatIsNotThere) {
  torch::Tensor scores =
      torch::tensor({{0.F, 3.F, 9.F}, {1.F, 9.F, 9.F}}).requires_grad_();
  const torch::Tensor times = torch::tensor({{5.F, 5.F, 1.F}, {1.F, 9.F, 9.F}});
  const torch::Tensor present =
      torch::tensor({{true, true, false}, {true, false, false}});
  for (const PairLoss phi : {PairLoss::kHinge, PairLoss::kLogistic}) {
    const torch::Tensor loss = PairwiseLoss(phi, scores, times, present);
    ExpectNear(loss, {0, 0});
    loss.sum().backward();
    ExpectNear(scores.grad(), {0, 0, 0, 0, 0, 0});
  }
  // Without the tie, the one pair of the two is in the right order by 3.
  ExpectNear(
      PairwiseLoss(PairLoss::kLogistic, scores.detach(),
                   torch::tensor({{5.F, 6.F, 1.F}, {1.F, 9.F, 9.F}}), present),
      {std::log(1 + std::exp(-3.F)), 0});
}

TEST(PairwiseLoss, OfAWideMarginIsNothing) {
  ExpectNear(
      PairwiseLoss(PairLoss::kHinge, torch::tensor({{0.F, 1.F}}),
                   torch::tensor({{1.F, 1.5F}}), torch::tensor({{true, true}})),
      {0});
}

TEST(LogTimeLoss, IsTheSquaredDifference) {
  ExpectNear(LogTimeLoss(torch::tensor({1.F, 4.F}), torch::tensor({3.F, 3.F})),
             {4, 1});
}

}  // namespace
}  // namespace hone::learning
