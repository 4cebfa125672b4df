#include "loops/schedules/short_sums.h"

#include <optional>
#include <vector>

#include "absl/algorithm/container.h"

#include "loops/ir/rewrite.h"
#include "loops/schedules/interleaved_panels.h"
#include "loops/schedules/nest.h"

namespace hone::loops {
namespace {

// Both operands are copied: each copy is an access to memory, each use a part
// of an instruction for many products.
constexpr double kUsesWorthCopies = 32;
// Sums of fewer steps are mostly loads and stores of the result.
constexpr int64_t kLeastSteps = 8;

// Returns the path of the loop of the sum to extend, if `path` is a statement
// that has one.
std::optional<Path> ShortSum(const Scheduler& s, const Path& path,
                             int64_t& products) {
  const Program& program = s.program();
  const std::optional<Contraction> c = AsContraction(program, path);
  if (!c.has_value() || c->sums.size() != 1 || c->rows.empty() ||
      c->columns.empty()) {
    return std::nullopt;
  }
  products = ProductsAtOnce(program, s.machine(), *c);
  double rows = 1;
  double columns = 1;
  std::optional<Path> sum;
  const std::vector<const Loop*> loops = program.LoopsAbove(path);
  for (size_t depth = 0; depth < loops.size(); ++depth) {
    const Loop& loop = *loops[depth];
    if (loop.var != c->sums[0]) {
      const auto extent = static_cast<double>(loop.extent);
      if (absl::c_linear_search(c->rows, loop.var)) rows *= extent;
      if (absl::c_linear_search(c->columns, loop.var)) columns *= extent;
      continue;
    }
    if (loop.extent % products != 0 && loop.extent >= kLeastSteps &&
        loop.extent < kLeastStepsToPeel) {
      sum = Prefix(path, depth + 1);
    }
  }
  // Rows are used by all columns, and the other way around.
  if (rows * columns < kUsesWorthCopies * (rows + columns)) return std::nullopt;
  return sum;
}

}  // namespace

void PadShortSums(Scheduler& s) {
  std::vector<Path> statements;
  VisitStatements(s.program(), {}, [&](const Path& path, const Statement&) {
    statements.push_back(path);
  });
  for (const Path& path : statements) {
    int64_t products = 1;
    const std::optional<Path> sum = ShortSum(s, path, products);
    if (sum.has_value()) s.Try("pad_sum", *sum, {products});
  }
}

}  // namespace hone::loops
