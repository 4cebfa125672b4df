#ifndef HONE_LOOPS_LOWERING_REWRITES_LOOP_ROWS_H_
#define HONE_LOOPS_LOWERING_REWRITES_LOOP_ROWS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "hlo/passes/control_flow/while_trip_count.h"
#include "hlo/rewrite/tuples/loop_rewriter.h"

namespace hone::loops {

// A part [1, …] of an array along its first dimension, which a loop reads or
// writes in each iteration.
struct LoopRow {
  // The element of the loop's state that holds the array.
  int32_t element = 0;
  // The instruction of the body that computes the index of the row: a scalar.
  hlo::InstructionId place = hlo::kNoInstruction;
};

// Finds which values in the body of a counted loop are rows of arrays, and at
// which places. No question looks at the whole state of the loop, which may
// have thousands of elements.
class LoopRows {
 public:
  // `loop`, which outlives this, takes its state apart; its body has one read
  // of each element at most (MakeReadsUnique).
  LoopRows(hlo::LoopRewriter& loop, const hlo::CountedLoop& counted);

  int64_t trip_count() const { return counted_.trip_count; }

  // `id`, without the first dimension, as a row of an array that the body hands
  // on unchanged; nullopt if it is none.
  std::optional<LoopRow> Read(hlo::InstructionId id) const;
  // `id`, without the first dimension, as a row that the body writes to an
  // array of its state, without any other use of this array; nullopt if no use
  // of `id` is that.
  std::optional<LoopRow> Written(hlo::InstructionId id) const;
  // Returns true if the use of `id` that Written finds is the only one.
  bool IsOnlyWritten(hlo::InstructionId id) const;

  // Returns true if `id` becomes element `element` of the state, and has no
  // other use.
  bool IsNext(hlo::InstructionId id, int32_t element) const;
  // Returns true if `user` alone uses `read`, the body's read of an element,
  // and the condition does not read that element.
  bool IsReadOnlyBy(hlo::InstructionId read, hlo::InstructionId user) const;

  // The values of `place`, one per iteration; nullopt if they are not a
  // permutation of the numbers below the trip count, or not known.
  std::optional<std::vector<int64_t>> Permutation(
      hlo::InstructionId place) const;
  // The counter, if it is 0, 1, 2, …; kNoInstruction otherwise.
  hlo::InstructionId Counter() const;

  // Returns true if `id` is the same in every iteration and costs nothing or
  // little.
  bool IsInvariant(hlo::InstructionId id) const;
  // Computes `id`, which is invariant, outside the loop.
  hlo::InstructionId CopyOutside(hlo::InstructionId id);

 private:
  const hlo::Rewriter& body() const { return loop_.body(); }
  bool IsInvariant(hlo::InstructionId id, int depth) const;

  std::optional<std::vector<int64_t>> FindPermutation(
      hlo::InstructionId place) const;

  hlo::LoopRewriter& loop_;
  const hlo::CountedLoop counted_;
  // By element of the state that the loop had at first: elements that are added
  // are not read there.
  const std::vector<bool> is_read_by_condition_;
  // The body's read of the counter; kNoInstruction if there is none.
  const hlo::InstructionId counter_;
  // By place. Thousands of rows may have the same.
  mutable absl::flat_hash_map<hlo::InstructionId,
                              std::optional<std::vector<int64_t>>>
      permutations_;
};

// Lets all that reads an element of the state in the body of a loop, which owns
// its callees, read it by the same instruction.
void MakeReadsUnique(hlo::LoopRewriter& loop);

// Reads row `place` of `array`, an element of the body's state.
hlo::InstructionId MakeReadOfRow(hlo::Rewriter& body, hlo::InstructionId array,
                                 hlo::InstructionId place);
// Writes `row` at `place` of `array`.
hlo::InstructionId MakeWriteOfRow(hlo::Rewriter& body, hlo::InstructionId array,
                                  hlo::InstructionId row,
                                  hlo::InstructionId place);

// Calls `change` for each counted loop of a module whose body has dots, inner
// ones first; condition and body have no other caller then, and elements may be
// added to the state. Errors: as RewriteModule.
absl::Status RewriteLoopsWithDots(
    hlo::Module& module, absl::string_view name,
    absl::FunctionRef<void(hlo::LoopRewriter&, LoopRows&)> change);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_REWRITES_LOOP_ROWS_H_
