#ifndef HONE_HLO_IR_SHAPE_H_
#define HONE_HLO_IR_SHAPE_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"

#include "hlo/ir/element_type.h"

namespace hone::hlo {

class Shape;
// Shapes are immutable and shared: the same few occur thousands of times.
using ShapePtr = std::shared_ptr<const Shape>;
using DimensionVector = absl::InlinedVector<int64_t, 4>;

// The maximum nesting depth of tuples and their literals, which are read,
// walked and destroyed recursively.
inline constexpr int kMaxTupleLevels = 500;

// The memory layout of an array, where it differs from row-major.
struct Layout {
  DimensionVector minor_to_major;
  // The text after the colon in HLO text (`T(8,128)(2,1)S(1)`), verbatim.
  std::string suffix;

  friend bool operator==(const Layout&, const Layout&) = default;
};

// An array (element type and dimensions), a tuple of shapes, or a token or
// opaque value.
class Shape {
 public:
  // The bound of a dimension written `?`.
  static constexpr int64_t kUnbounded = INT64_MIN;

  Shape() = default;
  // An array with row-major layout.
  Shape(ElementType type, absl::Span<const int64_t> dimensions)
      : element_type_(type),
        dimensions_(dimensions.begin(), dimensions.end()) {}
  Shape(ElementType type, std::initializer_list<int64_t> dimensions)
      : element_type_(type), dimensions_(dimensions) {}

  static ShapePtr Array(ElementType type, absl::Span<const int64_t> dimensions);
  static ShapePtr Scalar(ElementType type) { return Array(type, {}); }
  static ShapePtr Tuple(std::vector<ShapePtr> elements);
  static ShapePtr Token();

  ElementType element_type() const { return element_type_; }
  bool IsTuple() const { return element_type_ == ElementType::kTuple; }
  // Returns true if the shape has elements: not a tuple, token, opaque or
  // buffer.
  bool IsArray() const { return KindOf(element_type_) != ElementKind::kNone; }
  bool IsScalar() const { return IsArray() && dimensions_.empty(); }

  int64_t rank() const { return static_cast<int64_t>(dimensions_.size()); }
  const DimensionVector& dimensions() const { return dimensions_; }
  int64_t dimension(int64_t i) const {
    return dimensions_[static_cast<size_t>(i)];
  }
  // Returns true if dimension i is dynamic (`<=8` or `?`): its size is a bound.
  bool is_dynamic_dimension(int64_t i) const {
    return !dynamic_.empty() && dynamic_[static_cast<size_t>(i)];
  }
  bool is_dynamic() const { return !dynamic_.empty(); }
  // Null for the row-major default.
  const std::shared_ptr<const Layout>& layout() const { return layout_; }

  const std::vector<ShapePtr>& tuple_elements() const { return elements_; }
  const ShapePtr& tuple_element(int64_t i) const {
    return elements_[static_cast<size_t>(i)];
  }

  // Number of elements of an array (1 for a scalar); 0 for other shapes and
  // where a dimension is unbounded.
  // Readers reject shapes whose product overflows (ValidateShape).
  int64_t num_elements() const;
  // Bytes of the dense data, tuples summed; sub-byte types count one byte.
  int64_t byte_size() const;

  // Builders, for readers: they fill a shape before it is shared.
  void set_dynamic_dimension(int64_t i);
  // A default layout (descending, no suffix) is stored as null.
  void set_layout(Layout layout);
  void clear_layout() { layout_ = nullptr; }
  void add_tuple_element(ShapePtr element) {
    elements_.push_back(std::move(element));
  }

  // HLO text; with `layouts`, the layout of every array is printed, default
  // ones too.
  std::string ToString(bool layouts = false) const;

  // Same type, dimensions, dynamic dimensions and, unless ignored, layout.
  static bool Equal(const Shape& a, const Shape& b, bool ignore_layout = true);

 private:
  ElementType element_type_ = ElementType::kInvalid;
  DimensionVector dimensions_;
  absl::InlinedVector<bool, 4> dynamic_;
  std::shared_ptr<const Layout> layout_;
  std::vector<ShapePtr> elements_;
};

// Returns an error unless the shape is well formed: at most 256 dimensions,
// none negative (but for kUnbounded), at most kMaxTupleLevels, bytes summed
// over a tuple at most 2^62, the layout a permutation of the dimensions.
// Errors: InvalidArgument, saying what was found and expected.
absl::Status ValidateShape(const Shape& shape);

// The same array shape with another element type, layout kept.
ShapePtr WithElementType(const Shape& shape, ElementType type);

}  // namespace hone::hlo

#endif  // HONE_HLO_IR_SHAPE_H_
