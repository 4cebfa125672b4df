#include "hlo/ir/shape.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hone::hlo {
namespace {

void AppendShape(const Shape& shape, bool layouts, std::string& out) {
  if (shape.IsTuple()) {
    out += '(';
    for (size_t i = 0; i < shape.tuple_elements().size(); ++i) {
      if (i > 0) {
        out += ", ";
        if (i % 5 == 0) absl::StrAppend(&out, "/*index=", i, "*/");
      }
      AppendShape(*shape.tuple_elements()[i], layouts, out);
    }
    out += ')';
    return;
  }
  if (shape.element_type() == ElementType::kBuffer) {
    out += "b(";
    for (const ShapePtr& element : shape.tuple_elements()) {
      AppendShape(*element, layouts, out);
    }
    out += ')';
    return;
  }
  absl::StrAppend(&out, ElementTypeName(shape.element_type()), "[");
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (i > 0) out += ',';
    if (shape.dimension(i) == Shape::kUnbounded) {
      out += '?';
      continue;
    }
    if (shape.is_dynamic_dimension(i)) out += "<=";
    absl::StrAppend(&out, shape.dimension(i));
  }
  out += ']';
  if (!shape.IsArray()) return;
  const Layout* layout = shape.layout().get();
  if (layout == nullptr && (!layouts || shape.rank() == 0)) return;
  out += '{';
  // A layout that ValidateShape has yet to reject may have another length.
  const int64_t length =
      layout == nullptr ? shape.rank()
                        : static_cast<int64_t>(layout->minor_to_major.size());
  for (int64_t i = 0; i < length; ++i) {
    if (i > 0) out += ',';
    absl::StrAppend(&out, layout == nullptr
                              ? shape.rank() - 1 - i
                              : layout->minor_to_major[static_cast<size_t>(i)]);
  }
  if (layout != nullptr && !layout->suffix.empty()) {
    absl::StrAppend(&out, ":", layout->suffix);
  }
  out += '}';
}

// Far above what programs have; dimension lists are searched linearly.
constexpr int64_t kMaxRank = 256;
constexpr int64_t kMaxBytes = int64_t{1} << 62;

absl::Status ValidateLayout(const Shape& shape) {
  const DimensionVector& order = shape.layout()->minor_to_major;
  absl::InlinedVector<bool, 8> seen(static_cast<size_t>(shape.rank()), false);
  bool is_permutation = order.size() == seen.size();
  for (size_t i = 0; is_permutation && i < order.size(); ++i) {
    is_permutation = order[i] >= 0 && order[i] < shape.rank() &&
                     !seen[static_cast<size_t>(order[i])];
    if (is_permutation) seen[static_cast<size_t>(order[i])] = true;
  }
  if (is_permutation) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "layout {", absl::StrJoin(order, ","), "} of ", shape.ToString(),
      ", expected a permutation of its ", shape.rank(), " dimensions"));
}

// Adds the bytes of `shape`, which is `depth` tuples down, to `total`.
absl::Status ValidateInto(const Shape& shape, int depth, int64_t& total) {
  if (depth > kMaxTupleLevels) {
    return absl::InvalidArgumentError(
        absl::StrCat("tuple nested too deeply, expected at most ",
                     kMaxTupleLevels, " levels"));
  }
  for (const ShapePtr& element : shape.tuple_elements()) {
    if (element == nullptr) {
      return absl::InvalidArgumentError("tuple element without a shape");
    }
    if (absl::Status status = ValidateInto(*element, depth + 1, total);
        !status.ok()) {
      return status;
    }
  }
  if (!shape.IsArray()) {
    if (shape.element_type() == ElementType::kInvalid) {
      return absl::InvalidArgumentError(
          "shape without an element type, expected one");
    }
    return absl::OkStatus();
  }
  if (shape.rank() > kMaxRank) {
    return absl::InvalidArgumentError(absl::StrCat(
        "array of ", shape.rank(), " dimensions, expected at most ", kMaxRank));
  }
  if (shape.layout() != nullptr) {
    if (absl::Status status = ValidateLayout(shape); !status.ok()) {
      return status;
    }
  }
  int64_t bytes = ByteWidth(shape.element_type());
  bool empty = false;
  for (int64_t d : shape.dimensions()) {
    if (d == Shape::kUnbounded) continue;
    if (d < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("dimension ", d, ", expected a size of at least 0"));
    }
    // Even where another dimension is 0 the product of the rest must be
    // representable: code divides one by the other.
    empty = empty || d == 0;
    if (d > 0 &&
        (__builtin_mul_overflow(bytes, d, &bytes) || bytes > kMaxBytes)) {
      return absl::InvalidArgumentError(
          absl::StrCat("shape ", shape.ToString(),
                       " is too large, expected at most 2^62 bytes"));
    }
  }
  if (!empty &&
      (__builtin_add_overflow(total, bytes, &total) || total > kMaxBytes)) {
    return absl::InvalidArgumentError(
        "tuple is too large, expected at most 2^62 bytes");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ValidateShape(const Shape& shape) {
  int64_t total = 0;
  return ValidateInto(shape, 0, total);
}

ShapePtr Shape::Array(ElementType type, absl::Span<const int64_t> dimensions) {
  return std::make_shared<const Shape>(type, dimensions);
}

ShapePtr Shape::Tuple(std::vector<ShapePtr> elements) {
  auto shape = std::make_shared<Shape>();
  shape->element_type_ = ElementType::kTuple;
  shape->elements_ = std::move(elements);
  return shape;
}

ShapePtr Shape::Token() {
  return std::make_shared<const Shape>(ElementType::kToken,
                                       absl::Span<const int64_t>());
}

int64_t Shape::num_elements() const {
  if (!IsArray()) return 0;
  int64_t product = 1;
  for (int64_t d : dimensions_) {
    if (d == kUnbounded) return 0;
    product *= d;
  }
  return product;
}

int64_t Shape::byte_size() const {
  if (IsArray()) return num_elements() * ByteWidth(element_type_);
  int64_t sum = 0;
  for (const ShapePtr& element : elements_) sum += element->byte_size();
  return sum;
}

void Shape::set_dynamic_dimension(int64_t i) {
  if (dynamic_.empty()) dynamic_.resize(dimensions_.size(), false);
  dynamic_[static_cast<size_t>(i)] = true;
}

void Shape::set_layout(Layout layout) {
  bool is_default = layout.suffix.empty();
  for (size_t i = 0; is_default && i < layout.minor_to_major.size(); ++i) {
    is_default = layout.minor_to_major[i] ==
                 static_cast<int64_t>(layout.minor_to_major.size() - 1 - i);
  }
  layout_ =
      is_default ? nullptr : std::make_shared<const Layout>(std::move(layout));
}

std::string Shape::ToString(bool layouts) const {
  std::string out;
  AppendShape(*this, layouts, out);
  return out;
}

bool Shape::Equal(const Shape& a, const Shape& b, bool ignore_layout) {
  if (&a == &b) return true;
  if (a.element_type_ != b.element_type_ || a.dimensions_ != b.dimensions_ ||
      a.dynamic_ != b.dynamic_ || a.elements_.size() != b.elements_.size()) {
    return false;
  }
  if (!ignore_layout && a.layout_ != b.layout_) {
    if (a.layout_ == nullptr || b.layout_ == nullptr ||
        *a.layout_ != *b.layout_) {
      return false;
    }
  }
  for (size_t i = 0; i < a.elements_.size(); ++i) {
    if (!Equal(*a.elements_[i], *b.elements_[i], ignore_layout)) return false;
  }
  return true;
}

ShapePtr WithElementType(const Shape& shape, ElementType type) {
  auto result = std::make_shared<Shape>(
      type, absl::Span<const int64_t>(shape.dimensions()));
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (shape.is_dynamic_dimension(i)) result->set_dynamic_dimension(i);
  }
  if (shape.layout() != nullptr) result->set_layout(*shape.layout());
  return result;
}

}  // namespace hone::hlo
