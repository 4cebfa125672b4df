#ifndef HONE_LOOPS_TEXT_EXPRESSION_H_
#define HONE_LOOPS_TEXT_EXPRESSION_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

#include "loops/ir/program.h"
#include "loops/text/lexer.h"

namespace hone::loops {

// The names that are visible at some place of a text.
struct Names {
  struct Variable {
    absl::string_view name;
    VarId var = 0;
  };

  absl::flat_hash_map<std::string, BufferId> buffers;
  // The variables of the loops around the place, outermost first.
  std::vector<Variable> variables;
};

// The text of a comparison: "<", or "total_lt" for the total order.
absl::string_view ComparisonText(hlo::ComparisonDirection direction,
                                 bool total_order);

// Parses the expressions and accesses of a line. Every function reports an
// error and returns false if the text does not match.
class ExpressionReader {
 public:
  // Keeps references to all arguments.
  ExpressionReader(LineLexer& lexer, const Program& program, const Names& names)
      : lexer_(lexer), program_(program), names_(names) {}

  bool ReadAffine(Affine& affine) { return ReadSum(affine, nullptr); }
  // `x[i0,i1]`, or `x@[i0]`
  bool ReadAccess(Access& access);
  bool ReadExpression(ExpressionPtr& e);

 private:
  // Reads a sum that is affine in variables. If `offset` is not null, one term
  // may be an expression in braces.
  bool ReadSum(Affine& sum, ExpressionPtr* offset);
  bool ReadProduct(Affine& product);
  bool ReadAffineFactor(Affine& factor);
  bool IsInRange(const char* at, const Affine& affine);

  bool ReadAdditive(ExpressionPtr& e);
  bool ReadMultiplicative(ExpressionPtr& e);
  bool ReadPrimary(ExpressionPtr& e);
  // Reads the rest of a call after `NAME(`, with the closing parenthesis.
  bool ReadCall(const char* start, absl::string_view name, ExpressionPtr& e);
  bool ReadWhere(ExpressionPtr& e);
  bool ReadRange(Range& range);
  bool ReadType(hlo::ElementType& type);
  // Reads `count` expressions separated by commas.
  bool ReadOperands(int count, std::vector<ExpressionPtr>& operands);
  bool MakeApply(const char* at, hlo::Opcode opcode,
                 std::vector<ExpressionPtr> operands, ExpressionPtr& e);
  bool MakeCompare(const char* at, hlo::ComparisonDirection direction,
                   bool total_order, std::vector<ExpressionPtr> operands,
                   ExpressionPtr& e);
  // Reports an error if brackets nest too deeply for the parser's stack.
  bool EnterBracket();

  LineLexer& lexer_;
  const Program& program_;
  const Names& names_;
  int depth_ = 0;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_TEXT_EXPRESSION_H_
