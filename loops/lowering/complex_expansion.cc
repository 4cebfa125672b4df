#include "loops/lowering/complex_expansion.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "hlo/ir/id_map.h"
#include "loops/lowering/complex_arithmetic.h"
#include "loops/lowering/graph/opcode_traits.h"
#include "loops/lowering/graph/unsupported.h"

namespace hone::loops {
namespace {

using hlo::Computation;
using hlo::ComputationId;
using hlo::DimensionVector;
using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::kNoInstruction;
using hlo::Opcode;
using hlo::Shape;
using hlo::ShapePtr;

// The interface of a computation.
enum class Interface : uint8_t {
  kEntry,
  // A complex parameter or result is a tuple of two.
  kTuples,
  // A complex parameter is two parameters, and likewise for results: the
  // region of a reduction or scatter.
  kParameters,
  // The same, where parameters come in pairs of which each belongs to one
  // operand: a comparator.
  kPairs,
};

bool HasComplex(const Shape& shape) {
  if (!shape.IsTuple()) return hlo::IsComplex(shape.element_type());
  return std::any_of(
      shape.tuple_elements().begin(), shape.tuple_elements().end(),
      [](const ShapePtr& element) { return HasComplex(*element); });
}

bool HasComplex(const hlo::Module& module) {
  for (ComputationId id : module.ComputationIds()) {
    for (const Instruction& i : module.computation(id).instructions()) {
      if (HasComplex(i.shape())) return true;
    }
  }
  return false;
}

ElementType PartType(ElementType type) {
  if (type == ElementType::kC64) return ElementType::kF32;
  return type == ElementType::kC128 ? ElementType::kF64 : type;
}

ShapePtr PartShape(const Shape& shape) {
  return Shape::Array(PartType(shape.element_type()), shape.dimensions());
}

// The shape of a value whose complex arrays are tuples of two.
ShapePtr TupleShape(const ShapePtr& shape) {
  if (!HasComplex(*shape)) return shape;
  if (!shape->IsTuple()) {
    return Shape::Tuple({PartShape(*shape), PartShape(*shape)});
  }
  std::vector<ShapePtr> elements;
  for (const ShapePtr& element : shape->tuple_elements()) {
    elements.push_back(TupleShape(element));
  }
  return Shape::Tuple(std::move(elements));
}

// The shape of the same bytes with real elements.
ShapePtr BytesShape(const ShapePtr& shape) {
  if (!HasComplex(*shape)) return shape;
  if (!shape->IsTuple()) {
    DimensionVector dimensions = shape->dimensions();
    dimensions.push_back(2);
    return Shape::Array(PartType(shape->element_type()), dimensions);
  }
  std::vector<ShapePtr> elements;
  for (const ShapePtr& element : shape->tuple_elements()) {
    elements.push_back(BytesShape(element));
  }
  return Shape::Tuple(std::move(elements));
}

hlo::Literal PartOf(const hlo::Literal& literal, size_t part) {
  hlo::Literal result(PartShape(literal.shape()));
  const size_t width =
      static_cast<size_t>(hlo::ByteWidth(result.shape().element_type()));
  for (int64_t i = 0; i < literal.num_elements(); ++i) {
    const size_t k = static_cast<size_t>(i);
    std::memcpy(result.MutableData() + k * width,
                literal.data() + (2 * k + part) * width, width);
  }
  return result;
}

bool IsReduction(Opcode opcode) {
  return opcode == Opcode::kReduce || opcode == Opcode::kReduceWindow ||
         opcode == Opcode::kScatter;
}

// Returns true if the region adds its two parameters.
bool IsSum(const Computation& region) {
  const Instruction& root = region[region.root()];
  return region.parameters().size() == 2 && root.opcode() == Opcode::kAdd &&
         region[root.operand(0)].opcode() == Opcode::kParameter &&
         region[root.operand(1)].opcode() == Opcode::kParameter &&
         root.operand(0) != root.operand(1);
}

class ModuleExpander;

// Writes one computation anew.
class ComputationExpander {
 public:
  ComputationExpander(ModuleExpander& expander, const Computation& from,
                      Interface interface)
      : expander_(expander), from_(from), interface_(interface) {}

  absl::StatusOr<Computation> Run();

 private:
  InstructionId Add(Instruction instruction) {
    instruction.set_name(name_);
    return to_.AddInstruction(std::move(instruction));
  }
  bool IsComplex(InstructionId id) const {
    return hlo::IsComplex(from_[id].shape().element_type());
  }
  // The value as one instruction: a tuple of two if it is complex.
  InstructionId Whole(InstructionId id);
  ComplexParts Parts(InstructionId id);
  // Either both parts or the only instruction, once for each part.
  ComplexParts PartsOrBoth(InstructionId id);
  InstructionId Element(InstructionId tuple, int32_t index) {
    return Add(Instruction::GetTupleElement(
        to_[tuple].shape().tuple_element(index), tuple, index));
  }
  InstructionId Tuple(const std::vector<InstructionId>& elements);
  ComplexParts FromBytes(InstructionId bytes);
  InstructionId ToBytes(ComplexParts parts);
  // The same for values with tuples, from and to the entry's interface.
  InstructionId WholeFromBytes(const ShapePtr& shape, InstructionId bytes);
  InstructionId WholeToBytes(const ShapePtr& shape, InstructionId whole);
  // Instructions of operands or results, two for each that is complex.
  std::vector<InstructionId> Flat(absl::Span<const InstructionId> ids);
  void SetFlatResult(const Instruction& instruction, InstructionId made);

  absl::Status AddParameters();
  absl::Status Write(const Instruction& instruction);
  absl::Status WriteArithmetic(const Instruction& instruction);
  absl::Status WriteRegion(const Instruction& instruction);
  absl::Status WriteSum(const Instruction& instruction);
  absl::Status WriteProduct(const Instruction& instruction);
  absl::Status WriteLibraryCall(const Instruction& instruction);
  absl::Status WriteUnchanged(const Instruction& instruction);
  void WriteEachPart(const Instruction& instruction);
  absl::StatusOr<InstructionId> Root();

  ModuleExpander& expander_;
  const Computation& from_;
  const Interface interface_;
  Computation to_;
  std::string name_;  // of the instruction that is written
  hlo::IdMap<InstructionId> wholes_{kNoInstruction};
  hlo::IdMap<ComplexParts> parts_;
};

class ModuleExpander {
 public:
  explicit ModuleExpander(hlo::Module& module) : module_(module) {}

  absl::StatusOr<ComputationId> Expanded(ComputationId id,
                                         Interface interface) {
    const std::pair<ComputationId, Interface> key(id, interface);
    if (const auto known = done_.find(key); known != done_.end()) {
      return known->second;
    }
    // A copy, since adding a computation moves the others.
    const Computation from = module_.computation(id);
    HONE_ASSIGN_OR_RETURN(Computation to,
                          ComputationExpander(*this, from, interface).Run());
    to.set_name(absl::StrCat(from.name(), ".parts", done_.size()));
    const ComputationId result = module_.AddComputation(std::move(to));
    done_.emplace(key, result);
    return result;
  }

  // Returns a region that adds two scalars.
  ComputationId Sum(ElementType type) {
    const auto [at, is_new] = sums_.try_emplace(type, hlo::kNoComputation);
    if (!is_new) return at->second;
    const ShapePtr shape = Shape::Scalar(type);
    Computation sum(absl::StrCat("sum.", hlo::ElementTypeName(type)));
    const InstructionId a =
        sum.AddInstruction(Instruction::Parameter(0, shape));
    const InstructionId b =
        sum.AddInstruction(Instruction::Parameter(1, shape));
    sum.set_root(sum.AddInstruction(Instruction(Opcode::kAdd, shape, {a, b})));
    at->second = module_.AddComputation(std::move(sum));
    return at->second;
  }

  const hlo::Module& module() const { return module_; }

 private:
  hlo::Module& module_;
  absl::flat_hash_map<std::pair<ComputationId, Interface>, ComputationId> done_;
  absl::flat_hash_map<ElementType, ComputationId> sums_;
};

InstructionId ComputationExpander::Tuple(
    const std::vector<InstructionId>& elements) {
  std::vector<ShapePtr> shapes;
  for (InstructionId element : elements) {
    shapes.push_back(to_[element].shape_ptr());
  }
  return Add(
      Instruction(Opcode::kTuple, Shape::Tuple(std::move(shapes)), elements));
}

InstructionId ComputationExpander::Whole(InstructionId id) {
  InstructionId& whole = wholes_[id];
  if (whole == kNoInstruction) {
    const ComplexParts& parts = parts_[id];
    whole = Tuple({parts.re, parts.im});
  }
  return whole;
}

ComplexParts ComputationExpander::Parts(InstructionId id) {
  ComplexParts& parts = parts_[id];
  if (parts.re == kNoInstruction) {
    parts = {Element(wholes_[id], 0), Element(wholes_[id], 1)};
  }
  return parts;
}

ComplexParts ComputationExpander::PartsOrBoth(InstructionId id) {
  if (IsComplex(id)) return Parts(id);
  return {wholes_[id], wholes_[id]};
}

ComplexParts ComputationExpander::FromBytes(InstructionId bytes) {
  const ShapePtr shape = to_[bytes].shape_ptr();
  DimensionVector sliced = shape->dimensions();
  sliced.back() = 1;
  const DimensionVector dimensions(shape->dimensions().begin(),
                                   shape->dimensions().end() - 1);
  const auto part = [&](int64_t i) {
    auto attributes = std::make_shared<hlo::Attributes>();
    for (int64_t size : dimensions) attributes->slice.push_back({0, size, 1});
    attributes->slice.push_back({i, i + 1, 1});
    const InstructionId slice = Add(
        Instruction(Opcode::kSlice, Shape::Array(shape->element_type(), sliced),
                    {bytes}, std::move(attributes)));
    return Add(Instruction(Opcode::kReshape,
                           Shape::Array(shape->element_type(), dimensions),
                           {slice}));
  };
  const InstructionId re = part(0);
  return {re, part(1)};
}

InstructionId ComputationExpander::ToBytes(ComplexParts parts) {
  const Shape shape = to_[parts.re].shape();
  DimensionVector dimensions = shape.dimensions();
  dimensions.push_back(1);
  const auto column = [&](InstructionId part) {
    return Add(Instruction(Opcode::kReshape,
                           Shape::Array(shape.element_type(), dimensions),
                           {part}));
  };
  const InstructionId re = column(parts.re);
  const InstructionId im = column(parts.im);
  auto attributes = std::make_shared<hlo::Attributes>();
  attributes->dimensions = {shape.rank()};
  dimensions.back() = 2;
  return Add(Instruction(Opcode::kConcatenate,
                         Shape::Array(shape.element_type(), dimensions),
                         {re, im}, std::move(attributes)));
}

InstructionId ComputationExpander::WholeFromBytes(const ShapePtr& shape,
                                                  InstructionId bytes) {
  if (!HasComplex(*shape)) return bytes;
  if (!shape->IsTuple()) {
    const ComplexParts parts = FromBytes(bytes);
    return Tuple({parts.re, parts.im});
  }
  std::vector<InstructionId> elements;
  for (int32_t i = 0; i < static_cast<int32_t>(shape->tuple_elements().size());
       ++i) {
    elements.push_back(
        WholeFromBytes(shape->tuple_element(i), Element(bytes, i)));
  }
  return Tuple(elements);
}

InstructionId ComputationExpander::WholeToBytes(const ShapePtr& shape,
                                                InstructionId whole) {
  if (!HasComplex(*shape)) return whole;
  if (!shape->IsTuple()) return ToBytes({Element(whole, 0), Element(whole, 1)});
  std::vector<InstructionId> elements;
  for (int32_t i = 0; i < static_cast<int32_t>(shape->tuple_elements().size());
       ++i) {
    elements.push_back(
        WholeToBytes(shape->tuple_element(i), Element(whole, i)));
  }
  return Tuple(elements);
}

std::vector<InstructionId> ComputationExpander::Flat(
    absl::Span<const InstructionId> ids) {
  std::vector<InstructionId> flat;
  for (InstructionId id : ids) {
    const ComplexParts parts = PartsOrBoth(id);
    flat.push_back(parts.re);
    if (IsComplex(id)) flat.push_back(parts.im);
  }
  return flat;
}

// `made` has an array for each real one and two for each complex one.
void ComputationExpander::SetFlatResult(const Instruction& instruction,
                                        InstructionId made) {
  if (!instruction.shape().IsTuple()) {
    if (IsComplex(instruction.id())) {
      parts_[instruction.id()] = {Element(made, 0), Element(made, 1)};
    } else {
      wholes_[instruction.id()] = made;
    }
    return;
  }
  std::vector<InstructionId> elements;
  int32_t next = 0;
  for (const ShapePtr& shape : instruction.shape().tuple_elements()) {
    if (HasComplex(*shape)) {
      const InstructionId re = Element(made, next++);
      elements.push_back(Tuple({re, Element(made, next++)}));
    } else {
      elements.push_back(Element(made, next++));
    }
  }
  wholes_[instruction.id()] = Tuple(elements);
}

absl::Status ComputationExpander::AddParameters() {
  const std::vector<InstructionId>& parameters = from_.parameters();
  std::vector<InstructionId> order;
  std::vector<ComplexParts> parts(parameters.size());
  int32_t number = 0;
  const auto add = [&](size_t i, ShapePtr shape) {
    name_ = from_[parameters[i]].name();
    return Add(Instruction::Parameter(number++, std::move(shape)));
  };
  const bool is_pairs = interface_ == Interface::kPairs;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const InstructionId id = parameters[i];
    const ShapePtr shape = from_[id].shape_ptr();
    if (interface_ == Interface::kEntry) {
      wholes_[id] = WholeFromBytes(shape, add(i, BytesShape(shape)));
    } else if (interface_ == Interface::kTuples || !HasComplex(*shape)) {
      wholes_[id] = add(i, TupleShape(shape));
    } else if (!is_pairs) {
      const InstructionId re = add(i, PartShape(*shape));
      parts_[id] = {re, add(i, PartShape(*shape))};
    } else if (i % 2 == 0) {
      // Both sides of the real parts, then both of the imaginary ones.
      const InstructionId other = parameters[i + 1];
      const ShapePtr part = PartShape(*shape);
      parts_[id].re = add(i, part);
      parts_[other].re = add(i + 1, part);
      parts_[id].im = add(i, part);
      parts_[other].im = add(i + 1, part);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<InstructionId> ComputationExpander::Root() {
  const InstructionId root = from_.root();
  const Instruction& instruction = from_[root];
  name_ = instruction.name();
  switch (interface_) {
    case Interface::kEntry:
      return WholeToBytes(instruction.shape_ptr(), Whole(root));
    case Interface::kTuples:
      return Whole(root);
    default:
      break;
  }
  if (!HasComplex(instruction.shape())) return Whole(root);
  if (!instruction.shape().IsTuple()) return Whole(root);
  if (instruction.opcode() != Opcode::kTuple) {
    return Unsupported(instruction, "complex results of a region");
  }
  return Tuple(Flat(instruction.operands()));
}

absl::StatusOr<Computation> ComputationExpander::Run() {
  HONE_RETURN_IF_ERROR(AddParameters());
  for (InstructionId id : from_.PostOrder()) {
    if (from_[id].opcode() == Opcode::kParameter) continue;
    name_ = from_[id].name();
    HONE_RETURN_IF_ERROR(Write(from_[id]));
  }
  HONE_ASSIGN_OR_RETURN(const InstructionId root, Root());
  to_.set_root(root);
  return std::move(to_);
}

// Also control flow and tuples: complex arrays in them are tuples.
absl::Status ComputationExpander::WriteUnchanged(
    const Instruction& instruction) {
  std::vector<InstructionId> operands;
  for (InstructionId operand : instruction.operands()) {
    operands.push_back(Whole(operand));
  }
  Instruction made = instruction.WithOperands(operands);
  made.set_shape(TupleShape(instruction.shape_ptr()));
  hlo::ComputationIds called;
  for (ComputationId callee : instruction.called()) {
    HONE_ASSIGN_OR_RETURN(const ComputationId id,
                          expander_.Expanded(callee, Interface::kTuples));
    called.push_back(id);
  }
  made.set_called(std::move(called));
  wholes_[instruction.id()] = Add(std::move(made));
  return absl::OkStatus();
}

void ComputationExpander::WriteEachPart(const Instruction& instruction) {
  std::vector<InstructionId> re;
  std::vector<InstructionId> im;
  for (InstructionId operand : instruction.operands()) {
    const ComplexParts parts = PartsOrBoth(operand);
    re.push_back(parts.re);
    im.push_back(parts.im);
  }
  const auto add = [&](const std::vector<InstructionId>& operands) {
    Instruction made = instruction.WithOperands(operands);
    made.set_shape(PartShape(instruction.shape()));
    return Add(std::move(made));
  };
  const InstructionId first = add(re);
  parts_[instruction.id()] = {first, add(im)};
}

// The real and imaginary parts of a sum are sums.
absl::Status ComputationExpander::WriteSum(const Instruction& instruction) {
  const ComputationId sum =
      expander_.Sum(PartType(instruction.shape().element_type()));
  WriteEachPart(instruction);
  const ComplexParts parts = parts_[instruction.id()];
  to_.mutable_instruction(parts.re).set_called({sum});
  to_.mutable_instruction(parts.im).set_called({sum});
  return absl::OkStatus();
}

absl::Status ComputationExpander::WriteRegion(const Instruction& instruction) {
  const bool is_sort = instruction.opcode() == Opcode::kSort;
  const bool is_complex = IsComplex(instruction.id());
  if (is_complex && IsReduction(instruction.opcode()) &&
      IsSum(expander_.module().computation(instruction.called()[0]))) {
    return WriteSum(instruction);
  }
  if (!is_sort && !IsReduction(instruction.opcode())) {
    return Unsupported(instruction, "complex numbers");
  }
  HONE_ASSIGN_OR_RETURN(
      const ComputationId region,
      expander_.Expanded(instruction.called()[0],
                         is_sort ? Interface::kPairs : Interface::kParameters));
  Instruction made = instruction.WithOperands(Flat(instruction.operands()));
  std::vector<ShapePtr> shapes;
  const auto add_shape = [&](const ShapePtr& shape) {
    shapes.insert(shapes.end(), HasComplex(*shape) ? 2 : 1, PartShape(*shape));
  };
  if (instruction.shape().IsTuple()) {
    for (const ShapePtr& shape : instruction.shape().tuple_elements()) {
      add_shape(shape);
    }
  } else {
    add_shape(instruction.shape_ptr());
  }
  const bool is_tuple = instruction.shape().IsTuple() || shapes.size() > 1;
  made.set_shape(is_tuple ? Shape::Tuple(shapes) : shapes[0]);
  made.set_called({region});
  SetFlatResult(instruction, Add(std::move(made)));
  return absl::OkStatus();
}

// dot and convolution: products of parts.
absl::Status ComputationExpander::WriteProduct(const Instruction& instruction) {
  const ShapePtr shape = PartShape(instruction.shape());
  const auto product = [&](InstructionId a, InstructionId b) {
    Instruction made = instruction.WithOperands({a, b});
    made.set_shape(shape);
    return Add(std::move(made));
  };
  const auto combined = [&](Opcode opcode, InstructionId a, InstructionId b) {
    return Add(Instruction(opcode, shape, {a, b}));
  };
  const InstructionId lhs = instruction.operand(0);
  const InstructionId rhs = instruction.operand(1);
  const ComplexParts a = PartsOrBoth(lhs);
  const ComplexParts b = PartsOrBoth(rhs);
  ComplexParts& result = parts_[instruction.id()];
  if (IsComplex(lhs) && IsComplex(rhs)) {
    result.re =
        combined(Opcode::kSubtract, product(a.re, b.re), product(a.im, b.im));
    result.im =
        combined(Opcode::kAdd, product(a.re, b.im), product(a.im, b.re));
  } else {
    result.re = product(a.re, b.re);
    result.im = product(a.im, b.im);
  }
  return absl::OkStatus();
}

absl::Status ComputationExpander::WriteLibraryCall(
    const Instruction& instruction) {
  const bool is_pairs =
      instruction.attributes().custom_call_target == kFftFunction;
  std::vector<InstructionId> operands;
  for (InstructionId operand : instruction.operands()) {
    if (!IsComplex(operand)) {
      operands.push_back(Whole(operand));
    } else if (is_pairs) {
      const ComplexParts parts = Parts(operand);
      operands.insert(operands.end(), {parts.re, parts.im});
    } else {
      operands.push_back(ToBytes(Parts(operand)));
    }
  }
  Instruction made = instruction.WithOperands(operands);
  made.set_shape(is_pairs ? TupleShape(instruction.shape().tuple_element(0))
                          : BytesShape(instruction.shape_ptr()));
  if (is_pairs && !made.shape().IsTuple()) {
    made.set_shape(Shape::Tuple({made.shape_ptr()}));
  }
  const InstructionId id = Add(std::move(made));
  wholes_[instruction.id()] = !is_pairs
                                  ? WholeFromBytes(instruction.shape_ptr(), id)
                              : HasComplex(instruction.shape()) ? Tuple({id})
                                                                : id;
  return absl::OkStatus();
}

absl::Status ComputationExpander::WriteArithmetic(
    const Instruction& instruction) {
  const InstructionId id = instruction.id();
  const InstructionId first = instruction.operand(0);
  ComplexArithmetic arithmetic(to_, PartShape(instruction.shape()), name_);
  switch (instruction.opcode()) {
    case Opcode::kComplex:
      parts_[id] = {Whole(first), Whole(instruction.operand(1))};
      return absl::OkStatus();
    case Opcode::kReal:
      wholes_[id] = Parts(first).re;
      return absl::OkStatus();
    case Opcode::kImag:
      wholes_[id] = Parts(first).im;
      return absl::OkStatus();
    case Opcode::kAbs:
      wholes_[id] = arithmetic.Abs(Parts(first));
      return absl::OkStatus();
    case Opcode::kCompare: {
      const auto direction = instruction.attributes().direction;
      const bool is_ne = direction == hlo::ComparisonDirection::kNe;
      if (!is_ne && direction != hlo::ComparisonDirection::kEq) break;
      wholes_[id] =
          arithmetic.Equal(Parts(first), Parts(instruction.operand(1)), is_ne);
      return absl::OkStatus();
    }
    case Opcode::kConvert: {
      if (!IsComplex(first)) {
        const InstructionId re = Add(Instruction(
            Opcode::kConvert, PartShape(instruction.shape()), {Whole(first)}));
        parts_[id] = {re, arithmetic.Constant(0)};
        return absl::OkStatus();
      }
      if (IsComplex(id)) {
        WriteEachPart(instruction);
        return absl::OkStatus();
      }
      wholes_[id] = Add(Instruction(Opcode::kConvert, instruction.shape_ptr(),
                                    {Parts(first).re}));
      return absl::OkStatus();
    }
    default: {
      std::vector<ComplexParts> operands;
      for (InstructionId operand : instruction.operands()) {
        operands.push_back(PartsOrBoth(operand));
      }
      const std::optional<ComplexParts> parts =
          IsComplex(id) ? arithmetic.Apply(instruction.opcode(), operands)
                        : std::nullopt;
      if (!parts.has_value()) break;
      parts_[id] = *parts;
      return absl::OkStatus();
    }
  }
  return Unsupported(instruction, "complex numbers");
}

absl::Status ComputationExpander::Write(const Instruction& instruction) {
  const auto is_complex = [this](InstructionId id) { return IsComplex(id); };
  const InstructionId id = instruction.id();
  const auto& operands = instruction.operands();
  const bool is_concerned =
      IsComplex(id) ||
      std::any_of(operands.begin(), operands.end(), is_complex);
  switch (instruction.opcode()) {
    case Opcode::kConditional:
    case Opcode::kGetTupleElement:
    case Opcode::kOptBarrier:
    case Opcode::kTuple:
    case Opcode::kWhile:
      return WriteUnchanged(instruction);
    case Opcode::kCustomCall:
      if (!IsLibraryCall(instruction)) break;
      return WriteLibraryCall(instruction);
    default:
      break;
  }
  if (!is_concerned) {
    Instruction made = instruction.WithOperands({});
    std::vector<InstructionId> mapped;
    for (InstructionId operand : operands) mapped.push_back(Whole(operand));
    made = instruction.WithOperands(mapped);
    wholes_[id] = Add(std::move(made));
    return absl::OkStatus();
  }
  switch (instruction.opcode()) {
    case Opcode::kConstant:
      if (instruction.literal()->is_elided()) {
        return Unsupported(instruction, "its value is elided");
      }
      parts_[id].re =
          Add(Instruction::Constant(PartOf(*instruction.literal(), 0)));
      parts_[id].im =
          Add(Instruction::Constant(PartOf(*instruction.literal(), 1)));
      return absl::OkStatus();
    case Opcode::kIota:
      parts_[id].re =
          Add(Instruction(Opcode::kIota, PartShape(instruction.shape()), {},
                          instruction.attributes_ptr()));
      parts_[id].im =
          ComplexArithmetic(to_, PartShape(instruction.shape()), name_)
              .Constant(0);
      return absl::OkStatus();
    case Opcode::kBitcast:
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
    case Opcode::kCopy:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kGather:
    case Opcode::kPad:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSelect:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      WriteEachPart(instruction);
      return absl::OkStatus();
    case Opcode::kConvolution:
    case Opcode::kDot:
      return WriteProduct(instruction);
    default:
      if (!instruction.called().empty()) return WriteRegion(instruction);
      if (!hlo::IsElementwise(instruction.opcode())) {
        return Unsupported(instruction, "complex numbers");
      }
      return WriteArithmetic(instruction);
  }
}

}  // namespace

absl::Status ExpandComplex(hlo::Module& module) {
  if (!HasComplex(module)) return absl::OkStatus();
  ModuleExpander expander(module);
  HONE_ASSIGN_OR_RETURN(const ComputationId entry,
                        expander.Expanded(module.entry(), Interface::kEntry));
  module.set_entry(entry);
  module.RemoveUnreachableComputations();
  return absl::OkStatus();
}

}  // namespace hone::loops
