#include "backends/roofline.h"

#include "gtest/gtest.h"

namespace hone::backends {
namespace {

Calibration Machine() {
  Calibration machine;
  machine.peak_gflops = 100;
  machine.levels = {{.bytes = 1 << 10, .read_gbps = 8, .copy_gbps = 4},
                    {.bytes = 1 << 14, .read_gbps = 2, .copy_gbps = 1}};
  return machine;
}

TEST(Roofline, WorkIsBoundByArithmeticOrByMemory) {
  EXPECT_DOUBLE_EQ(RooflineNs(Machine(), {.flops = 5000}), 50);
  EXPECT_DOUBLE_EQ(RooflineNs(Machine(), {.flops = 5000, .bytes_read = 800}),
                   100);
}

TEST(Roofline, WritingAsMuchAsReadingIsACopy) {
  EXPECT_DOUBLE_EQ(
      RooflineNs(Machine(), {.bytes_read = 400, .bytes_written = 400}), 200);
  // Half as much: between the two.
  EXPECT_DOUBLE_EQ(
      RooflineNs(Machine(), {.bytes_read = 600, .bytes_written = 200}),
      800 * (0.5 / 8 + 0.5 / 4));
  // No limit is known for more writing than reading but that of a copy.
  EXPECT_DOUBLE_EQ(RooflineNs(Machine(), {.bytes_written = 800}), 200);
}

TEST(Roofline, BandwidthLiesBetweenLevels) {
  const auto roofline = [](double bytes) {
    return RooflineNs(Machine(), {.bytes_read = bytes});
  };
  EXPECT_DOUBLE_EQ(roofline(1 << 10), (1 << 10) / 8.0);
  EXPECT_DOUBLE_EQ(roofline(1 << 12), (1 << 12) * (1 / 8.0 + 1 / 2.0) / 2);
  EXPECT_DOUBLE_EQ(roofline(1 << 14), (1 << 14) / 2.0);
  EXPECT_DOUBLE_EQ(roofline(1 << 20), (1 << 20) / 2.0);
}

}  // namespace
}  // namespace hone::backends
