#include "backends/cpu/host.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <unistd.h>

namespace hone::backends {
namespace {

TEST(HostTest, IsWhatTheSystemSays) {
  const HostCpu& host = DetectHost();
  EXPECT_FALSE(host.name.empty());
  EXPECT_THAT(host.features, ::testing::HasSubstr("+sse2"));
  EXPECT_GE(host.machine.threads, 1);
  EXPECT_LE(host.machine.threads, sysconf(_SC_NPROCESSORS_CONF));
  EXPECT_THAT(host.machine.vector_bytes, ::testing::AnyOf(16, 32, 64));
  EXPECT_EQ(host.machine.vector_registers,
            host.machine.vector_bytes == 64 ? 32 : 16);
  EXPECT_GE(host.machine.l1_bytes, 8 << 10);
  EXPECT_GT(host.machine.l2_bytes, host.machine.l1_bytes);
}

TEST(HostTest, IsAskedOnce) { EXPECT_EQ(&DetectHost(), &DetectHost()); }

}  // namespace
}  // namespace hone::backends
