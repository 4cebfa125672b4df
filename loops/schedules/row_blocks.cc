#include "loops/schedules/row_blocks.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"

#include "loops/ir/operation_types.h"
#include "loops/ir/rewrite.h"
#include "loops/schedules/nest.h"

namespace hone::loops {
namespace {

constexpr int64_t kLeastRows = 8;
constexpr int64_t kMostRows = 32;
// Blocks in a program, at least.
constexpr int64_t kLeastBlocks = 2;

std::vector<const Loop*> ChainAt(const Node& nest) {
  std::vector<const Loop*> chain;
  for (const Loop* loop = nest.loop(); loop != nullptr;
       loop = OnlyChildLoop(*loop)) {
    chain.push_back(loop);
  }
  return chain;
}

// What the nests of a program have in common.
struct Rows {
  std::vector<int64_t> extents;  // of the loops, the one over rows last
  int64_t bytes = 0;             // of the longest row
  bool has_slow_sum = false;
};

// Returns the rows of a nest with sums along contiguous rows; nullopt for any
// other nest.
std::optional<Rows> RowsOfSum(const Program& program, const Node& nest) {
  const std::vector<const Loop*> chain = ChainAt(nest);
  Rows rows;
  for (const Loop* loop : chain) rows.extents.push_back(loop->extent);
  bool has_sum = false;
  for (const Node& node : chain.back()->body) {
    const Loop* const along = node.loop();
    if (along == nullptr) continue;
    if (!IsInnermost(*along)) return std::nullopt;
    for (const Node& leaf : along->body) {
      const Statement& statement = *leaf.statement();
      if (!statement.combine.has_value() ||
          StrideOf(program, statement.target, along->var) != 0 ||
          along->extent <= kShortRow) {
        return std::nullopt;
      }
      bool is_short = false;
      VisitLoads(*statement.value, [&](const Access& load) {
        const std::optional<int64_t> stride =
            StrideOf(program, load, along->var);
        if (stride != 1) return;
        has_sum = true;
        const int64_t width = hlo::ByteWidth(program.buffer(load.buffer).type);
        is_short = is_short || (width == 2 &&
                                hlo::IsFloat(program.buffer(load.buffer).type));
        rows.bytes = std::max(rows.bytes, along->extent * width);
      });
      rows.has_slow_sum =
          rows.has_slow_sum || is_short ||
          IsSlowOperation(*statement.combine, statement.value->type());
    }
  }
  return has_sum ? std::optional(rows) : std::nullopt;
}

// Returns true if the nest goes over the same rows, element by element or row
// by row.
bool IsOver(const Node& nest, const Rows& rows) {
  const std::vector<const Loop*> chain = ChainAt(nest);
  return chain.size() >= rows.extents.size() &&
         chain.size() <= rows.extents.size() + 1 &&
         IsInnermost(*chain.back()) &&
         std::equal(rows.extents.begin(), rows.extents.end(), chain.begin(),
                    [](int64_t extent, const Loop* loop) {
                      return extent == loop->extent;
                    });
}

// Returns the rows that every nest of the program goes over, if a sum along
// them is slow.
std::optional<Rows> CommonRows(const Program& program) {
  std::optional<Rows> common;
  for (const Node& nest : program.body()) {
    if (nest.loop() == nullptr) return std::nullopt;
    const std::optional<Rows> rows = RowsOfSum(program, nest);
    if (!rows.has_value()) continue;
    if (!common.has_value()) common = rows;
    if (rows->extents != common->extents) return std::nullopt;
    common->bytes = std::max(common->bytes, rows->bytes);
    common->has_slow_sum = common->has_slow_sum || rows->has_slow_sum;
  }
  if (program.body().size() < 2 || !common.has_value() ||
      !common->has_slow_sum ||
      !absl::c_all_of(program.body(), [&](const Node& nest) {
        return RowsOfSum(program, nest).has_value() || IsOver(nest, *common);
      })) {
    return std::nullopt;
  }
  return common;
}

// Returns true if the innermost loop over rows has several blocks.
bool HasBlocks(const Rows& rows) {
  return rows.extents.back() >= kLeastBlocks * kLeastRows;
}

// Collapses the two innermost loops over rows in every nest.
bool JoinInnermost(Scheduler& s, const Rows& rows) {
  const Scheduler::Checkpoint mark = s.Save();
  for (size_t i = 0; i < s.program().body().size(); ++i) {
    Path outer = {static_cast<int32_t>(i)};
    while (outer.size() + 1 < rows.extents.size()) outer.push_back(0);
    if (s.Try("collapse", outer)) continue;
    s.Restore(mark);
    return false;
  }
  return true;
}

}  // namespace

void JoinRows(Scheduler& s) {
  for (std::optional<Rows> rows = CommonRows(s.program());
       rows.has_value() && rows->extents.size() > 1 && !HasBlocks(*rows) &&
       JoinInnermost(s, *rows);) {
    rows = CommonRows(s.program());
  }
}

RowBlocks RowBlocksFor(const Program& program, const Machine& machine) {
  const std::optional<Rows> common = CommonRows(program);
  if (!common.has_value()) return {};
  RowBlocks blocks;
  blocks.outer = common->extents.size() - 1;
  if (!HasBlocks(*common) || kLeastRows * common->bytes > machine.l1_bytes) {
    return blocks;
  }
  blocks.rows = kMostRows;
  while (blocks.rows > kLeastRows &&
         (blocks.rows * common->bytes > machine.l1_bytes / 3 ||
          common->extents.back() < kLeastBlocks * blocks.rows)) {
    blocks.rows /= 2;
  }
  return blocks;
}

}  // namespace hone::loops
