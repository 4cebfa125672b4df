#ifndef HONE_LOOPS_LOWERING_KERNEL_KEY_SELECTION_H_
#define HONE_LOOPS_LOWERING_KERNEL_KEY_SELECTION_H_

#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

#include "loops/lowering/kernel/kernel_writer.h"
#include "loops/lowering/kernel/nest.h"

namespace hone::loops {

// Keys are compared in units, a multiple of a vector.
inline constexpr int64_t kKeysPerUnit = 16;

// Returns the elements of a buffer for so many keys: whole units.
int64_t PaddedKeys(int64_t size);

// Keys of integer type in a buffer of PaddedKeys(size) elements.
struct Keys {
  int64_t size = 0;
  BufferId keys = 0;
};

// Selects and ranks keys by loops of a fixed number of iterations that vectors
// can run. Every function writes loops into those that are open, and closes its
// own.
class KeySelection {
 public:
  // The type of all keys is `type`.
  KeySelection(KernelWriter& writer, Nest& nest, hlo::ElementType type)
      : writer_(writer), nest_(nest), type_(type) {}

  // Completes the last unit by keys that come after all others. The following
  // functions need that.
  void Pad(const Keys& keys);

  // Returns a buffer with the numbers of the `count` smallest keys, of equal
  // ones the earliest, in increasing order of the numbers. The k-th key is
  // found by one or two bits at a time; then its smaller ones are listed.
  BufferId First(const Keys& keys, int64_t count);

  // Returns a buffer with the rank of each key among all, by counting those
  // that come first: of equal ones the earlier.
  BufferId Ranks(const Keys& keys);

 private:
  // A scalar of 32 bits that is `value` at first.
  Access Number(absl::string_view name, int64_t value);
  // The key of which only the highest bit is set.
  ExpressionPtr HighestBit() const;
  // The largest key that fewer than `count` + 1 are smaller than, and their
  // number.
  struct Threshold {
    Access key;
    Access smaller;
  };
  Threshold Find(const Keys& keys, int64_t count);
  // Returns a buffer with the numbers of at most `count` of `size` iterations
  // for which `condition` holds. Vectors list them.
  BufferId List(absl::string_view name, int64_t count, int64_t size,
                absl::FunctionRef<ExpressionPtr(const Affine&)> condition);

  KernelWriter& writer_;
  Nest& nest_;
  const hlo::ElementType type_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_KERNEL_KEY_SELECTION_H_
