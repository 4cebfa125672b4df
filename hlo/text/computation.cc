#include "hlo/text/computation.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

#include "hlo/text/literal.h"

namespace hone::hlo {

bool ComputationReader::Read() {
  const char* start = lexer_.Position();
  absl::string_view name;
  if (!lexer_.Name(name, "a computation")) return false;
  const bool is_entry =
      name == "ENTRY" && lexer_.Peek() != '{' && lexer_.Peek() != '(';
  if (is_entry) {
    if (module_.entry() != kNoComputation) {
      return lexer_.Fail(start, "a second ENTRY, expected one");
    }
    start = lexer_.Position();
    if (!lexer_.Name(name, "the name of the entry computation")) return false;
  }
  if (computations_.contains(name)) {
    return lexer_.Fail(start, absl::StrCat("a second computation ", name,
                                           ", expected unique names"));
  }
  if (lexer_.Peek() == '(' && !SkipSignature()) return false;
  if (!ReadBody(name, 0, last_)) return false;
  computations_.emplace(name, last_);
  if (is_entry) module_.set_entry(last_);
  return true;
}

bool ComputationReader::Finish() {
  if (module_.entry() == kNoComputation) module_.set_entry(last_);
  for (const ForwardCall& call : forward_calls_) {
    const auto it = computations_.find(call.name);
    if (it == computations_.end()) {
      return lexer_.Fail(
          call.name.data(),
          absl::StrCat("no computation is named ", call.name,
                       ", expected the name of one in this module"));
    }
    Instruction& instruction = module_.mutable_computation(call.caller)
                                   .mutable_instruction(call.instruction);
    ComputationIds called = instruction.called();
    called[call.called_index] = it->second;
    instruction.set_called(std::move(called));
  }
  return true;
}

bool ComputationReader::CheckDepth(int depth) {
  return depth <= limits_.max_depth ||
         lexer_.Fail(lexer_.Position(),
                     absl::StrCat("the text is nested too deeply, expected at "
                                  "most ",
                                  limits_.max_depth, " levels"));
}

// `(x: f32[2], y: s32[]) -> f32[2]`: the instructions say it again.
bool ComputationReader::SkipSignature() {
  ShapePtr unused;
  lexer_.Take('(');
  if (!lexer_.Take(')')) {
    do {
      absl::string_view name;
      if (!lexer_.Name(name, "the name of a parameter") ||
          !lexer_.Expect(':') || !shapes_.Read(lexer_, unused)) {
        return false;
      }
    } while (lexer_.Take(','));
    if (!lexer_.Expect(')')) return false;
  }
  return lexer_.Expect("->") && shapes_.Read(lexer_, unused);
}

// `{ instructions }, execution_thread="x"`; the latter not where the body
// stands in an attribute.
bool ComputationReader::ReadBody(absl::string_view name, int depth,
                                 ComputationId& id) {
  const char* start = lexer_.Position();
  if (!CheckDepth(depth) || !lexer_.Expect('{')) return false;
  Scope scope;
  scope.computation.set_name(std::string(name));
  do {
    if (!ReadInstruction(scope, depth)) return false;
  } while (!lexer_.Take('}'));
  if (depth == 0 && !ReadSuffix(scope.computation)) return false;
  if (!FinishScope(scope, start)) return false;
  id = module_.AddComputation(std::move(scope.computation));
  for (ForwardCall& call : scope.calls) {
    call.caller = id;
    forward_calls_.push_back(call);
  }
  return true;
}

bool ComputationReader::ReadSuffix(Computation& computation) {
  if (!lexer_.Take(',')) return true;
  const char* start = lexer_.Position();
  const char* end = start;
  do {
    if (lexer_.Word().empty()) {
      return lexer_.FailExpected("the name of an attribute");
    }
    absl::string_view value;
    if (!lexer_.Expect('=') || !lexer_.AttributeValue(value)) return false;
    end = lexer_.token_end();
  } while (lexer_.Take(','));
  computation.set_suffix(std::string(start, end));
  return true;
}

bool ComputationReader::FinishScope(Scope& scope, const char* start) {
  Computation& computation = scope.computation;
  if (computation.root() == kNoInstruction) {
    computation.set_root(computation.slot_count() - 1);
  }
  for (const Forward& operand : scope.operands) {
    const auto it = scope.ids.find(operand.name);
    if (it == scope.ids.end()) return FailUnknownInstruction(operand.name);
    computation.ResolveForwardReference(operand.user, operand.operand_index,
                                        it->second);
  }
  computation.FinishForwardReferences();
  for (const Forward& edge : scope.control) {
    const auto it = scope.ids.find(edge.name);
    if (it == scope.ids.end()) return FailUnknownInstruction(edge.name);
    computation.AddControlPredecessor(edge.user, it->second);
  }
  const std::vector<InstructionId>& parameters = computation.parameters();
  const auto missing =
      std::find(parameters.begin(), parameters.end(), kNoInstruction);
  if (missing == parameters.end()) return true;
  return lexer_.Fail(
      start,
      absl::StrCat("parameter ", missing - parameters.begin(),
                   " is missing, expected 0 to ", parameters.size() - 1));
}

// `ROOT name = shape opcode(operands), attributes`
bool ComputationReader::ReadInstruction(Scope& scope, int depth) {
  const char* start = lexer_.Position();
  Expression expression;
  expression.depth = depth;
  if (!lexer_.Name(expression.name, "an instruction")) return false;
  const bool is_root = expression.name == "ROOT" && lexer_.Peek() != '=';
  if (is_root) {
    if (scope.computation.root() != kNoInstruction) {
      return lexer_.Fail(start, "a second ROOT, expected one");
    }
    start = lexer_.Position();
    if (!lexer_.Name(expression.name, "the name of the root")) return false;
  }
  if (!lexer_.Expect('=')) return false;
  if (ShapeReader::IsNext(lexer_) && !shapes_.Read(lexer_, expression.shape)) {
    return false;
  }
  expression.opcode_at = lexer_.Position();
  expression.opcode = lexer_.Word();
  if (expression.opcode.empty()) return lexer_.FailExpected("an opcode");
  InstructionId id = kNoInstruction;
  const absl::string_view name = expression.name;
  if (!ReadExpression(scope, std::move(expression), id)) return false;
  if (!scope.ids.emplace(name, id).second) {
    return lexer_.Fail(start, absl::StrCat("a second instruction ", name,
                                           ", expected unique names"));
  }
  if (is_root) scope.computation.set_root(id);
  return true;
}

// Reads an instruction from the parenthesis behind the opcode on.
bool ComputationReader::ReadExpression(Scope& scope, Expression expression,
                                       InstructionId& id) {
  if (!CheckDepth(expression.depth)) return false;
  if (++instruction_count_ > limits_.max_instructions) {
    return lexer_.Fail(expression.opcode_at,
                       absl::StrCat("too many instructions, expected at most ",
                                    limits_.max_instructions));
  }
  const Opcode opcode =
      ParseOpcode(expression.opcode).value_or(Opcode::kUnknown);
  if (!lexer_.Expect('(')) return false;
  InstructionIds operands;
  std::vector<Forward> forward;
  int32_t index = 0;
  LiteralPtr literal;
  if (opcode == Opcode::kConstant) {
    if (!ReadConstant(expression, literal)) return false;
  } else if (opcode == Opcode::kParameter) {
    if (!ReadParameterNumber(scope, index)) return false;
  } else if (!ReadOperands(scope, expression.depth, operands, forward)) {
    return false;
  }
  if (!lexer_.Expect(')')) return false;
  const int arity = OpcodeArity(opcode);
  if (arity >= 0 && operands.size() != static_cast<size_t>(arity)) {
    return lexer_.Fail(expression.opcode_at,
                       absl::StrCat(expression.opcode, " has ", operands.size(),
                                    " operands, expected ", arity));
  }
  Instruction instruction(opcode, std::move(expression.shape), operands);
  if (opcode == Opcode::kUnknown) {
    instruction.set_unknown_opcode(
        std::make_shared<const std::string>(expression.opcode));
  }
  instruction.set_index(index);
  instruction.set_literal(std::move(literal));
  instruction.set_name(std::string(expression.name));
  // Whatever is nested in the operands is in the computation by now.
  id = scope.computation.slot_count();
  for (Forward& operand : forward) {
    operand.user = id;
    scope.operands.push_back(operand);
  }
  if (!ReadInstructionAttributes(scope, expression, id, instruction)) {
    return false;
  }
  if (instruction.shape_ptr() == nullptr &&
      !InferMissingShape(scope, expression.opcode_at, instruction)) {
    return false;
  }
  scope.computation.AddWithForwardReferences(std::move(instruction));
  return true;
}

bool ComputationReader::FailUnknownInstruction(absl::string_view name) {
  return lexer_.Fail(name.data(),
                     absl::StrCat("no instruction is named ", name,
                                  ", expected the name of one in the same "
                                  "computation"));
}

bool ComputationReader::FailMissingShape(const char* at) {
  return lexer_.Fail(
      at, "the shape is missing, expected it in front of the opcode");
}

bool ComputationReader::ReadConstant(const Expression& expression,
                                     LiteralPtr& literal) {
  if (expression.shape == nullptr) {
    return FailMissingShape(expression.opcode_at);
  }
  auto value = std::make_shared<Literal>();
  if (!ReadLiteral(lexer_, shapes_, expression.shape, limits_.max_depth,
                   *value)) {
    return false;
  }
  literal = std::move(value);
  return true;
}

bool ComputationReader::ReadParameterNumber(Scope& scope, int32_t& number) {
  const char* start = lexer_.Position();
  int64_t value = 0;
  if (!lexer_.Integer(value)) return false;
  // The parameters before it must stand in this computation too, at 16
  // characters or more each. So a number cannot make parameters() larger than
  // the text, however large it is.
  const int64_t missing = value - scope.parameters;
  const std::vector<InstructionId>& parameters = scope.computation.parameters();
  const size_t slot = static_cast<size_t>(value);
  if (value < 0 || missing > lexer_.remaining() / 16 ||
      (slot < parameters.size() && parameters[slot] != kNoInstruction)) {
    return lexer_.Fail(start, absl::StrCat("parameter number ", value,
                                           ", expected each of 0, 1, 2, and "
                                           "so on once"));
  }
  ++scope.parameters;
  number = static_cast<int32_t>(value);
  return true;
}

bool ComputationReader::ReadOperands(Scope& scope, int depth,
                                     InstructionIds& operands,
                                     std::vector<Forward>& forward) {
  if (lexer_.Peek() == ')') return true;
  do {
    if (!ReadOperand(scope, depth, operands, forward)) return false;
  } while (lexer_.Take(','));
  return true;
}

// `x`, `%x`, `f32[2] x` or `f32[2] negate(y)`
bool ComputationReader::ReadOperand(Scope& scope, int depth,
                                    InstructionIds& operands,
                                    std::vector<Forward>& forward) {
  const char* start = lexer_.Position();
  ShapePtr shape;
  absl::string_view name;
  bool has_shape = lexer_.Peek() == '(';
  if (!has_shape) {
    const bool percent = lexer_.Peek() == '%';
    if (!lexer_.Name(name, "an operand")) return false;
    const char next = lexer_.PeekRaw();
    has_shape = !percent && (next == '[' || (next == '(' && name == "b"));
  }
  if (has_shape) {
    lexer_.set_position(start);
    if (!shapes_.Read(lexer_, shape)) return false;
    start = lexer_.Position();
    if (!lexer_.Name(name, "an operand")) return false;
  }
  if (lexer_.PeekRaw() == '(') {
    Expression expression;
    expression.shape = std::move(shape);
    expression.opcode = name;
    expression.opcode_at = start;
    expression.has_attributes = false;
    expression.depth = depth + 1;
    InstructionId id = kNoInstruction;
    if (!ReadExpression(scope, std::move(expression), id)) return false;
    operands.push_back(id);
    return true;
  }
  const auto it = scope.ids.find(name);
  if (it == scope.ids.end()) {
    forward.push_back({kNoInstruction, operands.size(), name});
    operands.push_back(kNoInstruction);
  } else {
    operands.push_back(it->second);
  }
  return true;
}

}  // namespace hone::hlo
