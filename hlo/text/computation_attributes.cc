#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "hlo/inference/shape_inference.h"
#include "hlo/text/computation.h"

// The part of ComputationReader that reads what stands behind the operands.

namespace hone::hlo {
namespace {

// Returns true if `type` says no more of a comparison than its operands do.
bool IsDefaultComparison(absl::string_view type, const Shape& operand) {
  switch (KindOf(operand.element_type())) {
    case ElementKind::kFloat:
    case ElementKind::kComplex:
      return type == "FLOAT";
    case ElementKind::kSigned:
      return type == "SIGNED";
    case ElementKind::kUnsigned:
    case ElementKind::kPred:
      return type == "UNSIGNED";
    case ElementKind::kNone:
      return false;
  }
  return false;
}

// Returns true if operands and attributes determine a part of the shape only.
bool IsPartlyGiven(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAllGatherStart:
    case Opcode::kAsyncStart:
    case Opcode::kBitcast:
    case Opcode::kBitcastConvert:
    case Opcode::kBroadcast:
    case Opcode::kCollectivePermuteStart:
    case Opcode::kConvert:
    case Opcode::kCopyStart:
    case Opcode::kDynamicReshape:
    case Opcode::kIota:
    case Opcode::kReshape:
    case Opcode::kRngBitGenerator:
    case Opcode::kStochasticConvert:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool ComputationReader::ReadInstructionAttributes(Scope& scope,
                                                  const Expression& expression,
                                                  InstructionId id,
                                                  Instruction& instruction) {
  AttributeTexts texts;
  std::vector<Callee> callees;
  bool has_index = false;
  while (expression.has_attributes && lexer_.Take(',')) {
    const char* start = lexer_.Position();
    const absl::string_view name = lexer_.Word();
    if (name.empty()) return lexer_.FailExpected("the name of an attribute");
    if (!lexer_.Expect('=')) return false;
    const CallRole role = CallRoleOf(name);
    if (role != CallRole::kNone) {
      for (const Callee& callee : callees) {
        if (callee.role == role) {
          return lexer_.Fail(start, absl::StrCat("attribute ", name,
                                                 " again, expected it once"));
        }
      }
      if (!ReadCallees(role, expression, callees)) return false;
      continue;
    }
    if (name == "metadata") {
      if (!ReadMetadata(instruction)) return false;
      continue;
    }
    if (name == "control-predecessors") {
      if (!ReadControlPredecessors(scope, id)) return false;
      continue;
    }
    if (name == "index" && instruction.opcode() == Opcode::kGetTupleElement) {
      int64_t index = 0;
      if (!lexer_.Integer(index)) return false;
      if (index < 0 || index > INT32_MAX) {
        return lexer_.Fail(start, absl::StrCat("tuple index ", index,
                                               ", expected one of the tuple"));
      }
      instruction.set_index(static_cast<int32_t>(index));
      has_index = true;
      continue;
    }
    AttributeText text;
    text.name = name;
    if (!lexer_.AttributeValue(text.value)) return false;
    if (instruction.opcode() == Opcode::kCompare && name == "type" &&
        instruction.operand(0) != kNoInstruction &&
        IsDefaultComparison(
            text.value, scope.computation[instruction.operand(0)].shape())) {
      continue;
    }
    texts.push_back(text);
  }
  if (instruction.opcode() == Opcode::kGetTupleElement && !has_index) {
    return FailMissingAttribute(expression, "index");
  }
  if (callees.empty()) return SetAttributes(texts, expression, instruction);
  SetCallees(scope, id, callees, instruction);
  std::deque<std::string> storage;
  AddUnusualRoles(instruction.opcode(), callees, storage, texts);
  return SetAttributes(texts, expression, instruction);
}

// Others entries for the roles that the opcode does not imply. Their values
// live in `storage`.
void ComputationReader::AddUnusualRoles(Opcode opcode,
                                        absl::Span<const Callee> callees,
                                        std::deque<std::string>& storage,
                                        AttributeTexts& texts) {
  for (size_t i = 0; i < callees.size();) {
    const CallRole role = callees[i].role;
    const bool in_list = callees[i].in_list;
    size_t count = 0;
    for (; i < callees.size() && callees[i].role == role; ++i) ++count;
    if (IsUsualRole(opcode, role)) continue;
    std::string& value = storage.emplace_back("%");
    for (size_t k = 1; k < count; ++k) value += ", %";
    if (in_list) value = absl::StrCat("{", value, "}");
    texts.push_back({CallRoleName(role), value});
  }
}

// `{a, %b}`, behind `control-predecessors=`
bool ComputationReader::ReadControlPredecessors(Scope& scope,
                                                InstructionId id) {
  if (!lexer_.Expect('{')) return false;
  if (lexer_.Take('}')) return true;
  do {
    absl::string_view name;
    if (!lexer_.Name(name, "an instruction")) return false;
    scope.control.push_back({id, 0, name});
  } while (lexer_.Take(','));
  return lexer_.Expect('}');
}

bool ComputationReader::ReadMetadata(Instruction& instruction) {
  if (lexer_.Peek() != '{') return lexer_.FailExpected("'{'");
  absl::string_view text;
  if (!lexer_.Bracketed(text)) return false;
  text = text.substr(1, text.size() - 2);
  std::shared_ptr<const std::string>& shared = metadata_[text];
  if (shared == nullptr) shared = std::make_shared<const std::string>(text);
  instruction.set_metadata(shared);
  return true;
}

// `name`, `{name, name}` where the role may have several, or `{ body }`.
bool ComputationReader::ReadCallees(CallRole role, const Expression& expression,
                                    std::vector<Callee>& callees) {
  const bool is_list = role == CallRole::kBranchComputations ||
                       role == CallRole::kCalledComputations ||
                       role == CallRole::kCalls;
  if (lexer_.Peek() != '{') return ReadCallee(role, false, callees);
  if (is_list) {
    lexer_.Take('{');
    if (lexer_.Take('}')) return true;
    do {
      if (!ReadCallee(role, true, callees)) return false;
    } while (lexer_.Take(','));
    return lexer_.Expect('}');
  }
  ComputationId id = kNoComputation;
  const std::string name =
      absl::StrCat(expression.name, ".", CallRoleName(role));
  if (!ReadBody(name, expression.depth + 1, id)) return false;
  callees.push_back({role, /*in_list=*/false, {}, id});
  return true;
}

bool ComputationReader::ReadCallee(CallRole role, bool in_list,
                                   std::vector<Callee>& callees) {
  absl::string_view name;
  if (!lexer_.Name(name, "the name of a computation")) return false;
  const auto it = computations_.find(name);
  callees.push_back({role, in_list, name,
                     it == computations_.end() ? kNoComputation : it->second});
  return true;
}

void ComputationReader::SetCallees(Scope& scope, InstructionId id,
                                   std::vector<Callee>& callees,
                                   Instruction& instruction) {
  std::stable_sort(
      callees.begin(), callees.end(),
      [](const Callee& a, const Callee& b) { return a.role < b.role; });
  ComputationIds called;
  for (const Callee& callee : callees) {
    if (callee.id == kNoComputation) {
      scope.calls.push_back({kNoComputation, id, called.size(), callee.name});
    }
    called.push_back(callee.id);
  }
  instruction.set_called(std::move(called));
}

bool ComputationReader::FailMissingAttribute(const Expression& expression,
                                             absl::string_view name) {
  return lexer_.Fail(expression.opcode_at,
                     absl::StrCat(expression.opcode, " without the attribute ",
                                  name, ", expected it"));
}

bool ComputationReader::CheckRequired(absl::Span<const AttributeText> texts,
                                      const Expression& expression,
                                      Opcode opcode) {
  // The index of a tuple's element is no text.
  if (opcode == Opcode::kGetTupleElement) return true;
  for (absl::string_view name : RequiredAttributes(opcode)) {
    if (std::none_of(texts.begin(), texts.end(),
                     [name](const auto& text) { return text.name == name; })) {
      return FailMissingAttribute(expression, name);
    }
  }
  return true;
}

bool ComputationReader::SetAttributes(absl::Span<const AttributeText> texts,
                                      const Expression& expression,
                                      Instruction& instruction) {
  key_.assign(1, static_cast<char>(instruction.opcode()));
  for (const AttributeText& text : texts) {
    absl::StrAppend(&key_, text.name, "=", text.value, ",");
  }
  std::shared_ptr<const Attributes>& shared = attributes_[key_];
  if (shared == nullptr) {
    if (!CheckRequired(texts, expression, instruction.opcode())) return false;
    shared = ReadAttributes(instruction.opcode(), texts, &error_);
    if (shared == nullptr) return false;
  }
  instruction.set_attributes(shared);
  return true;
}

bool ComputationReader::InferMissingShape(const Scope& scope, const char* at,
                                          Instruction& instruction) {
  const InstructionIds& operands = instruction.operands();
  const ComputationIds& called = instruction.called();
  // Nothing can be inferred from what comes further below.
  if (std::find(operands.begin(), operands.end(), kNoInstruction) !=
          operands.end() ||
      std::find(called.begin(), called.end(), kNoComputation) != called.end()) {
    return FailMissingShape(at);
  }
  instruction.set_shape(std::make_shared<const Shape>());
  absl::StatusOr<ShapePtr> shape =
      InferShape(module_, scope.computation, instruction);
  // An opcode whose shape is partly given finds fault with the missing one.
  if (!shape.ok() && IsPartlyGiven(instruction.opcode())) {
    return FailMissingShape(at);
  }
  if (!shape.ok()) {
    return lexer_.Fail(at, std::string(shape.status().message()));
  }
  if (*shape == nullptr || (*shape)->element_type() == ElementType::kInvalid) {
    return FailMissingShape(at);
  }
  instruction.set_shape(*std::move(shape));
  return true;
}

}  // namespace hone::hlo
