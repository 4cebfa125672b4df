#include "base/status_macros.h"

#include <memory>

#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace hone {
namespace {

absl::StatusOr<std::unique_ptr<int>> Half(int n) {
  if (n % 2 != 0) return absl::InvalidArgumentError("odd");
  return std::make_unique<int>(n / 2);
}

absl::StatusOr<int> Quarter(int n) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<int> half, Half(n));
  HONE_ASSIGN_OR_RETURN(half, Half(*half));
  return *half;
}

absl::Status Check(int n) {
  HONE_RETURN_IF_ERROR(Quarter(n).status());
  return absl::OkStatus();
}

TEST(StatusMacros, PassValuesAndErrorsOn) {
  HONE_ASSERT_OK_AND_ASSIGN(const int quarter, Quarter(12));
  EXPECT_EQ(quarter, 3);
  HONE_EXPECT_OK(Check(8));
  for (int n : {3, 6}) {
    EXPECT_THAT(Quarter(n),
                testing::StatusIs(absl::StatusCode::kInvalidArgument, "odd"));
    EXPECT_THAT(Check(n),
                testing::StatusIs(absl::StatusCode::kInvalidArgument, "odd"));
  }
}

}  // namespace
}  // namespace hone
