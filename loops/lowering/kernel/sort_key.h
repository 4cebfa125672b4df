#ifndef HONE_LOOPS_LOWERING_KERNEL_SORT_KEY_H_
#define HONE_LOOPS_LOWERING_KERNEL_SORT_KEY_H_

#include <cstddef>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "hlo/ir/module.h"
#include "loops/ir/expression.h"

namespace hone::loops {

// A comparator that compares the same function of two elements of one operand.
struct SortKey {
  hlo::ComputationId comparator = 0;
  // The operand.
  size_t operand = 0;
  size_t operand_count = 0;
  // The function is the left side of the comparison.
  bool is_left = true;
  bool is_descending = false;
  bool total_order = false;
};

// Matches the comparator of a sort of operands of these types.
std::optional<SortKey> AsSortKey(const hlo::Module& module,
                                 hlo::ComputationId comparator,
                                 absl::Span<const hlo::ElementType> types);

// Returns an unsigned integer of the width of the key whose ascending order is
// that of the sort, for an element of the operand of the key. Errors:
// Unimplemented.
absl::StatusOr<ExpressionPtr> KeyBits(const hlo::Module& module,
                                      const SortKey& key,
                                      ExpressionPtr element);

// Returns the unsigned integer of the same width that orders the numbers as
// `total_order` says; without it, zeros are equal, and NaN comes last.
ExpressionPtr OrderedBits(ExpressionPtr number, bool total_order,
                          bool is_descending);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_KERNEL_SORT_KEY_H_
