#ifndef HONE_HLO_EQUIVALENCE_MERGED_MODULE_H_
#define HONE_HLO_EQUIVALENCE_MERGED_MODULE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

#include "hlo/ir/module.h"

namespace hone::hlo {

// One of two modules that are compared: the original or the rewritten one.
enum class Partner : uint8_t { kA, kB };

// Two modules of one signature as one module that computes both: what b
// computes by the same instruction on the same operands as a occurs once; equal
// instructions of one module stay apart. Its root is the tuple of a's and
// b's outputs in turns: a0, b0, a1, b1, … An output is an element of the
// result, or the result if that is no tuple.
class MergedModule {
 public:
  MergedModule(const Module& a, const Module& b);

  const Module& module() const { return module_; }
  int64_t output_count() const { return output_count_; }
  // Returns true if the result is a tuple.
  bool has_tuple() const { return has_tuple_; }
  // Returns true if a computes the instruction of the entry.
  bool IsOfA(InstructionId id) const { return id < end_of_a_; }
  // Returns true if both modules compute the output by the same instructions.
  bool IsShared(int64_t output) const;

  // The module with some of the outputs only, and with other values of a in
  // place of some of b: pairs of the replaced and the replacing instruction,
  // which is evaluated first.
  Module Slice(absl::Span<const int64_t> outputs,
               absl::Span<const std::pair<InstructionId, InstructionId>>
                   replacements) const;
  // The module with one partner's form of some of the outputs only: a0, a1, …
  Module SliceOf(Partner partner, absl::Span<const int64_t> outputs) const;

 private:
  Module module_;
  int64_t output_count_ = 0;
  bool has_tuple_ = false;
  InstructionId end_of_a_ = 0;
};

// Errors: InvalidArgument unless the modules have parameters and a result of
// the same shapes.
absl::Status CheckSignatures(const Module& a, const Module& b);

}  // namespace hone::hlo

#endif  // HONE_HLO_EQUIVALENCE_MERGED_MODULE_H_
