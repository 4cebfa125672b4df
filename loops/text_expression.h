#ifndef HONE_LOOPS_TEXT_EXPRESSION_H_
#define HONE_LOOPS_TEXT_EXPRESSION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

#include "loops/program.h"
#include "loops/text_lexer.h"

namespace hone::loops {

// What the names in a text stand for at some place.
struct Names {
  struct Variable {
    absl::string_view name;
    VarId var = 0;
  };

  absl::flat_hash_map<std::string, BufferId> buffers;
  // Of the scopes around the place, outermost first.
  std::vector<Variable> variables;
};

// The name in text of a comparison: "<", or "total_lt" by the total order.
absl::string_view ComparisonText(hlo::ComparisonDirection direction,
                                 bool total_order);

// Reads what stands in a line. Every function reports an error and returns
// false when the text holds something else.
class ExpressionReader {
 public:
  // Keeps references to all of them.
  ExpressionReader(LineLexer& lexer, const Program& program, const Names& names)
      : lexer_(lexer), program_(program), names_(names) {}

  bool ReadAffine(Affine& affine) { return ReadSum(affine, nullptr); }
  // `x[i0,i1]`, or `x@[i0]`
  bool ReadAccess(Access& access);
  bool ReadExpression(ExpressionPtr& e);

 private:
  // A sum that is affine in variables; with `offset`, one term may also be an
  // expression in braces.
  bool ReadSum(Affine& sum, ExpressionPtr* offset);
  bool ReadProduct(Affine& product);
  bool ReadAffineFactor(Affine& factor);
  bool IsInRange(const char* at, const Affine& affine);

  bool ReadAdditive(ExpressionPtr& e);
  bool ReadMultiplicative(ExpressionPtr& e);
  bool ReadPrimary(ExpressionPtr& e);
  // What is behind `NAME(`, the closing parenthesis included.
  bool ReadCall(const char* start, absl::string_view name, ExpressionPtr& e);
  bool ReadWhere(ExpressionPtr& e);
  bool ReadRange(Range& range);
  bool ReadType(hlo::ElementType& type);
  // `count` expressions with commas between them.
  bool ReadOperands(int count, std::vector<ExpressionPtr>& operands);
  bool MakeApply(const char* at, hlo::Opcode opcode,
                 std::vector<ExpressionPtr> operands, ExpressionPtr& e);
  bool MakeCompare(const char* at, hlo::ComparisonDirection direction,
                   bool total_order, std::vector<ExpressionPtr> operands,
                   ExpressionPtr& e);
  // Where brackets nest too deeply for the reader's stack.
  bool EnterBracket();

  LineLexer& lexer_;
  const Program& program_;
  const Names& names_;
  int depth_ = 0;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_TEXT_EXPRESSION_H_
