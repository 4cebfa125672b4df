#ifndef HONE_TESTS_SUPPORT_STATUS_MATCHERS_H_
#define HONE_TESTS_SUPPORT_STATUS_MATCHERS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hone::testing {

inline const absl::Status& StatusOf(const absl::Status& status) {
  return status;
}
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& value) {
  return value.status();
}

// Matches an OK Status or StatusOr.
MATCHER(IsOk, "is OK") {
  *result_listener << StatusOf(arg).ToString();
  return StatusOf(arg).ok();
}

// Matches a Status or StatusOr by code and message.
MATCHER_P2(StatusIs, code, message,
           "has the code " + absl::StatusCodeToString(code) +
               " and a message that " +
               ::testing::DescribeMatcher<std::string>(message, negation)) {
  const absl::Status& status = StatusOf(arg);
  *result_listener << status.ToString();
  return status.code() == code &&
         ::testing::Matches(message)(std::string(status.message()));
}

}  // namespace hone::testing

#define HONE_EXPECT_OK(expr) EXPECT_THAT(expr, ::hone::testing::IsOk())
#define HONE_ASSERT_OK(expr) ASSERT_THAT(expr, ::hone::testing::IsOk())

#define HONE_TEST_CONCAT_INNER_(a, b) a##b
#define HONE_TEST_CONCAT_(a, b) HONE_TEST_CONCAT_INNER_(a, b)
// Assigns the value of a StatusOr or fails the test.
#define HONE_ASSERT_OK_AND_ASSIGN(lhs, expr)                                   \
  HONE_ASSERT_OK_AND_ASSIGN_IMPL_(HONE_TEST_CONCAT_(hone_statusor_, __LINE__), \
                                  lhs, expr)
#define HONE_ASSERT_OK_AND_ASSIGN_IMPL_(statusor, lhs, expr)  \
  auto statusor = (expr);                                     \
  ASSERT_TRUE(statusor.ok()) << statusor.status().ToString(); \
  lhs = std::move(statusor).value()

#endif  // HONE_TESTS_SUPPORT_STATUS_MATCHERS_H_
