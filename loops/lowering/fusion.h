#ifndef HONE_LOOPS_LOWERING_FUSION_H_
#define HONE_LOOPS_LOWERING_FUSION_H_

#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

#include "loops/lowering/value_graph.h"

namespace hone::loops {

// The literal of a constant whose elements are all the same; null for every
// other value.
const hlo::Literal* UniformConstant(const ValueGraph& graph, ValueId id);

// Which values get a buffer, and which are computed where they are used.
//
// Reductions, dots, convolutions and whatever needs loops of its own are
// stored, and so are parameters and constants. Of elementwise work and data
// movement, a value with a single reader that reads each element once is
// computed there. So is one with several readers, or whose elements are read
// repeatedly, where that repeats little work and few loads. The operands of
// dots and convolutions, which are read many times, may only be re-indexed on
// the way. Of a dot that is only transposed, the transpose is stored instead:
// its loops write there at once. Expressions are limited in size.
class Fusion {
 public:
  // `must_store`: values that have to lie in memory, as results do.
  Fusion(const ValueGraph& graph, absl::Span<const ValueId> must_store);

  bool IsStored(ValueId id) const {
    return info_[static_cast<size_t>(id)].stored;
  }
  // Whether `id` is a dot that only a transpose reads, which is stored in its
  // place.
  bool IsWrittenTransposed(ValueId id) const {
    return info_[static_cast<size_t>(id)].written_transposed;
  }
  // Whether `id` is such a transpose.
  bool IsTransposedDot(ValueId id) const;
  // Stores a value after all.
  void Store(ValueId id);

 private:
  struct Info {
    bool stored = false;
    // Expression nodes, and about how many additions they are worth.
    int64_t size = 1;
    int64_t work = 0;
    // Stored arrays that are read, small ones left out; more than kMaxSources
    // are not told apart.
    absl::InlinedVector<ValueId, 4> sources;
    // Operands that are this value.
    int32_t uses = 0;
    // Whether one of them reads elements more than once.
    bool repeated = false;
    // See IsWrittenTransposed.
    bool written_transposed = false;
  };

  Info& info(ValueId id) { return info_[static_cast<size_t>(id)]; }
  void CountUses();
  void WriteDotsTransposed();
  void StoreContractionOperand(ValueId id);
  void StoreThrough(ValueId id);
  void LimitOperandSizes(hlo::InstructionId id);
  void Decide(ValueId id);
  void Summarise(ValueId id);

  const ValueGraph& graph_;
  std::vector<Info> info_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_FUSION_H_
