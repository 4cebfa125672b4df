#include "costmodels/loop_work.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "costmodels/loop_footprint.h"
#include "hlo/text/parser.h"
#include "loops/lowering/lowering.h"
#include "loops/schedules/default_schedule.h"
#include "loops/text/text.h"
#include "loops/transforms/script.h"

namespace hone::costmodels {
namespace {

using ::testing::ElementsAre;

loops::Program Parse(const std::string& text) {
  return loops::ParseProgram(text).value();
}

double LinesByEnumeration(const std::vector<StridedLoop>& loops,
                          int64_t element_bytes, int64_t line_bytes) {
  std::set<int64_t> lines;
  const std::function<void(size_t, int64_t)> visit = [&](size_t depth,
                                                         int64_t at) {
    if (depth == loops.size()) {
      for (int64_t b = 0; b < element_bytes; ++b) {
        lines.insert((at + b) / line_bytes);
      }
      return;
    }
    for (int64_t i = 0; i < static_cast<int64_t>(loops[depth].trips); ++i) {
      visit(depth + 1, at + i * static_cast<int64_t>(loops[depth].stride));
    }
  };
  visit(0, 0);
  return static_cast<double>(lines.size());
}

TEST(DistinctLines, AreExactForDenseArraysTilesAndWindows) {
  const std::vector<std::vector<StridedLoop>> cases = {
      {},
      {{4, 1}},
      {{4, 16}},
      {{4, 17}},
      {{64, 5}},
      {{256, 7}},
      // A whole array, and a tile of one with rows of 4096 bytes.
      {{4, 64}, {256, 20}},
      {{4, 16}, {4096, 20}},
      // A window of 3 over rows, which overlap.
      {{4, 16}, {4096, 3}, {4096, 20}},
      // The same along a row.
      {{4, 3}, {4, 100}},
      {{4, 32}, {128, 1}, {8192, 2}, {65536, 3}},
  };
  for (const auto& loops : cases) {
    EXPECT_EQ(DistinctLines(loops, 4, 64), LinesByEnumeration(loops, 4, 64));
  }
}

TEST(DistinctLines, AreAboutRightForAnyStrides) {
  Rng rng(1);
  for (int i = 0; i < 300; ++i) {
    std::vector<StridedLoop> loops(1 + rng.Below(3));
    for (StridedLoop& loop : loops) {
      loop.stride = static_cast<double>(4 * (1 + rng.Below(200)));
      loop.trips = static_cast<double>(1 + rng.Below(12));
    }
    std::sort(loops.begin(), loops.end(),
              [](const auto& a, const auto& b) { return a.stride < b.stride; });
    const double exact = LinesByEnumeration(loops, 4, 64);
    const double lines = DistinctLines(loops, 4, 64);
    EXPECT_GE(lines, exact / 2);
    EXPECT_LE(lines, exact * 4);
  }
}

// Executions of each statement, by going through all iterations.
std::vector<double> ExecutionsByEnumeration(const loops::Program& program) {
  std::map<const loops::Statement*, double> counts;
  std::vector<const loops::Statement*> order;
  std::map<loops::VarId, int64_t> values;
  const std::function<void(const std::vector<loops::Node>&)> visit =
      [&](const std::vector<loops::Node>& body) {
        for (const loops::Node& node : body) {
          if (node.statement() != nullptr) {
            if (counts.count(node.statement()) == 0) {
              order.push_back(node.statement());
            }
            ++counts[node.statement()];
            continue;
          }
          const loops::Loop& loop = *node.loop();
          int64_t end = loop.extent;
          if (loop.bound.has_value()) {
            end = std::min(end, loop.bound->Evaluate([&](loops::VarId var) {
              return values.at(var);
            }));
          }
          for (int64_t i = 0; i < end; ++i) {
            values[loop.var] = i;
            visit(loop.body);
          }
        }
      };
  visit(program.body());
  std::vector<double> executions;
  for (const loops::Statement* statement : order) {
    executions.push_back(counts[statement]);
  }
  return executions;
}

constexpr const char* kModules[] = {
    R"(HloModule matmul
ENTRY main {
  a = f32[23,40] parameter(0)
  b = f32[40,57] parameter(1)
  ROOT c = f32[23,57] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})",
    R"(HloModule rows
add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] add(p, q)
}
ENTRY main {
  x = f32[19,75] parameter(0)
  e = f32[19,75] exponential(x)
  zero = f32[] constant(0)
  sums = f32[19] reduce(e, zero), dimensions={1}, to_apply=add
  wide = f32[19,75] broadcast(sums), dimensions={0}
  ROOT y = f32[19,75] divide(e, wide)
})",
    R"(HloModule transpose
ENTRY main {
  x = f32[37,50] parameter(0)
  ROOT y = f32[50,37] transpose(x), dimensions={1,0}
})",
    R"(HloModule conv
ENTRY main {
  x = f32[2,9,11,5] parameter(0)
  w = f32[3,3,5,7] parameter(1)
  ROOT y = f32[2,9,11,7] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
})"};

TEST(LoopWork, CountsExecutionsAsTheyHappen) {
  const loops::Machine machine;
  Rng rng(2);
  for (const char* text : kModules) {
    const loops::Program lowered =
        loops::LowerToProgram(hlo::ParseHloText(text).value()).value();
    loops::Program program =
        loops::ApplyScript(lowered, loops::DefaultSchedule(lowered, machine))
            .value();
    for (int step = 0; step < 6; ++step) {
      SCOPED_TRACE(loops::PrintProgram(program));
      const LoopWork work = CountLoopWork(program, machine);
      const std::vector<double> exact = ExecutionsByEnumeration(program);
      ASSERT_EQ(work.statements.size(), exact.size());
      for (size_t s = 0; s < exact.size(); ++s) {
        EXPECT_NEAR(work.statements[s].executions, exact[s], 0.02 * exact[s]);
      }
      const std::vector<loops::Step> legal =
          loops::LegalSteps(program, machine);
      if (legal.empty()) break;
      program =
          loops::ApplyScript(program, {legal[rng.Below(legal.size())]}).value();
    }
  }
}

constexpr char kProduct[] = R"(kernel product
argument a f32[64,128]
argument b f32[128,64]
result c f32[64,64]
for i0 64
| for i1 2
| | local t f32[32] register
| | for i2 2 unrolled
| | | for i3 16 vector
| | | | t[16*i2+i3] = 0.0
| | for i2 128
| | | for i3 2 unrolled
| | | | for i4 16 vector
| | | | | t[16*i3+i4] += a[i0,i2] * b[i2,32*i1+16*i3+i4]
| | for i2 2 unrolled
| | | for i3 16 vector
| | | | c[i0,32*i1+16*i2+i3] = t[16*i2+i3]
)";

TEST(LoopWork, TellsWhatAProductDoes) {
  loops::Machine machine;
  machine.vector_bytes = 64;
  machine.l1_bytes = 16 << 10;
  machine.l2_bytes = 1 << 20;
  const LoopWork work = CountLoopWork(Parse(kProduct), machine);
  ASSERT_EQ(work.statements.size(), 3);
  const StatementWork& sum = work.statements[1];
  EXPECT_EQ(sum.executions, 64 * 64 * 128);
  EXPECT_EQ(sum.lanes, 16);
  EXPECT_EQ(sum.copies, 2);
  // The addition is part of the multiplication.
  EXPECT_THAT(sum.operations, ElementsAre(1, 0, 0, 0, 0));
  EXPECT_EQ(sum.instructions[0], 64 * 64 * 128 / 16);
  EXPECT_EQ(sum.chains, 2);
  EXPECT_EQ(sum.chain_length, 128);
  EXPECT_TRUE(sum.is_reduction);
  ASSERT_EQ(sum.access_count, 3);
  const AccessWork& a = work.accesses[sum.first_access];
  const AccessWork& b = work.accesses[sum.first_access + 1];
  const AccessWork& t = work.accesses[sum.first_access + 2];
  EXPECT_EQ(a.form, AccessForm::kBroadcast);
  // Both unrolled copies use one load.
  EXPECT_EQ(a.instructions, 64 * 2 * 128);
  EXPECT_EQ(a.footprint, 64 * 128 * 4);
  EXPECT_EQ(b.form, AccessForm::kContiguous);
  EXPECT_EQ(b.instructions, 64 * 2 * 128 * 2);
  EXPECT_EQ(b.footprint, 128 * 64 * 4);
  EXPECT_EQ(b.innermost_stride, 64 * 4);
  EXPECT_EQ(t.form, AccessForm::kRegister);
  EXPECT_EQ(t.instructions, 0);
  EXPECT_EQ(work.registers, 2);
  EXPECT_EQ(work.levels[0].working_set, (64 * 128 + 128 * 64 + 64 * 64) * 4);
  EXPECT_EQ(work.branches, 64 + 64 * 2 + 64 * 2 * 128);
  // An iteration of i1 touches half of b, a row of a and a piece of c, which L1
  // does not hold together: all are brought in anew each time.
  EXPECT_EQ(b.traffic[0], 64 * 128 * 64 * 4);
  EXPECT_EQ(a.traffic[0], 2 * 64 * 128 * 4);
  EXPECT_EQ(b.traffic[1], 0);
  // They fit, so that the row of a stays.
  machine.l1_bytes = 20 << 10;
  EXPECT_EQ(CountLoopWork(Parse(kProduct), machine)
                .accesses[sum.first_access]
                .traffic[0],
            64 * 128 * 4);
  // Everything fits.
  machine.l1_bytes = 1 << 20;
  EXPECT_EQ(CountLoopWork(Parse(kProduct), machine)
                .accesses[sum.first_access + 1]
                .traffic[0],
            0);
}

TEST(LoopWork, TellsFormsOfAccessesApart) {
  const LoopWork work = CountLoopWork(Parse(R"(kernel forms
argument x f32[64,64]
argument p s32[64]
result y f32[64,64]
for i0 64
| for i1 4
| | for i2 16 vector
| | | y[i0,16*i1+i2] = x[16*i1+i2,i0] + x[i0,i0] + x[i0,{p[16*i1+i2]}]
)"),
                                      {});
  std::vector<AccessForm> forms;
  std::vector<bool> dependent;
  for (const AccessWork& access : work.accesses) {
    forms.push_back(access.form);
    dependent.push_back(access.data_dependent);
  }
  EXPECT_THAT(forms,
              ElementsAre(AccessForm::kScattered, AccessForm::kBroadcast,
                          AccessForm::kContiguous, AccessForm::kScattered,
                          AccessForm::kContiguous));
  EXPECT_THAT(dependent, ElementsAre(false, false, false, true, false));
}

TEST(LoopWork, SumsOfManyLanesAreSideBySide) {
  const auto chains = [](const std::string& text) {
    loops::Machine machine;
    machine.vector_bytes = 32;
    const LoopWork work = CountLoopWork(Parse(text), machine);
    return std::make_pair(work.statements.back().chains,
                          work.statements.back().chain_length);
  };
  EXPECT_EQ(chains(R"(kernel k
argument x f32[1024]
inout y f32[]
for i0 1024
| y[] += x[i0]
)"),
            std::make_pair(1.0, 1024.0));
  EXPECT_EQ(chains(R"(kernel k
argument x f32[1024]
inout y f32[4,16]
for i0 16
| for i1 4 unrolled
| | for i2 16 vector
| | | y[i1,i2] += x[64*i0+16*i1+i2]
)"),
            std::make_pair(8.0, 16.0));
}

// The code generator keeps at most 16 results of a statement in registers.
TEST(LoopWork, SumsThatAreTooManyAreStoredAtEachStep) {
  for (const int rows : {16, 17}) {
    const std::string n = std::to_string(rows);
    const LoopWork work = CountLoopWork(
        Parse("kernel k\nargument x f32[" + n + ",1024]\ninout y f32[" + n +
              "]\nfor i0 64\n| for i1 " + n +
              " unrolled\n| | for i2 16 vector\n| | | y[i1] += "
              "x[i1,16*i0+i2]\n"),
        {});
    const StatementWork& sum = work.statements[0];
    EXPECT_EQ(sum.is_kept, rows == 16);
    EXPECT_EQ(work.accesses[1].instructions, rows == 16 ? 16 : 17 * 64);
    EXPECT_EQ(sum.lane_sums, rows == 16 ? 16 : 17 * 64);
  }
}

TEST(LoopWork, SumsInMaskedOrScatteredLanesAreStoredAtEachStep) {
  loops::Machine machine;
  machine.vector_bytes = 64;
  const auto sum = [&](const std::string& bound, const std::string& target) {
    const LoopWork work = CountLoopWork(Parse(absl::Substitute(R"(kernel k
argument x f32[64,160]
inout y f32[320]
for i0 10
| local t f32[16] register
| for i1 16 vector
| | t[i1] = 0.0
| for i1 64
| | for i2 16$0 vector
| | | $1 += x[i1,16*i0+i2]
| for i1 16 vector
| | y[16*i0+i1] = t[i1]
)",
                                                               bound, target)),
                                        machine);
    return std::make_pair(work.statements[1], work.accesses[2]);
  };
  {
    const auto [plain, store] = sum("", "y[16*i0+i2]");
    EXPECT_EQ(plain.masked_share, 0);
    EXPECT_FALSE(plain.stored_masked);
    EXPECT_TRUE(plain.is_kept);
    EXPECT_EQ(store.instructions, 10);
  }
  {
    // The bound leaves out lanes in the last of ten iterations.
    const auto [masked, store] = sum(" < 150-16*i0", "y[16*i0+i2]");
    EXPECT_DOUBLE_EQ(masked.masked_share, 0.1);
    EXPECT_TRUE(masked.stored_masked);
    EXPECT_FALSE(masked.is_kept);
    EXPECT_EQ(store.instructions, 10 * 64);
  }
  {
    // It leaves out none.
    const auto [full, store] = sum(" < 160-16*i0", "y[16*i0+i2]");
    EXPECT_EQ(full.masked_share, 0);
    EXPECT_FALSE(full.stored_masked);
    EXPECT_TRUE(full.is_kept);
    EXPECT_EQ(store.instructions, 10);
  }
  {
    const auto [scattered, store] = sum("", "y[32*i0+2*i2]");
    EXPECT_EQ(scattered.masked_share, 0);
    EXPECT_TRUE(scattered.stored_masked);
    EXPECT_FALSE(scattered.is_kept);
    EXPECT_EQ(store.instructions, 10 * 64 * 16);
  }
  {
    // Lanes are added up after the loop, and masked ones are the identity.
    const auto [lanes, store] = sum(" < 150-16*i0", "y[i0]");
    EXPECT_DOUBLE_EQ(lanes.masked_share, 0.1);
    EXPECT_FALSE(lanes.stored_masked);
    EXPECT_TRUE(lanes.is_kept);
    EXPECT_EQ(store.instructions, 10);
  }
  EXPECT_TRUE(sum("", "t[i2]").first.is_kept);
  EXPECT_FALSE(sum(" < 150-16*i0", "t[i2]").first.is_kept);
}

// The first of two copies has all of its lanes.
TEST(LoopWork, MasksThatLeaveOutNothingAreFree) {
  const LoopWork work = CountLoopWork(Parse(R"(kernel k
argument x f32[22]
result y f32[22]
for i0 2 unrolled
| for i1 16 < 22-16*i0 vector
| | y[16*i0+i1] = x[16*i0+i1]
)"),
                                      {});
  EXPECT_DOUBLE_EQ(work.statements[0].masked_share, 0.5);
  EXPECT_DOUBLE_EQ(work.levels[2].cut_share, 0.5);
  EXPECT_DOUBLE_EQ(work.levels[2].trips, 11);
  EXPECT_EQ(work.levels[1].cut_share, 0);
}

TEST(LoopWork, DotsOfNarrowElementsAreOneInstruction) {
  const std::string text = R"(kernel k
argument a bf16[8,64]
argument b bf16[32,16,2]
inout c f32[8,16]
for i0 32
| for i1 8 unrolled
| | for i2 16 vector
| | | c[i1,i2] += convert(f32, a[i1,2*i0]) * convert(f32, b[i0,i2,0]) + convert(f32, a[i1,2*i0+1]) * convert(f32, b[i0,i2,1])
)";
  loops::Machine machine;
  machine.vector_bytes = 64;
  EXPECT_FALSE(CountLoopWork(Parse(text), machine).statements[0].is_dot);
  machine.has_bf16_dot = true;
  const LoopWork work = CountLoopWork(Parse(text), machine);
  EXPECT_TRUE(work.statements[0].is_dot);
  EXPECT_THAT(work.statements[0].instructions, ElementsAre(32 * 8, 0, 0, 0, 0));
  EXPECT_EQ(work.accesses[1].form, AccessForm::kContiguous);
}

// A block is read by rows: one load of a whole vector for each lane, and
// shuffles for each vector that they give.
TEST(LoopWork, TransposedBlocksAreReadByRows) {
  for (const int columns : {4, 16}) {
    const LoopWork work =
        CountLoopWork(Parse(absl::Substitute(R"(kernel k
argument x f32[64,64]
result y f32[64,64]
for i0 4
| for i1 $1
| | for i2 $0 unrolled
| | | for i3 16 vector
| | | | y[$0*i1+i2,16*i0+i3] = x[16*i0+i3,$0*i1+i2]
)",
                                             columns, 64 / columns)),
                      {});
    const AccessWork& load = work.accesses[0];
    EXPECT_EQ(load.form, AccessForm::kTransposed);
    const double vectors = 4 * 64;
    EXPECT_EQ(load.instructions, vectors * (16.0 / columns + 4));
    EXPECT_EQ(work.accesses[1].form, AccessForm::kContiguous);
  }
}

// The outermost of the loops along which a store is contiguous makes the block;
// a bound leaves out lanes of it.
TEST(LoopWork, TransposedStoresMayHaveLoopsBetween) {
  constexpr char kTile[] = R"(kernel k
argument x f32[6,2,16]
result y f32[2,16,6]
for i0 6 unrolled
| for i1 2 unrolled
| | for i2 16$0 vector
| | | y[i1,i2,i0] = x[i0,i1,i2]
)";
  const AccessWork store =
      CountLoopWork(Parse(absl::Substitute(kTile, "")), {}).accesses[1];
  EXPECT_EQ(store.form, AccessForm::kTransposed);
  EXPECT_DOUBLE_EQ(store.instructions, 12 * (16.0 / 6 + 4));
  EXPECT_EQ(CountLoopWork(Parse(absl::Substitute(kTile, " < 11")), {})
                .accesses[1]
                .form,
            AccessForm::kScattered);
}

TEST(LoopWork, RegistersOfLanesApartAreScattered) {
  constexpr char kTile[] = R"(kernel k
argument x f32[32,64]
result y f32[4,16]
local t f32[4,16] register strides $0
for i0 4 unrolled
| for i1 16 vector
| | t[i0,i1] = x[0,16*i0+i1]
for i0 4 unrolled
| for i1 16 vector
| | y[i0,i1] = t[i0,i1]
)";
  const LoopWork adjacent =
      CountLoopWork(Parse(absl::Substitute(kTile, "{16,1}")), {});
  const LoopWork apart =
      CountLoopWork(Parse(absl::Substitute(kTile, "{2,8}")), {});
  // The store to t, and the load of it.
  for (const size_t access : {size_t{1}, size_t{2}}) {
    EXPECT_EQ(adjacent.accesses[access].form, AccessForm::kRegister);
    EXPECT_FALSE(adjacent.accesses[access].register_scattered);
    EXPECT_EQ(adjacent.accesses[access].instructions, 0);
    EXPECT_EQ(apart.accesses[access].form, AccessForm::kScattered);
    EXPECT_TRUE(apart.accesses[access].register_scattered);
    EXPECT_EQ(apart.accesses[access].instructions, 4 * 16);
  }
  // Blocks of them are transposed like any other.
  EXPECT_EQ(CountLoopWork(Parse(absl::Substitute(kTile, "{1,4}")), {})
                .accesses[1]
                .form,
            AccessForm::kTransposed);
}

TEST(LoopWork, CopiesFarApartAreStreams) {
  const LoopWork work = CountLoopWork(Parse(R"(kernel k
argument x f32[64,1984]
argument v f32[1984]
inout y f32[64]
for i0 4
| for i1 4 unrolled
| | for i2 31
| | | for i3 4 unrolled
| | | | for i4 4 unrolled
| | | | | for i5 16 vector
| | | | | | y[16*i0+4*i1+i3] += x[16*i0+4*i1+i3,64*i2+16*i4+i5] * v[64*i2+16*i4+i5]
)"),
                                      {});
  // Four rows of x; the vectors of a row are side by side, and the rows of i1
  // are read one after the other.
  EXPECT_EQ(work.accesses[0].streams, 4);
  EXPECT_EQ(work.accesses[1].streams, 1);
  EXPECT_EQ(work.accesses[2].streams, 1);
}

TEST(LoopWork, SumsThatAreReadAtOnceAreWaitedFor) {
  const auto links = [](const std::string& text) {
    return CountLoopWork(Parse(text), {}).serial_links;
  };
  EXPECT_EQ(links(R"(kernel rows
argument x f32[64,32]
result y f32[64,32]
for i0 64
| local s f32[] register
| s[] = 0.0
| for i1 2
| | for i2 16 vector
| | | s[] += x[i0,16*i1+i2]
| for i1 2
| | for i2 16 vector
| | | y[i0,16*i1+i2] = x[i0,16*i1+i2] / s[]
)"),
            64);
  // Blocks of 16 rows wait once each.
  EXPECT_EQ(links(R"(kernel blocks
argument x f32[64,32]
result y f32[64,32]
for i0 4
| local s f32[16] stack
| for i1 16
| | s[i1] = 0.0
| for i1 16
| | for i2 2
| | | for i3 16 vector
| | | | s[i1] += x[16*i0+i1,16*i2+i3]
| for i1 16
| | for i2 2
| | | for i3 16 vector
| | | | y[16*i0+i1,16*i2+i3] = x[16*i0+i1,16*i2+i3] / s[i1]
)"),
            4);
  // Unrolled copies wait together; the whole kernel waits once.
  EXPECT_EQ(links(R"(kernel columns
argument x f32[32,4]
result y f32[4]
local s f32[4] stack
for i0 4 unrolled
| s[i0] = 0.0
for i0 4 unrolled
| for i1 32
| | s[i0] += x[i1,i0]
for i0 4 unrolled
| y[i0] = s[i0]
)"),
            1);
  // Each lane has a sum of its own, and nothing reads the result.
  EXPECT_EQ(links(R"(kernel lanes
argument x f32[32,16]
inout s f32[16]
result y f32[16]
for i0 32
| for i1 16 vector
| | s[i1] += x[i0,i1]
for i1 16 vector
| y[i1] = s[i1]
)"),
            0);
  EXPECT_EQ(links(R"(kernel end
argument x f32[32]
inout s f32[]
for i0 32
| s[] += x[i0]
)"),
            0);
}

// The root is that of a row, and of all copies and lanes.
TEST(LoopWork, ValuesThatLoopsLeaveAreComputedOutside) {
  loops::Machine machine;
  machine.vector_bytes = 64;
  const LoopWork work = CountLoopWork(Parse(R"(kernel k
argument x f32[8,1024]
argument s f32[8]
result y f32[8,1024]
for i0 8
| for i1 32
| | for i2 2 unrolled
| | | for i3 16 vector
| | | | y[i0,32*i1+16*i2+i3] = x[i0,32*i1+16*i2+i3] * sqrt(s[i0])
)"),
                                      machine);
  const StatementWork& statement = work.statements[0];
  EXPECT_THAT(statement.operations, ElementsAre(1, 0, 0, 1, 0));
  EXPECT_THAT(statement.instructions, ElementsAre(8 * 32 * 2, 0, 0, 8, 0));
}

// A sum of a row is stored and read again for each row, not for each element.
TEST(LoopWork, LocalsAreOtherValuesInEachIteration) {
  const LoopWork work = CountLoopWork(Parse(R"(kernel rows
argument x f32[64,32]
result y f32[64,32]
for i0 64
| local s f32[] stack
| s[] = 0.0
| for i1 32
| | s[] += x[i0,i1]
| for i1 32
| | y[i0,i1] = x[i0,i1] / s[]
)"),
                                      {});
  std::vector<double> of_sum;
  for (const AccessWork& access : work.accesses) {
    if (access.form != AccessForm::kRegister && access.elements > 0 &&
        work.levels.size() > 1 && access.innermost_stride == 0) {
      of_sum.push_back(access.instructions);
    }
  }
  EXPECT_THAT(of_sum, ElementsAre(64, 64, 64));
}

// What a row is read for again is in the cache.
TEST(LoopWork, LinesComeInOnceForAllThatReadThem) {
  const LoopWork work = CountLoopWork(Parse(R"(kernel k
argument x f32[4096,1024]
result y f32[4096]
result z f32[4096]
for i0 4096
| y[i0] = 0.0
| for i1 1024
| | y[i0] += x[i0,i1]
| z[i0] = 0.0
| for i1 1024
| | z[i0] += x[i0,i1] * x[i0,i1]
)"),
                                      {});
  double traffic = 0;
  for (const AccessWork& access : work.accesses) {
    if (!access.is_store) traffic += access.traffic[0];
  }
  EXPECT_EQ(traffic, 4096 * 1024 * 4);
}

TEST(LoopWork, StoresThatBypassCachesGoToMemory) {
  constexpr char kCopy[] = R"(kernel k
argument x f32[64,16]
result y f32[64,16]
for i0 64
| for i1 16 vector
| | y[i0,i1] = x[i0,i1] nontemporal
)";
  const LoopWork fitting = CountLoopWork(Parse(kCopy), {});
  ASSERT_EQ(fitting.accesses.size(), 2);
  EXPECT_FALSE(fitting.accesses[0].non_temporal);
  EXPECT_TRUE(fitting.accesses[1].non_temporal);
  EXPECT_THAT(fitting.accesses[0].traffic, ElementsAre(0, 0, 0));
  EXPECT_THAT(fitting.accesses[1].traffic, ElementsAre(0, 0, 64 * 16 * 4));
  loops::Machine small;
  small.l1_bytes = small.l2_bytes = small.l3_bytes = 1024;
  const LoopWork large = CountLoopWork(Parse(kCopy), small);
  EXPECT_THAT(large.accesses[0].traffic,
              ElementsAre(64 * 16 * 4, 64 * 16 * 4, 64 * 16 * 4));
  EXPECT_THAT(large.accesses[1].traffic, ElementsAre(0, 0, 64 * 16 * 4));
  // Scalars, lanes that are not adjacent and masked lanes are stored as usual.
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{
           {"16 vector", "16"},
           {"y[i0,i1]", "y[i1,0]"},
           {"16 vector", "16 < 9 vector"}}) {
    const LoopWork work =
        CountLoopWork(Parse(absl::StrReplaceAll(kCopy, {{from, to}})), small);
    EXPECT_FALSE(work.accesses[1].non_temporal);
    EXPECT_GT(work.accesses[1].traffic[0], 0);
  }
}

TEST(LoopWork, ParallelLoopsAreDividedInWholeIterations) {
  loops::Machine machine;
  machine.threads = 2;
  EXPECT_DOUBLE_EQ(CountLoopWork(Parse(R"(kernel k
argument x f32[5,8]
result y f32[5,8]
for i0 5 parallel
| for i1 8
| | y[i0,i1] = x[i0,i1]
)"),
                                 machine)
                       .thread_share,
                   0.6);
}

// Nothing overflows, and nothing is gone through.
TEST(LoopWork, TakesProgramsOfAnySize) {
  for (const char* extent : {"0", "1", "1152921504606846976"}) {
    const std::string n = extent;
    loops::Program program("k");
    loops::Buffer buffer;
    buffer.name = "x";
    const int64_t length = std::stoll(n);
    buffer.dimensions = {length, length};
    buffer.strides = {length, 1};
    buffer.memory = loops::Memory::kInOut;
    const loops::BufferId x = program.AddBuffer(buffer);
    const loops::VarId i = program.NewVar();
    const loops::VarId j = program.NewVar();
    loops::Statement statement;
    statement.target = {x, {loops::Affine::Var(i), loops::Affine::Var(j)}};
    statement.value =
        loops::Expression::Load(hlo::ElementType::kF32, statement.target);
    loops::Loop inner;
    inner.var = j;
    inner.extent = length;
    inner.bound = loops::Affine::Var(i, -7) + loops::Affine(length);
    inner.body = {std::make_shared<const loops::Statement>(statement)};
    loops::Loop outer;
    outer.var = i;
    outer.extent = length;
    outer.body = {std::make_shared<const loops::Loop>(inner)};
    program.mutable_body() = {std::make_shared<const loops::Loop>(outer)};
    const LoopWork work = CountLoopWork(program, {});
    EXPECT_TRUE(std::isfinite(work.statements[0].executions));
    EXPECT_GE(work.statements[0].executions, 0);
    for (const AccessWork& access : work.accesses) {
      EXPECT_TRUE(std::isfinite(access.footprint));
      EXPECT_TRUE(std::isfinite(access.traffic[0]));
    }
  }
}

}  // namespace
}  // namespace hone::costmodels
