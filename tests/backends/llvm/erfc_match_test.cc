#include "backends/llvm/erfc_match.h"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "hlo/text/parser.h"
#include "loops/ir/rewrite.h"
#include "loops/lowering/lowering.h"
#include "loops/schedules/default_schedule.h"
#include "loops/transforms/machine.h"
#include "loops/transforms/script.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

using loops::Expression;
using loops::ExpressionPtr;

// Returns the arguments of erfc in the program.
std::vector<ExpressionPtr> Arguments(const loops::Program& program) {
  std::vector<ExpressionPtr> arguments;
  loops::VisitStatements(
      program, {}, [&](const loops::Path&, const loops::Statement& statement) {
        loops::MapExpressions(statement.value, [&](const ExpressionPtr& e) {
          if (ExpressionPtr x = ArgumentOfErfc(*e)) arguments.push_back(x);
          return e;
        });
      });
  return arguments;
}

TEST(ErfcMatch, FindsWhatLoweringWrites) {
  std::ifstream file(HONE_SOURCE_DIR
                     "/tests/testdata/kernels/gelu_erf_7x19.hlo");
  std::stringstream text;
  text << file.rdbuf();
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module module,
                            hlo::ParseHloText(text.str()));
  HONE_ASSERT_OK_AND_ASSIGN(const loops::Program program,
                            loops::LowerToProgram(module));
  const std::vector<ExpressionPtr> arguments = Arguments(program);
  ASSERT_EQ(arguments.size(), 1);
  EXPECT_EQ(arguments[0]->opcode(), hlo::Opcode::kMultiply);
  // Also after a schedule has changed all indices.
  HONE_ASSERT_OK_AND_ASSIGN(
      const loops::Program scheduled,
      loops::ApplyScript(program,
                         loops::DefaultSchedule(program, loops::Machine())));
  EXPECT_GE(Arguments(scheduled).size(), 1);
}

TEST(ErfcMatch, NeedsEveryConstant) {
  std::ifstream file(HONE_SOURCE_DIR
                     "/tests/testdata/kernels/gelu_erf_7x19.hlo");
  std::stringstream text;
  text << file.rdbuf();
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module module,
                            hlo::ParseHloText(text.str()));
  HONE_ASSERT_OK_AND_ASSIGN(loops::Program program,
                            loops::LowerToProgram(module));
  int constants = 0;
  loops::VisitStatements(
      program, {}, [&](const loops::Path&, const loops::Statement& statement) {
        loops::MapExpressions(statement.value, [&](const ExpressionPtr& erfc) {
          if (ArgumentOfErfc(*erfc) == nullptr) return erfc;
          // Changes one constant of a polynomial at a time.
          for (const double value : {0.0324988440F, 0.403791070F, 11.0F}) {
            const ExpressionPtr changed =
                loops::MapExpressions(erfc, [&](const ExpressionPtr& e) {
                  const bool is_it = e->kind() == Expression::Kind::kConstant &&
                                     e->number() == value;
                  return is_it ? Expression::Constant(e->type(), 2 * value) : e;
                });
            EXPECT_NE(changed, erfc);
            EXPECT_EQ(ArgumentOfErfc(*changed), nullptr) << value;
            ++constants;
          }
          return erfc;
        });
      });
  EXPECT_EQ(constants, 3);
}

}  // namespace
}  // namespace hone::backends
