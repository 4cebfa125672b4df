#ifndef HONE_LOOPS_IR_EXPRESSION_H_
#define HONE_LOOPS_IR_EXPRESSION_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"

#include "hlo/ir/attributes.h"
#include "hlo/ir/element_type.h"
#include "hlo/ir/opcode.h"
#include "loops/ir/affine.h"

namespace hone::loops {

class Expression;
// Expressions are immutable and shared.
using ExpressionPtr = std::shared_ptr<const Expression>;

// Index into Program::buffers().
using BufferId = int32_t;

// One index of an access: `affine`, plus the integer expression `offset` if the
// index depends on data (dynamic-slice, gather); `offset` is null otherwise.
// The sum must be in bounds: lowering clamps `offset` itself.
struct Index {
  Affine affine;
  ExpressionPtr offset;

  Index() = default;
  Index(Affine a) : affine(std::move(a)) {}  // NOLINT: an affine is an index
  Index(Affine a, ExpressionPtr o)
      : affine(std::move(a)), offset(std::move(o)) {}
};

// An element of a buffer, named by one index per dimension. A dense buffer of
// another rank than 1 may instead be accessed by a single index, the row-major
// number of the element (a "flat" access), so that reshapes cost nothing.
struct Access {
  BufferId buffer = 0;
  absl::InlinedVector<Index, 4> indices;
};

// The condition lo ≤ value < hi.
struct Range {
  Affine value;
  int64_t lo = 0;
  int64_t hi = 0;

  friend bool operator==(const Range&, const Range&) = default;
};

// A scalar that a statement computes.
class Expression {
 public:
  enum class Kind : uint8_t {
    kConstant,  // a number
    kLoad,      // an element of a buffer
    kIndex,     // an affine expression of iteration variables, as a number
    kApply,     // a scalar operation with the meaning of the HLO opcode
    kWhere,     // operand 0 if all ranges hold, else operand 1; the other
                // operand is not evaluated, so its loads may be out of bounds
  };

  // A constant. `value` is exact except for 64-bit integers beyond 2^53.
  static ExpressionPtr Constant(hlo::ElementType type, double value);
  static ExpressionPtr ConstantInt(hlo::ElementType type, int64_t value);
  static ExpressionPtr Load(hlo::ElementType type, Access access);
  static ExpressionPtr OfIndex(hlo::ElementType type, Affine value);
  // An elementwise operation with a result of `type`. kConvert and
  // kBitcastConvert convert from the type of their operand.
  static ExpressionPtr Apply(hlo::Opcode opcode, hlo::ElementType type,
                             std::vector<ExpressionPtr> operands);
  static ExpressionPtr Compare(hlo::ComparisonDirection direction,
                               bool total_order, ExpressionPtr a,
                               ExpressionPtr b);
  static ExpressionPtr Where(std::vector<Range> ranges, ExpressionPtr inside,
                             ExpressionPtr outside);

  Kind kind() const { return kind_; }
  hlo::ElementType type() const { return type_; }
  // kConstant: floats are stored as double, integers and pred as integer.
  double number() const { return number_; }
  int64_t integer() const { return integer_; }
  // kLoad
  const Access& access() const { return access_; }
  // kIndex
  const Affine& index() const { return index_; }
  // kApply
  hlo::Opcode opcode() const { return opcode_; }
  // kApply of kCompare
  hlo::ComparisonDirection direction() const { return direction_; }
  bool total_order() const { return total_order_; }
  // kWhere
  const std::vector<Range>& ranges() const { return ranges_; }
  // kApply and kWhere
  const std::vector<ExpressionPtr>& operands() const { return operands_; }

 private:
  Expression() = default;
  static std::shared_ptr<Expression> Make(Kind kind, hlo::ElementType type);

  Kind kind_ = Kind::kConstant;
  hlo::ElementType type_ = hlo::ElementType::kInvalid;
  hlo::Opcode opcode_ = hlo::Opcode::kUnknown;
  hlo::ComparisonDirection direction_ = hlo::ComparisonDirection::kEq;
  bool total_order_ = false;
  double number_ = 0;
  int64_t integer_ = 0;
  Access access_;
  Affine index_;
  std::vector<Range> ranges_;
  std::vector<ExpressionPtr> operands_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_IR_EXPRESSION_H_
