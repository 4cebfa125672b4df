#include "learning/cost/cost_options.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "learning/cost/cost_training_options.h"
#include "tests/support/status_matchers.h"

namespace hone::learning {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;

TEST(CostOptions, ReadWhatTheyPrint) {
  EXPECT_EQ(PrintCostOptions({}),
            "encoder=sage,aggregator=sum,layers=3,width=64,hidden=128,"
            "reduction=mean+sum+max,join=late");
  const CostOptions other = {
      .encoder = CostEncoder::kSequence,
      .aggregator = CostAggregator::kMax,
      .layers = 0,
      .width = 16,
      .hidden = 32,
      .reductions = {CostReduction::kTransformer, CostReduction::kLstm},
      .join = CostJoin::kEarly};
  HONE_ASSERT_OK_AND_ASSIGN(const CostOptions read,
                            ParseCostOptions(PrintCostOptions(other)));
  EXPECT_EQ(read, other);
  HONE_ASSERT_OK_AND_ASSIGN(const CostOptions defaults, ParseCostOptions(""));
  EXPECT_EQ(defaults, CostOptions());
}

TEST(CostOptions, NameWhatTheyDoNotRead) {
  EXPECT_THAT(ParseCostOptions("width=60"),
              StatusIs(kInvalid, HasSubstr("width is '60', expected a multiple "
                                           "of 16 from 16 to 1024")));
  EXPECT_THAT(ParseCostOptions("encoder=gat"),
              StatusIs(kInvalid, HasSubstr("encoder is 'gat', expected one of: "
                                           "sage, attention, sequence")));
  EXPECT_THAT(ParseCostOptions("reduction=mean+mean"),
              StatusIs(kInvalid, HasSubstr("expected each at most once")));
  EXPECT_THAT(ParseCostOptions("reduction="),
              StatusIs(kInvalid, HasSubstr("reduction is ''")));
  EXPECT_THAT(ParseCostOptions("depth=3"),
              StatusIs(kInvalid, HasSubstr("unknown option 'depth'")));
}

TEST(OrderLoss, HasNames) {
  for (const OrderLoss loss :
       {OrderLoss::kHinge, OrderLoss::kLogistic, OrderLoss::kSquared}) {
    HONE_ASSERT_OK_AND_ASSIGN(const OrderLoss read,
                              ParseOrderLoss(OrderLossName(loss)));
    EXPECT_EQ(read, loss);
  }
  EXPECT_THAT(ParseOrderLoss("mse"),
              StatusIs(kInvalid, HasSubstr("loss is 'mse', expected hinge")));
}

}  // namespace
}  // namespace hone::learning
