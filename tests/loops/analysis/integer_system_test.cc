#include "loops/analysis/integer_system.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "gtest/gtest.h"

#include "base/rng.h"

namespace hone::loops {
namespace {

using Term = IntegerSystem::Term;

TEST(IntegerSystem, NothingToSatisfyIsFeasible) {
  IntegerSystem system;
  EXPECT_EQ(system.IsFeasible(), true);
  system.AddUnknown(3, 3);
  EXPECT_EQ(system.IsFeasible(), true);
  system.AddUnknown(1, 0);
  EXPECT_EQ(system.IsFeasible(), false);
}

TEST(IntegerSystem, ConstantsMustHold) {
  IntegerSystem system;
  system.AddEquality({}, 0);
  system.AddAtLeastZero({}, 4);
  EXPECT_EQ(system.IsFeasible(), true);
  system.AddAtLeastZero({}, -1);
  EXPECT_EQ(system.IsFeasible(), false);
}

TEST(IntegerSystem, EquationsNeedDivisibleConstants) {
  for (int64_t constant = 0; constant < 6; ++constant) {
    IntegerSystem system;
    const int32_t x = system.AddUnknown(-100, 100);
    const int32_t y = system.AddUnknown(-100, 100);
    system.AddEquality({{x, 6}, {y, -4}}, constant);
    EXPECT_EQ(system.IsFeasible(), constant % 2 == 0) << constant;
  }
}

TEST(IntegerSystem, TellsTilesApart) {
  // 16 d + e = c with |e| < 16: the tile and the place in it.
  for (int64_t c = 0; c < 40; ++c) {
    IntegerSystem system;
    const int32_t d = system.AddUnknown(2, 1000000);
    const int32_t e = system.AddUnknown(-15, 15);
    system.AddEquality({{d, 16}, {e, 1}}, -c);
    EXPECT_EQ(system.IsFeasible(), c >= 17) << c;
  }
}

// Bounds propagation alone would take a round for each value.
TEST(IntegerSystem, SeesACircleOfLargeDomains) {
  IntegerSystem system;
  const int32_t x = system.AddUnknown(0, int64_t{1} << 40);
  const int32_t y = system.AddUnknown(0, int64_t{1} << 40);
  const int32_t d = system.AddUnknown(1, int64_t{1} << 40);
  system.AddEquality({{x, 1}, {y, -1}}, 0);
  system.AddEquality({{x, 1}, {d, 1}, {y, -1}}, 0);
  EXPECT_EQ(system.IsFeasible(), false);
}

TEST(IntegerSystem, GivesUpWhereItWasToldTo) {
  IntegerSystem system;
  const int32_t x = system.AddUnknown(-1000, 1000);
  const int32_t y = system.AddUnknown(-1000, 1000);
  const int32_t z = system.AddUnknown(-1000, 1000);
  system.AddEquality({{x, 6}, {y, 10}, {z, 15}}, 1);
  system.AddEquality({{x, 21}, {y, -14}, {z, 6}}, 3);
  EXPECT_EQ(system.IsFeasible(/*max_nodes=*/0), std::nullopt);
}

TEST(IntegerSystem, CannotTellBeyondWords) {
  IntegerSystem system;
  const int32_t x = system.AddUnknown(0, int64_t{1} << 40);
  system.AddEquality({{x, int64_t{1} << 40}}, 5);
  EXPECT_EQ(system.IsFeasible(), std::nullopt);
}

struct RandomSystem {
  struct Row {
    std::vector<int64_t> coefficients;
    int64_t constant = 0;
    bool equality = false;
  };
  std::vector<int64_t> lo;
  std::vector<int64_t> hi;
  std::vector<Row> rows;
};

RandomSystem MakeRandomSystem(Rng& rng) {
  // Coefficients as loops have them: often none or ±1, else strides.
  constexpr int64_t kCoefficients[] = {0,  0, 0, 1,  1, -1, -1, 2,
                                       -2, 3, 4, -4, 6, 8,  16, -16};
  RandomSystem random;
  const uint64_t unknowns = 1 + rng.Below(5);
  for (uint64_t i = 0; i < unknowns; ++i) {
    random.lo.push_back(static_cast<int64_t>(rng.Below(7)) - 4);
    random.hi.push_back(random.lo.back() + static_cast<int64_t>(rng.Below(6)));
  }
  const uint64_t rows = 1 + rng.Below(5);
  for (uint64_t i = 0; i < rows; ++i) {
    RandomSystem::Row& row = random.rows.emplace_back();
    for (uint64_t j = 0; j < unknowns; ++j) {
      row.coefficients.push_back(kCoefficients[rng.Below(16)]);
    }
    row.constant = static_cast<int64_t>(rng.Below(21)) - 10;
    row.equality = rng.Below(2) == 0;
  }
  return random;
}

bool Holds(const RandomSystem::Row& row, const std::vector<int64_t>& values) {
  int64_t sum = row.constant;
  for (size_t i = 0; i < values.size(); ++i) {
    sum += row.coefficients[i] * values[i];
  }
  return row.equality ? sum == 0 : sum >= 0;
}

bool HasSolution(const RandomSystem& random) {
  std::vector<int64_t> values = random.lo;
  while (true) {
    bool all = true;
    for (const RandomSystem::Row& row : random.rows) {
      all = all && Holds(row, values);
    }
    if (all) return true;
    size_t i = 0;
    while (i < values.size() && ++values[i] > random.hi[i]) {
      values[i] = random.lo[i];
      ++i;
    }
    if (i == values.size()) return false;
  }
}

TEST(IntegerSystem, AgreesWithTryingAllValues) {
  Rng rng(1);
  int feasible = 0;
  constexpr int kSystems = 20000;
  for (int i = 0; i < kSystems; ++i) {
    const RandomSystem random = MakeRandomSystem(rng);
    IntegerSystem system;
    for (size_t j = 0; j < random.lo.size(); ++j) {
      system.AddUnknown(random.lo[j], random.hi[j]);
    }
    for (const RandomSystem::Row& row : random.rows) {
      std::vector<Term> terms;
      for (size_t j = 0; j < row.coefficients.size(); ++j) {
        terms.push_back({static_cast<int32_t>(j), row.coefficients[j]});
      }
      if (row.equality) {
        system.AddEquality(terms, row.constant);
      } else {
        system.AddAtLeastZero(terms, row.constant);
      }
    }
    const bool expected = HasSolution(random);
    ASSERT_EQ(system.IsFeasible(), expected) << "system " << i;
    feasible += static_cast<int>(expected);
  }
  EXPECT_GT(feasible, kSystems / 10);
  EXPECT_LT(feasible, kSystems * 9 / 10);
}

}  // namespace
}  // namespace hone::loops
