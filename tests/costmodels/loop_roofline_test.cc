#include "costmodels/loop_roofline.h"

#include <cmath>
#include <numeric>
#include <string>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "loops/text/text.h"

namespace hone::costmodels {
namespace {

loops::Machine Wide() {
  loops::Machine machine;
  machine.vector_bytes = 64;
  machine.vector_registers = 32;
  return machine;
}

LoopTimes Times(const std::string& text, const loops::Machine& machine = Wide(),
                const LoopRates& rates = {}) {
  const loops::Program program = loops::ParseProgram(text).value();
  return PredictLoopTimes(CountLoopWork(program, machine), machine, rates);
}

double Limit(const LoopTimes& times, LoopLimit limit) {
  return times.by_limit[static_cast<size_t>(limit)];
}

constexpr char kSum[] = R"(kernel k
argument x f32[65536]
inout y f32[N,16]
for i0 M
| for i1 N unrolled
| | for i2 16 vector
| | | y[i1,i2] += x[16*N*i0+16*i1+i2]
)";

std::string Sum(int64_t rows) {
  return absl::StrReplaceAll(kSum, {{"16*N", std::to_string(16 * rows)},
                                    {"N", std::to_string(rows)},
                                    {"M", std::to_string(4096 / rows)}});
}

TEST(LoopRoofline, SumsSideBySideWaitLess) {
  const LoopTimes one = Times(Sum(1));
  const LoopTimes four = Times(Sum(4));
  EXPECT_NEAR(Limit(one, LoopLimit::kChains),
              4 * Limit(four, LoopLimit::kChains), 1);
  EXPECT_GT(one.ns, four.ns);
  EXPECT_GE(one.ns, Limit(one, LoopLimit::kChains));
}

// Each step waits for the store of the one before it.
TEST(LoopRoofline, SumsInMaskedLanesWaitForMemory) {
  constexpr char kColumns[] = R"(kernel k
argument x f32[64,160]
inout y f32[160]
for i0 10
| for i1 64
| | for i2 16 < 160-16*i0 vector
| | | y[16*i0+i2] += x[i1,16*i0+i2]
)";
  const std::string masked =
      absl::StrReplaceAll(kColumns, {{"< 160", "< 150"}});
  EXPECT_GT(Limit(Times(masked), LoopLimit::kChains),
            2 * Limit(Times(kColumns), LoopLimit::kChains));
  EXPECT_GT(Limit(Times(masked), LoopLimit::kStores),
            10 * Limit(Times(kColumns), LoopLimit::kStores));
}

// Four rows at a time are read more slowly than one after the other.
TEST(LoopRoofline, StreamsSideBySideTakeLonger) {
  const std::string rows = R"(kernel k
argument x f32[64,1024]
inout y f32[64]
for i0 16
| for i1 4
| | for i2 64
| | | for i3 16 vector
| | | | y[4*i0+i1] += x[4*i0+i1,16*i2+i3]
)";
  const std::string together = R"(kernel k
argument x f32[64,1024]
inout y f32[64]
for i0 16
| for i1 64
| | for i2 4 unrolled
| | | for i3 16 vector
| | | | y[4*i0+i2] += x[4*i0+i2,16*i1+i3]
)";
  loops::Machine machine = Wide();
  machine.l1_bytes = 16 << 10;
  machine.l2_bytes = 128 << 10;
  machine.l3_bytes = 1 << 20;
  LoopRates rates;
  rates.bytes_per_ns = {64, 32, 10};
  const double x_bytes = 64 * 1024 * 4;
  // Read and written back.
  const double y_bytes = 2 * 64 * 4;
  EXPECT_DOUBLE_EQ(Limit(Times(rows, machine, rates), LoopLimit::kL2),
                   (x_bytes + y_bytes) / 32);
  EXPECT_DOUBLE_EQ(Limit(Times(together, machine, rates), LoopLimit::kL2),
                   (2 * x_bytes + y_bytes) / 32);
}

TEST(LoopRoofline, VectorsAreFasterThanScalars) {
  const std::string vectors = R"(kernel k
argument x f32[4096]
result y f32[4096]
for i0 256
| for i1 16 vector
| | y[16*i0+i1] = exponential(x[16*i0+i1]) * x[16*i0+i1]
)";
  const std::string scalars = absl::StrReplaceAll(vectors, {{" vector", ""}});
  EXPECT_GT(Times(scalars).ns, 3 * Times(vectors).ns);
}

// Rows of 16 elements are summed up in the order in which they lie, or
// transposed so that each lane sums a row.
TEST(LoopRoofline, TransposedBlocksAreFasterThanGathers) {
  const std::string transposed = R"(kernel k
argument x f32[1024,12]
inout y f32[1024]
for i0 64
| for i1 12 unrolled
| | for i2 16 vector
| | | y[16*i0+i2] += x[16*i0+i2,i1]
)";
  const std::string gathered =
      absl::StrReplaceAll(transposed, {{" unrolled", ""}});
  EXPECT_GT(Limit(Times(gathered), LoopLimit::kLoads),
            2 * Limit(Times(transposed), LoopLimit::kLoads));
  const std::string stored = R"(kernel k
argument x f32[16,1024]
result y f32[1024,16]
for i0 64
| for i1 16 unrolled
| | for i2 16 vector
| | | y[16*i0+i2,i1] = x[i1,16*i0+i2]
)";
  const std::string scattered =
      absl::StrReplaceAll(stored, {{" unrolled", ""}});
  EXPECT_GT(Limit(Times(scattered), LoopLimit::kStores),
            2 * Limit(Times(stored), LoopLimit::kStores));
}

// They are not shuffled, however near to each other.
TEST(LoopRoofline, RegistersOfLanesApartTakeTime) {
  const std::string apart = R"(kernel k
argument x f32[64,16]
result y f32[64,16]
for i0 64
| local t f32[4,16] register strides {1,4}
| for i1 16 vector
| | t[0,i1] = x[i0,i1]
| for i1 16 vector
| | y[i0,i1] = t[0,i1]
)";
  const std::string adjacent =
      absl::StrReplaceAll(apart, {{"{1,4}", "{16,1}"}});
  const std::string stack = absl::StrReplaceAll(apart, {{"register", "stack"}});
  EXPECT_GT(Limit(Times(apart), LoopLimit::kStores),
            2 * Limit(Times(adjacent), LoopLimit::kStores));
  EXPECT_GT(Limit(Times(apart), LoopLimit::kLoads),
            Limit(Times(stack), LoopLimit::kLoads));
}

// 64 MiB come from memory, what fits stays in the caches.
TEST(LoopRoofline, LargeArraysTakeTheTimeOfTheirTraffic) {
  loops::Machine machine = Wide();
  machine.l3_bytes = 16 << 20;
  const std::string large = R"(kernel k
argument x f32[16777216]
result y f32[16777216]
for i0 1048576
| for i1 16 vector
| | y[16*i0+i1] = x[16*i0+i1]
)";
  LoopRates rates;
  rates.bytes_per_ns = {64, 32, 10};
  const LoopTimes times = Times(large, machine, rates);
  // What is written is read before.
  EXPECT_DOUBLE_EQ(Limit(times, LoopLimit::kL3), 3 * 67108864 / 10.0);
  EXPECT_GE(times.ns, Limit(times, LoopLimit::kL3));
  machine.l3_bytes = 256 << 20;
  EXPECT_EQ(Limit(Times(large, machine, rates), LoopLimit::kL3), 0);
}

// They are faster where results do not fit, and slower where they do.
TEST(LoopRoofline, StoresThatBypassCachesTakeTheTimeOfMemory) {
  constexpr char kCopy[] = R"(kernel k
argument x f32[65536]
result y f32[65536]
for i0 4096
| for i1 16 vector
| | y[16*i0+i1] = x[16*i0+i1]
)";
  const std::string bypassing =
      absl::StrReplaceAll(kCopy, {{"+i1]\n", "+i1] nontemporal\n"}});
  LoopRates rates;
  rates.bytes_per_ns = {64, 32, 10};
  loops::Machine machine = Wide();
  machine.l3_bytes = 16 << 20;
  EXPECT_EQ(Limit(Times(kCopy, machine, rates), LoopLimit::kL3), 0);
  EXPECT_DOUBLE_EQ(Limit(Times(bypassing, machine, rates), LoopLimit::kL3),
                   65536 * 4 / 10.0);
  EXPECT_GT(Times(bypassing, machine).ns, Times(kCopy, machine).ns);
  machine.l1_bytes = machine.l2_bytes = machine.l3_bytes = 4096;
  EXPECT_DOUBLE_EQ(Limit(Times(bypassing, machine, rates), LoopLimit::kL3),
                   2 * 65536 * 4 / 10.0);
  EXPECT_LT(Times(bypassing, machine).ns, Times(kCopy, machine).ns);
}

TEST(LoopRoofline, FasterMachinesTakeLess) {
  LoopRates fast;
  fast.cycles_per_ns *= 2;
  for (double& bytes : fast.bytes_per_ns) bytes *= 2;
  EXPECT_LT(Times(Sum(4), Wide(), fast).ns, Times(Sum(4)).ns);
}

TEST(LoopRoofline, ThreadsShareParallelLoops) {
  const std::string text = R"(kernel k
argument x f32[64,65536]
result y f32[64,65536]
for i0 64 parallel
| for i1 65536
| | y[i0,i1] = exponential(x[i0,i1])
)";
  loops::Machine machine = Wide();
  const double one = Times(text, machine).ns;
  machine.threads = 4;
  EXPECT_LT(Times(text, machine).ns, one / 3);
}

TEST(LoopRoofline, StatementsHaveTheirPartsOfTheTime) {
  const LoopTimes times = Times(R"(kernel k
argument x f32[64,4096]
result y f32[64,4096]
result z f32[64]
for i0 64
| z[i0] = x[i0,0]
| for i1 4096
| | y[i0,i1] = exponential(x[i0,i1])
)");
  ASSERT_EQ(times.statement_ns.size(), 2);
  EXPECT_GT(times.statement_ns[1], 100 * times.statement_ns[0]);
  EXPECT_LE(std::accumulate(times.statement_ns.begin(),
                            times.statement_ns.end(), 0.0),
            times.ns);
}

}  // namespace
}  // namespace hone::costmodels
