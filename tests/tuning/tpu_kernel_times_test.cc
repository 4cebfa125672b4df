#include "tuning/tasks/tpu_kernel_times.h"

#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/fusion/fuse.h"
#include "tests/hlo/fusion/support.h"
#include "tests/support/status_matchers.h"

namespace hone::tuning {
namespace {

using ::hone::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Two equal kernels, a and b, and another.
constexpr char kChain[] = R"(HloModule m
ENTRY main {
  x = f32[64] parameter(0)
  a = f32[64] negate(x)
  b = f32[64] negate(a)
  ROOT c = f32[64] sine(b)
})";

class TpuKernelTimesTest : public ::testing::Test {
 protected:
  TpuKernelTimesTest()
      : space_(hlo::VerifiedModule(kChain)),
        layouts_(space_.RowMajor()),
        times_(space_, [this](absl::Span<const hlo::Module> kernels) {
          return Time(kernels);
        }) {}

  absl::StatusOr<std::vector<absl::StatusOr<double>>> Time(
      absl::Span<const hlo::Module> kernels) {
    asked_.push_back(kernels.size());
    if (!error_.ok()) return error_;
    std::vector<absl::StatusOr<double>> times;
    for (const hlo::Module& kernel : kernels) {
      times.push_back(hlo::MadeUpTime(kernel));
    }
    if (lacks_one_) times.pop_back();
    return times;
  }

  hlo::FusionIndex Node(absl::string_view name) const {
    return hlo::NodeNamed(space_, name);
  }
  // Adds the kernel of a node alone.
  size_t Add(absl::string_view name, TpuKernelTimes::Batch& batch) const {
    const hlo::FusionIndex node = Node(name);
    return batch.Add({node}, space_.producers(node), layouts_);
  }
  double TimeOf(absl::string_view name) const {
    return hlo::MadeUpTime(*hlo::MakeKernel(space_, {Node(name)}, layouts_));
  }

  const hlo::FusionSpace space_;
  const hlo::LayoutBits layouts_;
  TpuKernelTimes times_;
  // The number of kernels each time that the timer was asked.
  std::vector<size_t> asked_;
  absl::Status error_;
  bool lacks_one_ = false;
};

TEST_F(TpuKernelTimesTest, UnknownKernelsAreAskedForTogetherAndOnce) {
  TpuKernelTimes::Batch batch(times_);
  const size_t a = Add("a", batch);
  const size_t b = Add("b", batch);
  const size_t c = Add("c", batch);
  EXPECT_EQ(Add("c", batch), c);
  EXPECT_THAT(asked_, IsEmpty());
  HONE_ASSERT_OK(batch.Ask());
  EXPECT_THAT(asked_, ElementsAre(2));
  EXPECT_EQ(*batch[a], TimeOf("a"));
  EXPECT_EQ(*batch[b], TimeOf("b"));
  EXPECT_EQ(*batch[c], TimeOf("c"));

  TpuKernelTimes::Batch next(times_);
  const size_t known = Add("b", next);
  const size_t as_module =
      next.Add(*hlo::MakeKernel(space_, {Node("c")}, layouts_));
  HONE_ASSERT_OK(next.Ask());
  EXPECT_THAT(asked_, ElementsAre(2));
  EXPECT_EQ(*next[known], TimeOf("b"));
  EXPECT_EQ(*next[as_module], TimeOf("c"));

  times_.Forget();
  TpuKernelTimes::Batch anew(times_);
  Add("a", anew);
  HONE_ASSERT_OK(anew.Ask());
  EXPECT_THAT(asked_, ElementsAre(2, 1));
}

// That kernels cannot be timed now says nothing of them.
TEST_F(TpuKernelTimesTest, ErrorsOfTheTimerAreNotRemembered) {
  error_ = absl::CancelledError("stopped");
  TpuKernelTimes::Batch batch(times_);
  Add("a", batch);
  EXPECT_THAT(batch.Ask(),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("stopped")));
  error_ = absl::OkStatus();
  TpuKernelTimes::Batch next(times_);
  const size_t a = Add("a", next);
  HONE_ASSERT_OK(next.Ask());
  EXPECT_EQ(*next[a], TimeOf("a"));
  EXPECT_THAT(asked_, ElementsAre(1, 1));
}

TEST_F(TpuKernelTimesTest, ATimerThatSkipsKernelsIsAnError) {
  lacks_one_ = true;
  TpuKernelTimes::Batch batch(times_);
  Add("a", batch);
  Add("c", batch);
  EXPECT_THAT(batch.Ask(),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("1 times of kernels, expected 2")));
}

TEST(TimeOneByOne, TellsEachTimeUntilItIsStopped) {
  int timed = 0;
  const KernelTimer timer = TimeOneByOne(
      [&](const hlo::Module&) -> absl::StatusOr<double> {
        if (++timed == 2) return absl::ResourceExhaustedError("too large");
        return timed;
      },
      [&] { return timed == 5; });
  const std::vector<hlo::Module> kernels(3, hlo::VerifiedModule(kChain));
  const auto times = timer(kernels);
  HONE_ASSERT_OK(times.status());
  ASSERT_EQ(times->size(), 3u);
  EXPECT_EQ(*(*times)[0], 1);
  EXPECT_THAT(
      (*times)[1].status(),
      StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("too large")));
  EXPECT_EQ(*(*times)[2], 3);
  EXPECT_THAT(timer(kernels).status(),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("stopped")));
  EXPECT_EQ(timed, 5);
}

}  // namespace
}  // namespace hone::tuning
