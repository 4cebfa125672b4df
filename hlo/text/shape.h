#ifndef HONE_HLO_TEXT_SHAPE_H_
#define HONE_HLO_TEXT_SHAPE_H_

#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

#include "hlo/ir/shape.h"
#include "hlo/text/lexer.h"

namespace hone::hlo {

// Reads shapes, each distinct text once: equal texts share one Shape.
// Rejects what ValidateShape rejects.
class ShapeReader {
 public:
  // Nests at most `max_depth` deep.
  explicit ShapeReader(int max_depth) : max_depth_(max_depth) {}

  // Returns true if a shape is next: `(`, `f32[` or `b(`.
  static bool IsNext(TextLexer& lexer);

  bool Read(TextLexer& lexer, ShapePtr& shape);

 private:
  // A shape and its byte_size().
  struct Sized {
    ShapePtr shape;
    int64_t bytes = 0;
  };

  bool ReadNested(TextLexer& lexer, int depth, Sized& result);
  bool ReadArray(TextLexer& lexer, Sized& result);
  bool ReadElements(TextLexer& lexer, int depth, Shape& shape, Sized& result);
  bool ReadDimensions(TextLexer& lexer, ElementType type,
                      std::shared_ptr<Shape>& shape);
  bool ReadLayout(TextLexer& lexer, Shape& shape);

  int max_depth_;
  // Keys are views of the text being parsed. Arrays only: a tuple's text costs
  // as much to hash as its elements cost to look up.
  absl::flat_hash_map<absl::string_view, Sized> arrays_;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_TEXT_SHAPE_H_
