#ifndef HONE_BENCH_COST_MODEL_KERNEL_TEXT_H_
#define HONE_BENCH_COST_MODEL_KERNEL_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace hone::bench {

using Extents = std::vector<int64_t>;

// "32x16".
std::string JoinExtents(absl::Span<const int64_t> extents);

// Writes the HLO text of a kernel, an instruction at a time. The caller makes
// instructions that verify; nothing is inferred but what is said below.
class KernelText {
 public:
  // An array: the result of an instruction.
  struct Value {
    std::string name;
    Extents extents;
    std::string type;
  };

  // `type` is that of values if no other is given: "f32".
  explicit KernelText(std::string type) : type_(std::move(type)) {}

  Value Parameter(Extents extents) {
    return Parameter(std::move(extents), type_);
  }
  Value Parameter(Extents extents, const std::string& type);
  // A scalar constant; `literal` is HLO text.
  Value Constant(absl::string_view literal);
  // An instruction with a result of the given extents; `attributes` is HLO
  // text.
  Value Apply(absl::string_view opcode, Extents extents,
              absl::Span<const Value> operands,
              absl::string_view attributes = "");
  // An elementwise operation, with the shape and type of its first operand.
  Value Map(absl::string_view opcode, absl::Span<const Value> operands);
  // Broadcasts a value, whose dimension i becomes dimension along[i].
  Value Broadcast(const Value& value, Extents extents,
                  const Extents& along = {});
  // An array of equal elements.
  Value Fill(Extents extents, absl::string_view literal) {
    return Broadcast(Constant(literal), std::move(extents));
  }
  Value Convert(const Value& value, const std::string& type);
  // Reduces dimensions by "add", "multiply", "maximum" or "minimum".
  Value Reduce(absl::string_view combine, const Value& value,
               const Extents& over);
  // The same over a window; `window` is HLO text: "size=1x3 stride=1x2".
  Value ReduceWindow(absl::string_view combine, const Value& value,
                     Extents extents, absl::string_view window);
  // Broadcasts the result of a reduction over `over` back along these
  // dimensions.
  Value BroadcastBack(const Value& reduced, const Extents& extents,
                      const Extents& over);

  // Returns the module whose result is the last value.
  std::string Finish() const;
  // Returns the module whose result is a tuple.
  std::string Finish(absl::Span<const Value> results) const;

 private:
  // Returns the name of the computation of scalars that combines two.
  std::string Combiner(absl::string_view combine, const std::string& type);
  Value Add(Extents extents, const std::string& type,
            absl::string_view definition);

  const std::string type_;
  std::string regions_;
  std::vector<std::string> combiners_;
  std::string body_;
  // Where the last line of the body begins.
  size_t last_line_ = 0;
  int64_t values_ = 0;
  int64_t parameters_ = 0;
};

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_KERNEL_TEXT_H_
