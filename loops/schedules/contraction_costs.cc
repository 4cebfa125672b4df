#include "loops/schedules/contraction_costs.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"

#include "base/division.h"
#include "loops/schedules/nest.h"

namespace hone::loops {
namespace {

// Vectors of products that are added per cycle, and cycles to store an element
// of a vector that is not contiguous in the result, and to copy an element to a
// panel.
constexpr double kSumsPerCycle = 2;
constexpr double kCyclesPerScatter = 1;
constexpr double kCyclesPerConflict = 10;
constexpr double kCyclesPerCopy = 0.25;
constexpr double kCyclesPerTransposed = 0.5;
// Cycles to read an element from memory if the next one that is read is not
// close, and neighbors are read soon.
constexpr double kCyclesPerMiss = 2;
// The distance of addresses that map to the same set of L1.
constexpr int64_t kSetSpan = 4096;

// Returns true if the columns of a tile whose elements are so many bytes apart
// map to so few sets of L1 that they evict each other.
bool ShareSets(const VectorSetting& setting, int64_t bytes) {
  const int64_t lines = kMostTileVectors * setting.lanes;
  const int64_t sets = kSetSpan / std::max(std::gcd(bytes, kSetSpan),
                                           setting.machine.cache_line_bytes);
  return lines / sets > setting.machine.l1_bytes / kSetSpan / 2;
}

}  // namespace

int64_t OperandBytes(const absl::flat_hash_map<VarId, int64_t>& extents,
                     const std::vector<VarId>& sums,
                     const std::vector<VarId>& others, VarId last) {
  int64_t product = 4 * extents.at(last);
  for (VarId var : sums) product *= extents.at(var);
  for (VarId var : others) product *= extents.at(var);
  return product;
}

int64_t ElementsOfWindow(const Program& program, const Access& factor,
                         VarId row, int64_t rows, VarId sum, int64_t steps) {
  const int64_t distance = StrideOf(program, factor, row).value_or(0);
  const int64_t step = StrideOf(program, factor, sum).value_or(0);
  if (step == 0 || distance == 0 || distance % step != 0 ||
      distance / step >= steps) {
    return 1;
  }
  return distance / step * (rows - 1) + steps;
}

double CyclesPerResult(const VectorSetting& setting,
                       const std::vector<VarId>& sums, const Access& factor,
                       const Access& other, VarId var,
                       const std::vector<VarId>& others) {
  const Program& program = setting.program;
  const auto size = [&](const std::vector<VarId>& vars) {
    double product = 1;
    for (VarId v : vars) product *= static_cast<double>(setting.extents.at(v));
    return product;
  };
  const int64_t extent = setting.extents.at(var);
  const int64_t vectors = (extent + setting.lanes - 1) / setting.lanes;
  const double steps = size(sums);
  const double uses = size(others);
  double cycles = steps * static_cast<double>(vectors) /
                  (kSumsPerCycle * static_cast<double>(extent));
  const Access& target = setting.target;
  const int64_t stride = StrideOf(program, target, var).value_or(0);
  if (stride != 1) {
    const int64_t width = hlo::ByteWidth(program.buffer(target.buffer).type);
    cycles += ShareSets(setting, stride * width) ? kCyclesPerConflict
                                                 : kCyclesPerScatter;
  }
  const bool is_contiguous = StrideOf(program, factor, var) == setting.adjacent;
  const bool is_in_place = is_contiguous && setting.adjacent > 1;
  if (!is_contiguous || (uses >= kRowsWorthPanels && !is_in_place)) {
    cycles +=
        steps / uses * (is_contiguous ? kCyclesPerCopy : kCyclesPerTransposed);
  }
  // The other operand is read in place, once per tile of columns, or it is read
  // once and copied, if row tiles are outside column tiles.
  const bool is_in_order = absl::c_any_of(sums, [&](VarId sum) {
    const int64_t step = StrideOf(program, other, sum).value_or(0);
    return step >= 1 && step <= kMostLoadStride;
  });
  if (!is_contiguous && !is_in_order &&
      4 * steps * uses > static_cast<double>(setting.machine.l2_bytes)) {
    cycles +=
        kCyclesPerMiss * steps /
        static_cast<double>(std::min(extent, kMostTileVectors * setting.lanes));
  }
  return cycles;
}

int64_t TilesPerShare(int64_t whole_tiles, int64_t tiles, int64_t threads) {
  // The tiles that one thread computes after the other.
  const auto steps_of = [&](int64_t share) {
    const int64_t shares = whole_tiles / share;
    return CeilDivide(shares, threads) * share + tiles - shares * share;
  };
  // Long shares are read contiguously, so that of equal ones these are better.
  int64_t best = whole_tiles / threads;
  for (int64_t share = best - 1; share > 0; --share) {
    if (steps_of(share) < steps_of(best)) best = share;
  }
  return best;
}

std::optional<VarId> TakeColumn(const VectorSetting& setting, Contraction& c,
                                bool& both_move) {
  if (!c.rows.empty() && !c.columns.empty()) {
    const auto best_of = [&](const Access& factor, const Access& other,
                             const std::vector<VarId>& vars,
                             const std::vector<VarId>& others) {
      std::pair<double, VarId> best = {std::numeric_limits<double>::infinity(),
                                       0};
      for (VarId var : vars) {
        best = std::min(
            best, {CyclesPerResult(setting, c.sums, factor, other, var, others),
                   var});
      }
      return best;
    };
    auto best = best_of(*c.b, *c.a, c.columns, c.rows);
    const auto row = best_of(*c.a, *c.b, c.rows, c.columns);
    if (row.first < best.first) {
      best = row;
      std::swap(c.a, c.b);
      std::swap(c.rows, c.columns);
    }
    c.columns.erase(absl::c_find(c.columns, best.second));
    return best.second;
  }
  // Without rows or columns, along a loop in which the result is contiguous.
  const auto is_contiguous = [&](VarId var) {
    return StrideOf(setting.program, setting.target, var) == 1;
  };
  if (c.columns.empty()) {
    std::swap(c.a, c.b);
    std::swap(c.rows, c.columns);
  }
  std::vector<VarId>* vectors = &c.columns;
  if (absl::c_none_of(c.columns, is_contiguous)) {
    std::swap(c.a, c.b);
    std::swap(c.rows, c.columns);
    vectors = &c.batches;
    both_move = true;
  }
  const auto found = absl::c_find_if(*vectors, is_contiguous);
  if (found == vectors->end()) return std::nullopt;
  const VarId column = *found;
  vectors->erase(found);
  return column;
}

}  // namespace hone::loops
