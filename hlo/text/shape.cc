#include "hlo/text/shape.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace hone::hlo {
namespace {

// The most bytes of a shape.
constexpr int64_t kMaxSize = int64_t{1} << 62;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Returns true if a `{` at `text` opens a layout and not a computation's body,
// which may follow a result shape.
bool OpensLayout(absl::string_view text) {
  if (text.empty() || text[0] != '{') return false;
  size_t i = 1;
  while (i < text.size() && text[i] == ' ') ++i;
  return i < text.size() &&
         (IsDigit(text[i]) || text[i] == ':' || text[i] == '}');
}

// The end of the array shape at the start of `text` as it is usually written:
// without blanks or nested braces in the layout. 0 when it is not.
size_t PlainArrayEnd(absl::string_view text) {
  const size_t close = text.find(']');
  if (close == absl::string_view::npos) return 0;
  if (!OpensLayout(text.substr(close + 1))) return close + 1;
  const size_t end = text.find('}', close);
  return end == absl::string_view::npos ? 0 : end + 1;
}

}  // namespace

bool ShapeReader::IsNext(TextLexer& lexer) {
  if (lexer.Peek() == '(') return true;
  const char* start = lexer.Position();
  const absl::string_view word = lexer.Word();
  const char next = lexer.PeekRaw();
  lexer.set_position(start);
  return !word.empty() && (next == '[' || (next == '(' && word == "b"));
}

bool ShapeReader::Read(TextLexer& lexer, ShapePtr& shape) {
  Sized result;
  if (!ReadNested(lexer, 0, result)) return false;
  shape = std::move(result.shape);
  return true;
}

bool ShapeReader::ReadNested(TextLexer& lexer, int depth, Sized& result) {
  const char* start = lexer.Position();
  if (depth > max_depth_) {
    return lexer.Fail(start, absl::StrCat("the shape is nested too deeply, "
                                          "expected at most ",
                                          max_depth_, " levels"));
  }
  const bool is_tuple = lexer.Take('(');
  if (is_tuple || lexer.Take("b(")) {
    auto shape = std::make_shared<Shape>(
        is_tuple ? ElementType::kTuple : ElementType::kBuffer,
        absl::Span<const int64_t>());
    if (!ReadElements(lexer, depth, *shape, result)) return false;
    result.shape = std::move(shape);
    return true;
  }
  const absl::string_view rest(start, static_cast<size_t>(lexer.remaining()));
  if (const size_t end = PlainArrayEnd(rest); end != 0) {
    const auto it = arrays_.find(rest.substr(0, end));
    if (it != arrays_.end()) {
      lexer.set_position(start + end);
      result = it->second;
      return true;
    }
  }
  if (!ReadArray(lexer, result)) return false;
  arrays_.emplace(
      absl::string_view(start, static_cast<size_t>(lexer.token_end() - start)),
      result);
  return true;
}

bool ShapeReader::ReadElements(TextLexer& lexer, int depth, Shape& shape,
                               Sized& result) {
  if (lexer.Take(')')) return true;
  do {
    const char* at = lexer.Position();
    Sized element;
    if (!ReadNested(lexer, depth + 1, element)) return false;
    if (element.bytes > kMaxSize - result.bytes) {
      return lexer.Fail(at,
                        "the shape is too large, expected at most 2^62 "
                        "bytes");
    }
    result.bytes += element.bytes;
    shape.add_tuple_element(std::move(element.shape));
  } while (lexer.Take(','));
  return lexer.Expect(')');
}

bool ShapeReader::ReadArray(TextLexer& lexer, Sized& result) {
  const char* start = lexer.Position();
  const absl::string_view name = lexer.Word();
  const std::optional<ElementType> type = ParseElementType(name);
  if (!type.has_value() || *type == ElementType::kTuple) {
    lexer.set_position(start);
    return lexer.FailExpected("a shape");
  }
  std::shared_ptr<Shape> shape;
  if (!ReadDimensions(lexer, *type, shape)) return false;
  const absl::string_view rest(lexer.token_end(),
                               static_cast<size_t>(lexer.remaining()));
  if (OpensLayout(rest) && !ReadLayout(lexer, *shape)) return false;
  if (absl::Status status = ValidateShape(*shape); !status.ok()) {
    return lexer.Fail(start, std::string(status.message()));
  }
  result.bytes = shape->byte_size();
  result.shape = std::move(shape);
  return true;
}

bool ShapeReader::ReadDimensions(TextLexer& lexer, ElementType type,
                                 std::shared_ptr<Shape>& shape) {
  const char* start = lexer.Position();
  if (!lexer.Expect('[')) return false;
  DimensionVector dimensions;
  std::vector<int64_t> dynamic;
  if (!lexer.Take(']')) {
    do {
      int64_t size = Shape::kUnbounded;
      const bool unbounded = lexer.Take('?');
      const bool bounded = !unbounded && lexer.Take("<=");
      if (unbounded || bounded) {
        dynamic.push_back(static_cast<int64_t>(dimensions.size()));
      }
      const char* at = lexer.Position();
      if (!unbounded && !lexer.Integer(size)) return false;
      if (!unbounded && size < 0) {
        return lexer.Fail(at, absl::StrCat("dimension ", size,
                                           ", expected a size of 0 or more"));
      }
      dimensions.push_back(size);
    } while (lexer.Take(','));
    if (!lexer.Expect(']')) return false;
  }
  if (KindOf(type) == ElementKind::kNone && !dimensions.empty()) {
    return lexer.Fail(start, absl::StrCat(ElementTypeName(type),
                                          " has dimensions, expected none"));
  }
  shape = std::make_shared<Shape>(type, absl::Span<const int64_t>(dimensions));
  for (int64_t i : dynamic) shape->set_dynamic_dimension(i);
  return true;
}

bool ShapeReader::ReadLayout(TextLexer& lexer, Shape& shape) {
  const char* start = lexer.Position();
  absl::string_view text;
  if (!lexer.Bracketed(text)) return false;
  const char* end = lexer.token_end();
  lexer.set_position(start);
  Layout layout;
  lexer.Take('{');
  while (lexer.Peek() != '}' && lexer.Peek() != ':') {
    if (!layout.minor_to_major.empty() && !lexer.Expect(',')) return false;
    int64_t dimension = 0;
    if (!lexer.Integer(dimension)) return false;
    layout.minor_to_major.push_back(dimension);
  }
  if (lexer.Take(':')) {
    const char* suffix = lexer.Position();
    layout.suffix.assign(suffix, end - 1);
    lexer.set_position(end - 1);
  }
  if (!lexer.Expect('}')) return false;
  // `{}` and `{:T(…)}` leave the order to the default.
  if (layout.minor_to_major.empty()) {
    for (int64_t i = shape.rank(); i-- > 0;) layout.minor_to_major.push_back(i);
  } else if (static_cast<int64_t>(layout.minor_to_major.size()) !=
             shape.rank()) {
    return lexer.FailExpected("a layout of as many dimensions as the array");
  }
  shape.set_layout(std::move(layout));
  return true;
}

}  // namespace hone::hlo
