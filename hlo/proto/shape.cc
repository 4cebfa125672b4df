#include "hlo/proto/shape.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/status_macros.h"
#include "hlo/proto/xla_data.pb.h"
#include "hlo/text/lexer.h"

namespace hone::hlo {
namespace {

// Layout::suffix is the text behind the colon, for example
// `T(8,128)(2,1)L(2)E(4)S(1)SC(0:1,2)M(8)`, in XLA's order.
std::string LayoutSuffix(const xla::LayoutProto& proto) {
  std::string suffix;
  if (proto.tiles_size() > 0) suffix += 'T';
  for (const xla::TileProto& tile : proto.tiles()) {
    // XLA's mark of a dimension that is combined with the next.
    constexpr int64_t kCombined = INT64_MIN;
    suffix += '(';
    for (int i = 0; i < tile.dimensions_size(); ++i) {
      if (i > 0) suffix += ',';
      if (tile.dimensions(i) == kCombined) {
        suffix += '*';
      } else {
        absl::StrAppend(&suffix, tile.dimensions(i));
      }
    }
    suffix += ')';
  }
  const auto append = [&suffix](absl::string_view name, int64_t value) {
    absl::StrAppend(&suffix, name, "(", value, ")");
  };
  if (proto.tail_padding_alignment_in_elements() > 1) {
    append("L", proto.tail_padding_alignment_in_elements());
  }
  if (proto.element_size_in_bits() != 0) {
    append("E", proto.element_size_in_bits());
  }
  if (proto.memory_space() != 0) append("S", proto.memory_space());
  if (proto.split_configs_size() > 0) suffix += "SC";
  for (const xla::SplitConfigProto& split : proto.split_configs()) {
    absl::StrAppend(&suffix, "(", split.dimension(), ":",
                    absl::StrJoin(split.split_indices(), ","), ")");
  }
  if (proto.dynamic_shape_metadata_prefix_bytes() != 0) {
    append("M", proto.dynamic_shape_metadata_prefix_bytes());
  }
  return suffix;
}

bool ReadTiles(TextLexer& lexer, xla::LayoutProto& proto) {
  while (lexer.Take('(')) {
    xla::TileProto& tile = *proto.add_tiles();
    do {
      int64_t size = INT64_MIN;
      if (!lexer.Take('*') && !lexer.Integer(size)) return false;
      tile.add_dimensions(size);
    } while (lexer.Take(','));
    if (!lexer.Expect(')')) return false;
  }
  return true;
}

bool ReadSplits(TextLexer& lexer, xla::LayoutProto& proto) {
  while (lexer.Take('(')) {
    xla::SplitConfigProto& split = *proto.add_split_configs();
    int64_t value = 0;
    if (!lexer.Integer(value) || !lexer.Expect(':')) return false;
    split.set_dimension(value);
    do {
      if (!lexer.Integer(value)) return false;
      split.add_split_indices(value);
    } while (lexer.Take(','));
    if (!lexer.Expect(')')) return false;
  }
  return true;
}

bool ReadLayoutSuffix(absl::string_view suffix, xla::LayoutProto& proto) {
  TextError error;
  TextLexer lexer(suffix, &error);
  while (!lexer.AtEnd()) {
    const absl::string_view name = lexer.Word();
    if (name == "T") {
      if (!ReadTiles(lexer, proto)) return false;
      continue;
    }
    if (name == "SC") {
      if (!ReadSplits(lexer, proto)) return false;
      continue;
    }
    int64_t value = 0;
    if (!lexer.Expect('(') || !lexer.Integer(value) || !lexer.Expect(')')) {
      return false;
    }
    if (name == "L") {
      proto.set_tail_padding_alignment_in_elements(value);
    } else if (name == "E") {
      proto.set_element_size_in_bits(value);
    } else if (name == "S") {
      proto.set_memory_space(value);
    } else if (name == "M") {
      proto.set_dynamic_shape_metadata_prefix_bytes(value);
    } else {
      return false;
    }
  }
  return true;
}

absl::Status ReadLayout(const xla::ShapeProto& proto, Shape& shape) {
  Layout layout;
  layout.minor_to_major.assign(proto.layout().minor_to_major().begin(),
                               proto.layout().minor_to_major().end());
  layout.suffix = LayoutSuffix(proto.layout());
  const size_t rank = static_cast<size_t>(shape.rank());
  // An array may have a layout that says nothing.
  if (layout.minor_to_major.empty()) {
    for (size_t i = rank; i-- > 0;) {
      layout.minor_to_major.push_back(static_cast<int64_t>(i));
    }
  }
  if (layout.minor_to_major.size() != rank) {
    return absl::InvalidArgumentError(
        absl::StrCat("layout of ", layout.minor_to_major.size(),
                     " dimensions, expected ", rank));
  }
  shape.set_layout(std::move(layout));
  return absl::OkStatus();
}

// Without the limits of ValidateShape.
absl::StatusOr<ShapePtr> ReadUnchecked(const xla::ShapeProto& proto) {
  const std::optional<ElementType> type =
      ElementTypeFromNumber(proto.element_type());
  if (!type.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("element type ", proto.element_type(),
                     ", expected the number of a primitive type"));
  }
  const bool is_array = KindOf(*type) != ElementKind::kNone;
  if ((!is_array && proto.dimensions_size() > 0) ||
      (is_array && proto.tuple_shapes_size() > 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "shape of type ", ElementTypeName(*type), " with ",
        proto.dimensions_size(), " dimensions and ", proto.tuple_shapes_size(),
        " parts, expected dimensions of arrays only and parts of others"));
  }
  const absl::Span<const int64_t> dimensions(
      proto.dimensions().data(), static_cast<size_t>(proto.dimensions_size()));
  auto shape = std::make_shared<Shape>(*type, dimensions);
  for (int i = 0; i < proto.dimensions_size(); ++i) {
    const bool unbounded = proto.dimensions(i) == Shape::kUnbounded;
    if (unbounded || (i < proto.is_dynamic_dimension_size() &&
                      proto.is_dynamic_dimension(i))) {
      shape->set_dynamic_dimension(i);
    }
  }
  if (is_array && proto.has_layout()) {
    HONE_RETURN_IF_ERROR(ReadLayout(proto, *shape));
  }
  // The parser has bounded the depth.
  for (const xla::ShapeProto& part : proto.tuple_shapes()) {
    HONE_ASSIGN_OR_RETURN(ShapePtr element, ReadUnchecked(part));
    shape->add_tuple_element(std::move(element));
  }
  return ShapePtr(std::move(shape));
}

}  // namespace

absl::StatusOr<ShapePtr> ReadShapeProto(const xla::ShapeProto& proto) {
  HONE_ASSIGN_OR_RETURN(ShapePtr shape, ReadUnchecked(proto));
  HONE_RETURN_IF_ERROR(ValidateShape(*shape));
  return shape;
}

absl::Status WriteShapeProto(const Shape& shape, xla::ShapeProto& proto) {
  proto.set_element_type(static_cast<int32_t>(shape.element_type()));
  for (const ShapePtr& element : shape.tuple_elements()) {
    HONE_RETURN_IF_ERROR(WriteShapeProto(*element, *proto.add_tuple_shapes()));
  }
  if (!shape.IsArray()) return absl::OkStatus();
  for (int64_t i = 0; i < shape.rank(); ++i) {
    proto.add_dimensions(shape.dimension(i));
    proto.add_is_dynamic_dimension(shape.is_dynamic_dimension(i));
  }
  xla::LayoutProto& layout = *proto.mutable_layout();
  layout.set_tail_padding_alignment_in_elements(1);
  if (shape.layout() == nullptr) {
    for (int64_t i = shape.rank(); i-- > 0;) layout.add_minor_to_major(i);
    return absl::OkStatus();
  }
  for (int64_t d : shape.layout()->minor_to_major) {
    layout.add_minor_to_major(d);
  }
  if (!ReadLayoutSuffix(shape.layout()->suffix, layout)) {
    return absl::InvalidArgumentError(
        absl::StrCat("layout suffix ", shape.layout()->suffix,
                     ", expected tiles T, and L, E, S, SC, M"));
  }
  return absl::OkStatus();
}

absl::StatusOr<ShapePtr> ProtoShapeReader::Read(const std::string& bytes) {
  if (const auto it = shapes_.find(bytes); it != shapes_.end()) {
    return it->second;
  }
  xla::ShapeProto proto;
  if (!proto.ParseFromString(bytes)) {
    return absl::InvalidArgumentError(
        "malformed shape, expected a ShapeProto nested less than 100 deep");
  }
  HONE_ASSIGN_OR_RETURN(ShapePtr shape, ReadShapeProto(proto));
  shapes_.emplace(bytes, shape);
  return shape;
}

absl::StatusOr<const std::string*> ProtoShapeWriter::Write(
    const ShapePtr& shape) {
  const auto [it, is_new] = shapes_.try_emplace(shape.get());
  if (is_new) {
    xla::ShapeProto proto;
    HONE_RETURN_IF_ERROR(WriteShapeProto(*shape, proto));
    it->second = proto.SerializeAsString();
  }
  return &it->second;
}

}  // namespace hone::hlo
