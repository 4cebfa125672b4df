#ifndef HONE_HLO_TEXT_LITERAL_H_
#define HONE_HLO_TEXT_LITERAL_H_

#include <string>

#include "hlo/ir/literal.h"
#include "hlo/text/lexer.h"
#include "hlo/text/shape.h"

namespace hone::hlo {

// Reads the value of a constant of `shape`: `42`, `{ {1, 2}, {3, 4} }`,
// `(1, 2)` for a complex number or a tuple, `{...}` for one that was left out.
// Allocates no more than the text could fill.
bool ReadLiteral(TextLexer& lexer, ShapeReader& shapes, const ShapePtr& shape,
                 int max_depth, Literal& literal);

// Appends the value in the form that ReadLiteral reads, exact to the bit (NaN
// payloads included); `{...}` for elided arrays and those without elements.
void AppendLiteral(const Literal& literal, std::string& out);

}  // namespace hone::hlo

#endif  // HONE_HLO_TEXT_LITERAL_H_
