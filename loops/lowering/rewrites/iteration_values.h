#ifndef HONE_LOOPS_LOWERING_REWRITES_ITERATION_VALUES_H_
#define HONE_LOOPS_LOWERING_REWRITES_ITERATION_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "hlo/rewrite/tuples/loop_rewriter.h"
#include "loops/lowering/rewrites/loop_rows.h"

namespace hone::loops {

// Makes arrays of the values that instructions in the body of a counted loop
// have in all iterations: for t { A[t] = a }. Arrays that the loop reads or
// writes by rows already are not made again.
class IterationValues {
 public:
  // Both outlive this.
  IterationValues(hlo::LoopRewriter& loop, const LoopRows& rows)
      : loop_(loop), rows_(rows) {}

  // Asks for the values of `id`, in the order of `place`, of which
  // LoopRows::Permutation is known. Returns a number for All.
  size_t Add(hlo::InstructionId id, hlo::InstructionId place);
  // The place of an array of `id` that was asked for; kNoInstruction if there
  // is none.
  hlo::InstructionId PlaceOf(hlo::InstructionId id) const;
  // Lets the loop store what was asked for and is in no array. All elements are
  // added at once, since each change of the state visits all of it.
  void Store();
  // Returns the array outside the loop. After Store.
  hlo::InstructionId All(size_t number);

  // Returns true if element `element` of the state has a row for each iteration
  // and no other.
  bool HasRowPerIteration(int32_t element) const;

 private:
  struct Array {
    hlo::InstructionId id = hlo::kNoInstruction;
    hlo::InstructionId place = hlo::kNoInstruction;
    // The element of the state that is the array; -1 until Store adds it.
    int32_t element = -1;
    // The loop only reads it.
    bool is_initial = false;
  };

  bool AreSamePlaces(hlo::InstructionId a, hlo::InstructionId b) const;
  std::optional<size_t> Find(hlo::InstructionId id,
                             hlo::InstructionId place) const;

  hlo::LoopRewriter& loop_;
  const LoopRows& rows_;
  std::vector<Array> arrays_;
  absl::flat_hash_map<hlo::InstructionId, std::vector<size_t>> arrays_of_;
  // The first of `arrays_` that Store has yet to look at.
  size_t next_ = 0;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_REWRITES_ITERATION_VALUES_H_
