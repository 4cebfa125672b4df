#include "graphs/step/device_times.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace hone::graphs {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

// Two kinds of accelerators, the second on another host, and a CPU.
Cluster Mixed() {
  Cluster cluster;
  cluster.accelerators = {{.count = 2,
                           .flops_per_second = 100,
                           .bytes_per_second = 10,
                           .launch_seconds = 1,
                           .memory_bytes = 1000,
                           .link = Link{50, 0}},
                          {.count = 1,
                           .flops_per_second = 50,
                           .bytes_per_second = 20,
                           .launch_seconds = 2,
                           .memory_bytes = 500,
                           .host = 1}};
  cluster.cpus = {{.count = 1,
                   .flops_per_second = 1,
                   .bytes_per_second = 5,
                   .launch_seconds = 0}};
  cluster.link = {10, 1};
  cluster.network = {2, 3};
  return cluster;
}

TEST(DeviceTimesTest, DevicesOfOneKindAreNumberedOneAfterAnother) {
  HONE_ASSERT_OK_AND_ASSIGN(const DeviceTimes times,
                            DeviceTimes::Create(Mixed()));
  EXPECT_EQ(times.device_count(), 4);
  EXPECT_EQ(times.kind_count(), 3);
  EXPECT_EQ(times.kind_of(0), 0);
  EXPECT_EQ(times.kind_of(1), 0);
  EXPECT_EQ(times.kind_of(2), 1);
  EXPECT_EQ(times.kind_of(3), 2);
  EXPECT_EQ(times.memory_bytes(1), 1000);
  EXPECT_EQ(times.memory_bytes(2), 500);
  EXPECT_EQ(times.memory_bytes(3), std::numeric_limits<double>::infinity());
}

TEST(DeviceTimesTest, AKernelTakesTheLargerOfComputingAndMoving) {
  HONE_ASSERT_OK_AND_ASSIGN(const DeviceTimes times,
                            DeviceTimes::Create(Mixed()));
  EXPECT_EQ(times.KernelSeconds(0, 1000, 50), 1 + 10);
  EXPECT_EQ(times.KernelSeconds(0, 1000, 500), 1 + 50);
  EXPECT_EQ(times.KernelSeconds(1, 1000, 50), 2 + 20);
  EXPECT_EQ(times.KernelSeconds(2, 0, 50), 10);
  EXPECT_EQ(times.KernelSeconds(0, 0, 0), 0);
}

TEST(DeviceTimesTest, ATransferTakesTheLinkBetweenItsDevices) {
  HONE_ASSERT_OK_AND_ASSIGN(const DeviceTimes times,
                            DeviceTimes::Create(Mixed()));
  EXPECT_EQ(times.TransferSeconds(0, 1, 100), 2);
  EXPECT_EQ(times.TransferSeconds(1, 0, 100), 2);
  EXPECT_EQ(times.TransferSeconds(0, 2, 100), 3 + 50);
  EXPECT_EQ(times.TransferSeconds(3, 0, 100), 1 + 10);
  EXPECT_EQ(times.TransferSeconds(3, 2, 0), 3);
  double sum = 0;
  for (int32_t from = 0; from < 4; ++from) {
    for (int32_t to = 0; to < 4; ++to) {
      if (from != to) sum += times.TransferSeconds(from, to, 100);
    }
  }
  EXPECT_DOUBLE_EQ(times.MeanTransferSeconds(100), sum / 12);
}

TEST(DeviceTimesTest, OneDeviceHasNoTransfers) {
  Cluster cluster = Mixed();
  cluster.accelerators.clear();
  HONE_ASSERT_OK_AND_ASSIGN(const DeviceTimes times,
                            DeviceTimes::Create(cluster));
  EXPECT_EQ(times.MeanTransferSeconds(100), 0);
}

TEST(DeviceTimesTest, TooManyDevicesAreRefused) {
  Cluster cluster = Mixed();
  cluster.accelerators[0].count = kMaxStepDevices - 2;
  HONE_EXPECT_OK(DeviceTimes::Create(cluster));
  cluster.accelerators[0].count = 1 << 20;
  EXPECT_THAT(DeviceTimes::Create(cluster),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("1048578 devices, expected at most 64")));
}

}  // namespace
}  // namespace hone::graphs
