#ifndef HONE_HLO_TEXT_COMPUTATION_H_
#define HONE_HLO_TEXT_COMPUTATION_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "hlo/ir/module.h"
#include "hlo/text/attributes.h"
#include "hlo/text/lexer.h"
#include "hlo/text/parser.h"
#include "hlo/text/shape.h"

namespace hone::hlo {

// Reads the computations of a module from its text. Every method that returns
// bool leaves its error with the lexer and returns false.
class ComputationReader {
 public:
  // All must outlive the reader.
  ComputationReader(TextLexer& lexer, TextError& error, ShapeReader& shapes,
                    Module& module, const ReadLimits& limits)
      : lexer_(lexer),
        error_(error),
        shapes_(shapes),
        module_(module),
        limits_(limits) {}

  // Reads one computation and adds it to the module; makes it the entry when it
  // says so.
  bool Read();

  // After the last computation: resolves calls of computations that came after
  // their callers, and makes the last one the entry unless another is.
  bool Finish();

 private:
  using AttributeTexts = absl::InlinedVector<AttributeText, 8>;

  // A reference to an instruction that is defined further below: an operand or
  // a control predecessor of `user`.
  struct Forward {
    InstructionId user;
    size_t operand_index;
    absl::string_view name;
  };

  // A call of a computation that is defined further below.
  struct ForwardCall {
    ComputationId caller;
    InstructionId instruction;
    size_t called_index;
    absl::string_view name;
  };

  // A computation while its instructions are read.
  struct Scope {
    Computation computation;
    absl::flat_hash_map<absl::string_view, InstructionId> ids;
    std::vector<Forward> operands;
    std::vector<Forward> control;
    std::vector<ForwardCall> calls;
    int64_t parameters = 0;
  };

  // A name in an attribute that calls computations.
  struct Callee {
    CallRole role;
    bool in_list;
    absl::string_view name;
    ComputationId id;  // kNoComputation when defined further below
  };

  // An expression: what stands behind `name =`, or an operand that is not a
  // name.
  struct Expression {
    absl::string_view name;  // empty for operands
    ShapePtr shape;          // null when the text leaves it out
    absl::string_view opcode;
    const char* opcode_at = nullptr;
    bool has_attributes = true;
    int depth = 0;
  };

  bool CheckDepth(int depth);
  bool SkipSignature();
  bool ReadBody(absl::string_view name, int depth, ComputationId& id);
  bool ReadSuffix(Computation& computation);
  bool FinishScope(Scope& scope, const char* start);

  bool ReadInstruction(Scope& scope, int depth);
  bool ReadExpression(Scope& scope, Expression expression, InstructionId& id);
  bool ReadConstant(const Expression& expression, LiteralPtr& literal);
  bool ReadParameterNumber(Scope& scope, int32_t& number);
  bool ReadOperands(Scope& scope, int depth, InstructionIds& operands,
                    std::vector<Forward>& forward);
  bool ReadOperand(Scope& scope, int depth, InstructionIds& operands,
                   std::vector<Forward>& forward);

  bool ReadInstructionAttributes(Scope& scope, const Expression& expression,
                                 InstructionId id, Instruction& instruction);
  bool ReadControlPredecessors(Scope& scope, InstructionId id);
  bool ReadMetadata(Instruction& instruction);
  bool ReadCallees(CallRole role, const Expression& expression,
                   std::vector<Callee>& callees);
  bool ReadCallee(CallRole role, bool in_list, std::vector<Callee>& callees);
  static void SetCallees(Scope& scope, InstructionId id,
                         std::vector<Callee>& callees,
                         Instruction& instruction);
  static void AddUnusualRoles(Opcode opcode, absl::Span<const Callee> callees,
                              std::deque<std::string>& storage,
                              AttributeTexts& texts);
  bool FailMissingAttribute(const Expression& expression,
                            absl::string_view name);
  bool CheckRequired(absl::Span<const AttributeText> texts,
                     const Expression& expression, Opcode opcode);
  bool SetAttributes(absl::Span<const AttributeText> texts,
                     const Expression& expression, Instruction& instruction);
  bool InferMissingShape(const Scope& scope, const char* at,
                         Instruction& instruction);

  bool FailUnknownInstruction(absl::string_view name);
  bool FailMissingShape(const char* at);

  TextLexer& lexer_;
  TextError& error_;
  ShapeReader& shapes_;
  Module& module_;
  const ReadLimits limits_;
  int64_t instruction_count_ = 0;
  ComputationId last_ = kNoComputation;
  absl::flat_hash_map<absl::string_view, ComputationId> computations_;
  std::vector<ForwardCall> forward_calls_;
  // Equal attributes and metadata are shared. The key of the former is the
  // opcode and all texts.
  absl::flat_hash_map<std::string, std::shared_ptr<const Attributes>>
      attributes_;
  absl::flat_hash_map<absl::string_view, std::shared_ptr<const std::string>>
      metadata_;
  std::string key_;  // scratch
};

}  // namespace hone::hlo

#endif  // HONE_HLO_TEXT_COMPUTATION_H_
