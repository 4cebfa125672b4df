#ifndef HONE_HLO_IR_LITERAL_H_
#define HONE_HLO_IR_LITERAL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"

#include "base/check.h"
#include "hlo/ir/shape.h"

namespace hone::hlo {

// The values of an array (dense, row-major whatever its layout) or of a tuple.
//
// Storage per element: pred one byte 0/1; f16 and bf16 as uint16_t bits; f8,
// f6, f4 and sub-byte integers one byte each; complex as (re, im).
// Copies share the data; MutableData() is for whoever has just created it.
class Literal {
 public:
  Literal() = default;
  // An array whose data is not initialized.
  explicit Literal(ShapePtr shape);
  // An array over `data`, which holds at least shape->byte_size() bytes.
  Literal(ShapePtr shape, std::shared_ptr<std::byte[]> data);

  static Literal Tuple(std::vector<Literal> elements);
  // An array in a text dump whose values were left out (`constant({...})`).
  // Each is distinct: nothing may be concluded from its contents.
  static Literal Elided(ShapePtr shape);
  // A scalar of any arithmetic type, `value` converted to it.
  static Literal Scalar(ElementType type, double value);
  static Literal ScalarInt(ElementType type, int64_t value);

  const Shape& shape() const { return *shape_; }
  const ShapePtr& shape_ptr() const { return shape_; }
  bool is_elided() const { return elided_; }
  int64_t num_elements() const { return shape_->num_elements(); }
  int64_t byte_size() const { return shape_->byte_size(); }

  const std::byte* data() const { return data_.get(); }
  std::byte* MutableData() { return data_.get(); }
  // Returns true if no other Literal shares the data, so that it may be
  // overwritten.
  bool has_unique_data() const { return data_.use_count() == 1; }

  // T must have the element's storage width.
  template <typename T>
  absl::Span<const T> values() const {
    HONE_CHECK(static_cast<int64_t>(sizeof(T)) ==
               ByteWidth(shape_->element_type()));
    return absl::Span<const T>(reinterpret_cast<const T*>(data_.get()),
                               static_cast<size_t>(num_elements()));
  }
  template <typename T>
  absl::Span<T> mutable_values() {
    HONE_CHECK(static_cast<int64_t>(sizeof(T)) ==
               ByteWidth(shape_->element_type()));
    return absl::Span<T>(reinterpret_cast<T*>(data_.get()),
                         static_cast<size_t>(num_elements()));
  }

  // Element `i` of a real array in row-major order as double or integer
  // (floats truncated).
  double AsDouble(int64_t i) const;
  int64_t AsInt(int64_t i) const;
  // Stores `value` converted to the element type.
  void SetDouble(int64_t i, double value);
  void SetInt(int64_t i, int64_t value);

  // The same data under another shape of the same byte size.
  Literal Reshaped(ShapePtr shape) const;

  const std::vector<Literal>& elements() const { return elements_; }

  // Same shape (layout ignored) and same bits; elided literals equal only
  // themselves (same data object).
  friend bool operator==(const Literal& a, const Literal& b);

 private:
  ShapePtr shape_;
  std::shared_ptr<std::byte[]> data_;
  std::vector<Literal> elements_;
  bool elided_ = false;
};

using LiteralPtr = std::shared_ptr<const Literal>;

// The arrays of a value in order, tuples taken apart.
std::vector<Literal> Leaves(const Literal& literal);

// Returns true if an array of the value is elided.
bool HasElidedValues(const Literal& literal);

}  // namespace hone::hlo

#endif  // HONE_HLO_IR_LITERAL_H_
