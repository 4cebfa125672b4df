#ifndef HONE_LOOPS_TEXT_CONSTANT_H_
#define HONE_LOOPS_TEXT_CONSTANT_H_

#include <string>

#include "absl/strings/string_view.h"

#include "hlo/ir/literal.h"
#include "loops/ir/expression.h"
#include "loops/text/lexer.h"

namespace hone::loops {

// Prints a constant of an expression: `1.5`, `-inf`, `1e-05` and `nan(0x1)` are
// f32, `true` and `false` pred, `s32(-3)` has its type in front. Exact
// (hlo/text/literal.h).
void AppendConstant(const Expression& constant, std::string& out);
// Returns true if the next token is a constant without a type in front.
bool IsConstantNext(LineLexer& lexer);
bool ReadConstant(LineLexer& lexer, ExpressionPtr& constant);
// Reads the number in parentheses after a type.
bool ReadConstantOfType(LineLexer& lexer, hlo::ElementType type,
                        ExpressionPtr& constant);

// Reads the values of a buffer of `shape`: `{ {1, 2}, {3, 4} }`, over any
// number of lines.
bool ReadValues(LineLexer& lexer, const hlo::ShapePtr& shape,
                hlo::TextError* error, hlo::LiteralPtr& literal);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TEXT_CONSTANT_H_
