#include "daemon/access/byte_account.h"

#include "gtest/gtest.h"

#include "daemon/errors.h"
#include "daemon/telemetry/metrics.h"
#include "tests/support/status_matchers.h"

namespace hone::daemon {
namespace {

TEST(ByteAccount, LimitsTheSumAndEachClient) {
  Metrics metrics;
  prometheus::Gauge& used = metrics.LimitUsed("max_bytes_in_flight");
  ByteAccount account(100, 60, used);
  HONE_EXPECT_OK(account.Take("a", 60));
  EXPECT_EQ(LimitOf(account.Take("a", 1)), "max_client_bytes_in_flight");
  HONE_EXPECT_OK(account.Take("b", 40));
  EXPECT_EQ(LimitOf(account.Take("b", 1)), "max_bytes_in_flight");
  EXPECT_EQ(used.Value(), 100);
  account.Release("a", 50);
  HONE_EXPECT_OK(account.Take("b", 20));
  EXPECT_EQ(LimitOf(account.Take("b", 1)), "max_client_bytes_in_flight");
  account.Release("a", 10);
  account.Release("b", 60);
  EXPECT_EQ(used.Value(), 0);
}

}  // namespace
}  // namespace hone::daemon
