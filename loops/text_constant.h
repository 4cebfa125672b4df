#ifndef HONE_LOOPS_TEXT_CONSTANT_H_
#define HONE_LOOPS_TEXT_CONSTANT_H_

#include <string>

#include "absl/strings/string_view.h"

#include "hlo/ir/literal.h"
#include "loops/expression.h"
#include "loops/text_lexer.h"

namespace hone::loops {

// Numbers in expressions: `1.5`, `-inf`, `1e-05` and `nan(0x1)` are f32, `true`
// and `false` pred, `s32(-3)` of the type in front. Exact, as what follows is
// hlo/text/literal.h.
void AppendConstant(const Expression& constant, std::string& out);
// Whether such a number is next, but for one with its type in front.
bool IsConstantNext(LineLexer& lexer);
bool ReadConstant(LineLexer& lexer, ExpressionPtr& constant);
// What is in the parentheses behind a type.
bool ReadConstantOfType(LineLexer& lexer, hlo::ElementType type,
                        ExpressionPtr& constant);

// The values of a buffer of that shape, `{ {1, 2}, {3, 4} }` over any number of
// lines.
bool ReadValues(LineLexer& lexer, const hlo::ShapePtr& shape,
                hlo::TextError* error, hlo::LiteralPtr& literal);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TEXT_CONSTANT_H_
