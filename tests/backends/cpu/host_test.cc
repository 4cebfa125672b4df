#include "backends/cpu/host.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <unistd.h>

#include "tests/support/status_matchers.h"

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

TEST(HostTest, FeaturesAreLimitedToAnInstructionSet) {
  constexpr char kFeatures[] =
      "+amx-int8,+avx,+avx2,+avx512bf16,+avx512f,+avx512vl,+avx512vnni,"
      "-avxvnni,+evex512,+fma,-xop";
  EXPECT_EQ(LimitFeatures(kFeatures, "").value(), kFeatures);
  EXPECT_EQ(LimitFeatures(kFeatures, "native").value(), kFeatures);
  HONE_ASSERT_OK_AND_ASSIGN(const std::string limited,
                            LimitFeatures(kFeatures, "avx2"));
  EXPECT_EQ(limited,
            "-amx-int8,+avx,+avx2,-avx512bf16,-avx512f,-avx512vl,-avx512vnni,"
            "-avxvnni,-evex512,+fma,-xop");
  EXPECT_EQ(VectorBytes(limited), 32);
  EXPECT_FALSE(HasBf16Dot(limited));
  EXPECT_FALSE(HasIntegerDot(limited));
  EXPECT_THAT(
      LimitFeatures(kFeatures, "AVX9"),
      ::hone::testing::StatusIs(absl::StatusCode::kInvalidArgument,
                                "HONE_CPU_ISA is 'AVX9', expected avx2 or "
                                "native"));
}

TEST(HostTest, IsAskedOnce) { EXPECT_EQ(&DetectHost(), &DetectHost()); }

}  // namespace
}  // namespace hone::backends
