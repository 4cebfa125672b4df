#ifndef HONE_LOOPS_LOWERING_KERNEL_RADIX_SORT_H_
#define HONE_LOOPS_LOWERING_KERNEL_RADIX_SORT_H_

#include <cstdint>
#include <functional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "loops/lowering/kernel/kernel_writer.h"
#include "loops/lowering/kernel/nest.h"

namespace hone::loops {

// A line of `size` items to sort by keys, by a radix sort from the least
// significant digit on, which is stable.
struct RadixSort {
  int64_t size = 0;
  hlo::ElementType item = hlo::ElementType::kInvalid;
  // The unsigned type of the keys.
  hlo::ElementType key = hlo::ElementType::kInvalid;
};

// Returns the accesses of an item by its place in a line.
using PlaceFn = absl::FunctionRef<Access(const Index& place)>;

// Writes the loops that sort a line into the current loop of `nest`.
// `first_item` returns the item at a place before the sort, `key_of` the key of
// an item; the sorted items go to `sorted`, and also serve as a buffer.
absl::Status WriteRadixSort(
    KernelWriter& writer, Nest& nest, const RadixSort& sort,
    absl::FunctionRef<absl::StatusOr<ExpressionPtr>(const Affine& place)>
        first_item,
    absl::FunctionRef<absl::StatusOr<ExpressionPtr>(ExpressionPtr item)> key_of,
    PlaceFn sorted);

// Writes the loops that sort the places 0 … size - 1 of a line by the keys that
// `key_at` returns, of unsigned type `key`. Returns a function from a place in
// the order to an index, that of the place that comes there.
absl::StatusOr<std::function<Index(const Affine& place)>> WriteSortOfPlaces(
    KernelWriter& writer, Nest& nest, int64_t size, hlo::ElementType key,
    absl::FunctionRef<absl::StatusOr<ExpressionPtr>(Index place)> key_at);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_KERNEL_RADIX_SORT_H_
