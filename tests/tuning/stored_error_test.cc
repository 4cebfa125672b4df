#include "tuning/stored_error.h"

#include "gtest/gtest.h"

namespace hone::tuning {
namespace {

TEST(StoredErrorTest, KeepsACodeThatBlamesTheInput) {
  for (const absl::Status& status :
       {absl::InvalidArgumentError("bert: the weights take 5 bytes"),
        absl::UnimplementedError("a: b: c"), absl::FailedPreconditionError(""),
        absl::InternalError("no reason")}) {
    EXPECT_EQ(ParseStoredError(StoredError(status)), status);
  }
  EXPECT_EQ(StoredError(absl::InvalidArgumentError("bert: too large")),
            "INVALID_ARGUMENT: bert: too large");
}

TEST(StoredErrorTest, OthersAreInternal) {
  EXPECT_EQ(ParseStoredError(
                StoredError(absl::ResourceExhaustedError("the disk is full"))),
            absl::InternalError("the disk is full"));
  EXPECT_EQ(ParseStoredError("bert: too large"),
            absl::InternalError("bert: too large"));
  EXPECT_EQ(ParseStoredError("OK: bert"), absl::InternalError("OK: bert"));
}

}  // namespace
}  // namespace hone::tuning
