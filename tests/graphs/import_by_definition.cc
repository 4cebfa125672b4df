#include "tests/graphs/import_by_definition.h"

#include <set>
#include <vector>

#include "absl/strings/match.h"

namespace hone::graphs {
namespace {

using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;

// An element of an instruction's result: its indices in nested tuples.
struct Element {
  const Instruction* of = nullptr;
  std::vector<int32_t> path;

  friend auto operator<=>(const Element&, const Element&) = default;
};

// By rule: the second half is the same node as the first.
bool IsSecondHalf(const hlo::Computation& entry, const Instruction& i) {
  const absl::string_view name = hlo::OpcodeName(i.opcode());
  if (i.operand_count() == 0) return false;
  const absl::string_view first = hlo::OpcodeName(entry[i.operand(0)].opcode());
  if (name == "async-update" || name == "async-done") {
    return first == "async-start" || first == "async-update";
  }
  if (!absl::EndsWith(name, "-done")) return false;
  const absl::string_view stem = name.substr(0, name.size() - 5);
  return first == stem ||
         (first.size() == stem.size() + 6 && absl::StartsWith(first, stem) &&
          absl::EndsWith(first, "-start"));
}

class Definition {
 public:
  explicit Definition(const hlo::Module& module)
      : entry_(module.entry_computation()) {}

  DefinedImport Import() {
    for (const Instruction& i : entry_.instructions()) {
      if (IsNode(i)) Read(i);
    }
    for (const auto& [element, readers] : arguments_) {
      const double bytes = BytesOf(element);
      if (readers.size() == 1) {
        result_.parameter_bytes[*readers.begin()] += bytes;
        continue;
      }
      result_.parameter_bytes[element.of->name()] += bytes;
      for (const std::string& reader : readers) {
        result_.edges[{element.of->name(), reader}] += bytes;
      }
    }
    return result_;
  }

 private:
  bool IsNode(const Instruction& i) const {
    switch (i.opcode()) {
      case Opcode::kBitcast:
      case Opcode::kConstant:
      case Opcode::kDomain:
      case Opcode::kGetTupleElement:
      case Opcode::kOptBarrier:
      case Opcode::kParameter:
      case Opcode::kTuple:
        return false;
      default:
        return true;
    }
  }

  std::string NodeOf(const Instruction& i) const {
    const Instruction* at = &i;
    while (IsSecondHalf(entry_, *at)) at = &entry_[at->operand(0)];
    return at->name();
  }

  static const hlo::Shape& ShapeOf(const Element& element) {
    const hlo::Shape* shape = &element.of->shape();
    for (const int32_t i : element.path) shape = shape->tuple_element(i).get();
    return *shape;
  }
  static double BytesOf(const Element& element) {
    return static_cast<double>(ShapeOf(element).byte_size());
  }

  // Adds the elements of `i` at and below `path`.
  static void Elements(const Instruction& i, const hlo::Shape& shape,
                       std::vector<int32_t>& path,
                       std::vector<Element>& elements) {
    if (!shape.IsTuple() || shape.tuple_elements().empty()) {
      elements.push_back({&i, path});
      return;
    }
    for (size_t e = 0; e < shape.tuple_elements().size(); ++e) {
      path.push_back(static_cast<int32_t>(e));
      Elements(i, *shape.tuple_elements()[e], path, elements);
      path.pop_back();
    }
  }

  // Follows an element to the instruction that makes it.
  Element Origin(Element element) const {
    for (;;) {
      const Instruction& i = *element.of;
      switch (i.opcode()) {
        case Opcode::kTuple:
          if (element.path.empty()) return element;  // the empty tuple
          element.of =
              &entry_[i.operand(static_cast<size_t>(element.path.front()))];
          element.path.erase(element.path.begin());
          break;
        case Opcode::kGetTupleElement:
          element.path.insert(element.path.begin(), i.index());
          [[fallthrough]];
        case Opcode::kBitcast:
        case Opcode::kDomain:
        case Opcode::kOptBarrier:
          element.of = &entry_[i.operand(0)];
          break;
        default:
          return element;
      }
    }
  }

  void Read(const Instruction& reader) {
    const std::string target = NodeOf(reader);
    std::set<Element> read;
    for (const InstructionId o : reader.operands()) {
      const Instruction& operand = entry_[o];
      std::vector<Element> elements;
      std::vector<int32_t> path;
      Elements(operand, operand.shape(), path, elements);
      for (const Element& element : elements) read.insert(Origin(element));
    }
    for (const Element& element : read) {
      const Opcode opcode = element.of->opcode();
      if (opcode == Opcode::kConstant) {
        result_.parameter_bytes[target] += BytesOf(element);
      } else if (opcode == Opcode::kParameter) {
        if (!ShapeOf(element).IsTuple()) arguments_[element].insert(target);
      } else if (IsNode(*element.of) && NodeOf(*element.of) != target) {
        result_.edges[{NodeOf(*element.of), target}] += BytesOf(element);
      }
    }
    if (IsSecondHalf(entry_, reader)) return;
    for (const InstructionId c : entry_.control_predecessors(reader.id())) {
      if (IsNode(entry_[c])) Wait(entry_[c], target);
    }
  }

  void Wait(const Instruction& source, const std::string& target) {
    if (!IsNode(source) || NodeOf(source) == target) return;
    result_.edges[{NodeOf(source), target}] += 0;
  }

  const hlo::Computation& entry_;
  std::map<Element, std::set<std::string>> arguments_;
  DefinedImport result_;
};

}  // namespace

DefinedImport ImportByDefinition(const hlo::Module& module) {
  return Definition(module).Import();
}

}  // namespace hone::graphs
