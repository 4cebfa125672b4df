#include "loops/lowering/library/lapack_calls.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/status_macros.h"
#include "hlo/ir/lapack_call.h"
#include "loops/lowering/graph/unsupported.h"

namespace hone::loops {
namespace {

using hlo::DimensionVector;
using hlo::ElementType;
using hlo::Instruction;
using hlo::Opcode;
using hlo::Shape;

// Reads an instruction for a routine whose type is `type`.
class CallReader {
 public:
  CallReader(const hlo::Computation& computation,
             const Instruction& instruction)
      : computation_(computation), instruction_(instruction) {}

  const Instruction& instruction() const { return instruction_; }
  const Shape& operand(size_t i) const {
    return computation_[instruction_.operand(i)].shape();
  }
  // The dimension `i` from the end of an operand.
  int64_t size(size_t operand_number, size_t i) const {
    const DimensionVector& dimensions = operand(operand_number).dimensions();
    return dimensions[dimensions.size() - i];
  }
  // Returns the number `name` of the backend configuration: `name = 76 : ui8`.
  absl::StatusOr<int64_t> Number(absl::string_view name) const {
    const std::optional<int64_t> number =
        hlo::BackendConfigNumber(instruction_.attributes(), name);
    if (number.has_value()) return *number;
    return Unsupported(instruction_,
                       absl::StrCat("its configuration has no ", name));
  }
  // The same for a letter, which must be one of `letters`.
  absl::StatusOr<int64_t> Letter(absl::string_view name,
                                 absl::string_view letters) const {
    HONE_ASSIGN_OR_RETURN(const int64_t value, Number(name));
    for (char letter : letters) {
      if (letter == value) return value;
    }
    return Unsupported(instruction_, absl::StrCat(name, " ", value));
  }
  // An attribute of an opcode that is kept as text; empty if it is not given.
  absl::string_view Text(absl::string_view name) const {
    const std::string* text = instruction_.attributes().FindOther(name);
    return text == nullptr ? absl::string_view() : *text;
  }

 private:
  const hlo::Computation& computation_;
  const Instruction& instruction_;
};

// A triangle seen by rows is the other one by columns.
int64_t OtherTriangle(int64_t uplo) { return uplo == 'U' ? 'L' : 'U'; }

absl::StatusOr<LibraryCall> Potrf(const CallReader& call, ElementType type) {
  int64_t uplo = call.Text("lower") == "true" ? 'L' : 'U';
  const bool is_opcode = call.instruction().opcode() == Opcode::kCholesky;
  if (!is_opcode) {
    HONE_ASSIGN_OR_RETURN(uplo, call.Letter("uplo", "LU"));
  }
  const int64_t n = call.size(0, 1);
  LibraryCall result;
  result.function = "hone_lapack_potrf";
  result.attributes = {n, OtherTriangle(uplo), is_opcode ? 1 : 0};
  result.operands = {{type, {n, n}}};
  result.results = {{type, {n, n}}, {ElementType::kS32, {}}};
  return result;
}

// X·op(A) = B is op(A)ᵀ·Xᵀ = Bᵀ: by columns, the matrices are their transposes.
absl::StatusOr<LibraryCall> Trsm(const CallReader& call, ElementType type) {
  int64_t side = call.Text("left_side") == "true" ? 'L' : 'R';
  int64_t uplo = call.Text("lower") == "true" ? 'L' : 'U';
  const absl::string_view name = call.Text("transpose_a");
  int64_t transpose = name == "TRANSPOSE" ? 'T' : name == "ADJOINT" ? 'C' : 'N';
  int64_t diagonal = call.Text("unit_diagonal") == "true" ? 'U' : 'N';
  if (call.instruction().opcode() == Opcode::kCustomCall) {
    HONE_ASSIGN_OR_RETURN(side, call.Letter("side", "LR"));
    HONE_ASSIGN_OR_RETURN(uplo, call.Letter("uplo", "LU"));
    HONE_ASSIGN_OR_RETURN(transpose, call.Letter("trans_x", "NTC"));
    HONE_ASSIGN_OR_RETURN(diagonal, call.Letter("diag", "NU"));
  }
  const int64_t m = call.size(1, 2);
  const int64_t n = call.size(1, 1);
  const int64_t order = side == 'L' ? m : n;
  LibraryCall result;
  result.function = "hone_lapack_trsm";
  result.attributes = {
      n, m, side == 'L' ? 'R' : 'L', OtherTriangle(uplo), transpose, diagonal};
  result.operands = {{type, {order, order}}, {type, {m, n}}};
  result.results = {{type, {m, n}}};
  return result;
}

absl::StatusOr<LibraryCall> Getrf(const CallReader& call, ElementType type) {
  const int64_t m = call.size(0, 2);
  const int64_t n = call.size(0, 1);
  const ElementType s32 = ElementType::kS32;
  return LibraryCall{
      "hone_lapack_getrf",
      {m, n},
      {{type, {m, n}, true}},
      {{type, {m, n}, true}, {s32, {std::min(m, n)}}, {s32, {}}}};
}

absl::StatusOr<LibraryCall> Geqrf(const CallReader& call, ElementType type) {
  const int64_t m = call.size(0, 2);
  const int64_t n = call.size(0, 1);
  return LibraryCall{"hone_lapack_geqrf",
                     {m, n},
                     {{type, {m, n}, true}},
                     {{type, {m, n}, true}, {type, {std::min(m, n)}}}};
}

absl::StatusOr<LibraryCall> Geqp3(const CallReader& call, ElementType type) {
  const int64_t m = call.size(0, 2);
  const int64_t n = call.size(0, 1);
  const LibraryArray pivots = {ElementType::kS32, {n}};
  return LibraryCall{"hone_lapack_geqp3",
                     {m, n},
                     {{type, {m, n}, true}, pivots},
                     {{type, {m, n}, true}, pivots, {type, {std::min(m, n)}}}};
}

absl::StatusOr<LibraryCall> Ungqr(const CallReader& call, ElementType type) {
  const int64_t m = call.size(0, 2);
  const int64_t n = call.size(0, 1);
  const int64_t k = call.size(1, 1);
  if (k > n || n > m) return Unsupported(call.instruction(), "its sizes");
  return LibraryCall{"hone_lapack_ungqr",
                     {m, n, k},
                     {{type, {m, n}, true}, {type, {k}}},
                     {{type, {m, n}, true}}};
}

absl::StatusOr<LibraryCall> Gehrd(const CallReader& call, ElementType type) {
  const int64_t n = call.size(0, 1);
  HONE_ASSIGN_OR_RETURN(const int64_t low, call.Number("low"));
  HONE_ASSIGN_OR_RETURN(const int64_t high, call.Number("high"));
  if (n < 1 || low < 1 || low > high || high > n) {
    return Unsupported(call.instruction(), "its sizes");
  }
  return LibraryCall{
      "hone_lapack_gehrd",
      {n, low, high},
      {{type, {n, n}, true}},
      {{type, {n, n}, true}, {type, {n - 1}}, {ElementType::kS32, {}}}};
}

absl::StatusOr<LibraryCall> Gtsv(const CallReader& call, ElementType type) {
  const int64_t n = call.size(3, 2);
  const int64_t columns = call.size(3, 1);
  const LibraryArray diagonal = {type, {n}};
  const LibraryArray b = {type, {n, columns}, true};
  return LibraryCall{
      "hone_lapack_gtsv",
      {n, columns},
      {diagonal, diagonal, diagonal, b},
      {diagonal, diagonal, diagonal, b, {ElementType::kS32, {}}}};
}

ElementType RealType(ElementType type) {
  if (type == ElementType::kC64) return ElementType::kF32;
  return type == ElementType::kC128 ? ElementType::kF64 : type;
}

ElementType ComplexType(ElementType type) {
  if (type == ElementType::kF32) return ElementType::kC64;
  return type == ElementType::kF64 ? ElementType::kC128 : type;
}

absl::StatusOr<LibraryCall> Heevd(const CallReader& call, ElementType type) {
  const int64_t n = call.size(0, 1);
  HONE_ASSIGN_OR_RETURN(const int64_t mode, call.Letter("mode", "NV"));
  HONE_ASSIGN_OR_RETURN(const int64_t uplo, call.Letter("uplo", "LU"));
  return LibraryCall{
      "hone_lapack_heevd",
      {n, mode, uplo},
      {{type, {n, n}, true}},
      {{type, {n, n}, true}, {RealType(type), {n}}, {ElementType::kS32, {}}}};
}

absl::StatusOr<LibraryCall> Geev(const CallReader& call, ElementType type) {
  const int64_t n = call.size(0, 1);
  HONE_ASSIGN_OR_RETURN(const int64_t left, call.Letter("compute_left", "NV"));
  HONE_ASSIGN_OR_RETURN(const int64_t right,
                        call.Letter("compute_right", "NV"));
  LibraryCall result = {
      "hone_lapack_geev", {n, left, right}, {{type, {n, n}, true}}, {}};
  result.results.assign(hlo::IsComplex(type) ? 1 : 2, {type, {n}});
  result.results.insert(result.results.end(), 2,
                        {ComplexType(type), {n, n}, true});
  result.results.push_back({ElementType::kS32, {}});
  return result;
}

absl::StatusOr<LibraryCall> Gees(const CallReader& call, ElementType type) {
  const int64_t n = call.size(0, 1);
  HONE_ASSIGN_OR_RETURN(const int64_t mode, call.Letter("mode", "NV"));
  HONE_RETURN_IF_ERROR(call.Letter("sort", "N").status());
  LibraryCall result = {
      "hone_lapack_gees", {n, mode}, {{type, {n, n}, true}}, {}};
  result.results.assign(2, {type, {n, n}, true});
  result.results.insert(result.results.end(), hlo::IsComplex(type) ? 1 : 2,
                        {type, {n}});
  result.results.insert(result.results.end(), 2, {ElementType::kS32, {}});
  return result;
}

absl::StatusOr<LibraryCall> Gesdd(const CallReader& call, ElementType type) {
  const int64_t m = call.size(0, 2);
  const int64_t n = call.size(0, 1);
  const int64_t least = std::min(m, n);
  HONE_ASSIGN_OR_RETURN(const int64_t mode, call.Letter("mode", "ASN"));
  // Without vectors, the results have the shapes of one of the other modes,
  // which differ in the vectors of the longer side.
  const auto& elements = call.instruction().shape().tuple_elements();
  const size_t longer = m > n ? 2 : 3;
  const int from_end = m > n ? 1 : 2;
  const bool is_thin =
      mode == 'S' ||
      (mode == 'N' && elements.size() == 5 && elements[longer]->IsArray() &&
       elements[longer]->rank() >= from_end &&
       elements[longer]->dimensions().rbegin()[from_end - 1] == least);
  return LibraryCall{"hone_lapack_gesdd",
                     {m, n, mode},
                     {{type, {m, n}, true}},
                     {{type, {m, n}, true},
                      {RealType(type), {least}},
                      {type, {m, is_thin ? least : m}, true},
                      {type, {is_thin ? least : n, n}, true},
                      {ElementType::kS32, {}}}};
}

struct Routine {
  absl::string_view name;  // of the target, without the letter of the type
  absl::StatusOr<LibraryCall> (*read)(const CallReader&, ElementType);
};

constexpr Routine kRoutines[] = {
    {"potrf", &Potrf}, {"trsm", &Trsm},   {"getrf", &Getrf}, {"geqrf", &Geqrf},
    {"geqp3", &Geqp3}, {"orgqr", &Ungqr}, {"ungqr", &Ungqr}, {"gehrd", &Gehrd},
    {"gtsv", &Gtsv},   {"syevd", &Heevd}, {"heevd", &Heevd}, {"geev", &Geev},
    {"gees", &Gees},   {"gesdd", &Gesdd}};

std::optional<int64_t> TypeNumber(ElementType type) {
  constexpr ElementType kTypes[] = {ElementType::kF32, ElementType::kF64,
                                    ElementType::kC64, ElementType::kC128};
  const auto* at = std::find(std::begin(kTypes), std::end(kTypes), type);
  if (at == std::end(kTypes)) return std::nullopt;
  return at - std::begin(kTypes);
}

// The routine of an instruction and the type that the target names.
struct Choice {
  const Routine* routine = nullptr;
  std::optional<ElementType> type;
};

Choice Choose(const Instruction& instruction) {
  if (instruction.opcode() == Opcode::kCholesky) return {&kRoutines[0], {}};
  if (instruction.opcode() == Opcode::kTriangularSolve) {
    return {&kRoutines[1], {}};
  }
  if (instruction.opcode() != Opcode::kCustomCall) return {};
  const auto call =
      hlo::LapackCall::OfTarget(instruction.attributes().custom_call_target);
  if (!call.has_value()) return {};
  for (const Routine& routine : kRoutines) {
    if (routine.name == call->routine) return {&routine, call->type};
  }
  return {};
}

DimensionVector Joined(const DimensionVector& batch,
                       const LibraryArray& array) {
  DimensionVector dimensions = batch;
  dimensions.insert(dimensions.end(), array.dimensions.begin(),
                    array.dimensions.end());
  return dimensions;
}

// Returns the layouts that XLA passes such operands with, as HLO text.
std::string ExpectedLayouts(const std::vector<LibraryArray>& operands,
                            const DimensionVector& batch) {
  std::vector<std::string> shapes;
  for (const LibraryArray& operand : operands) {
    const DimensionVector dimensions = Joined(batch, operand);
    DimensionVector order;
    for (size_t i = dimensions.size(); i-- > 0;) {
      order.push_back(static_cast<int64_t>(i));
    }
    if (operand.dimensions.size() == 2) std::swap(order[0], order[1]);
    std::string text = absl::StrCat(hlo::ElementTypeName(operand.type), "[",
                                    absl::StrJoin(dimensions, ","), "]");
    if (!order.empty())
      absl::StrAppend(&text, "{", absl::StrJoin(order, ","), "}");
    shapes.push_back(std::move(text));
  }
  return absl::StrCat("{", absl::StrJoin(shapes, ","), "}");
}

// Checks that the operands and results are those of the call.
absl::Status CheckArrays(const CallReader& reader, const LibraryCall& call,
                         const DimensionVector& batch) {
  const Instruction& instruction = reader.instruction();
  const auto is = [&](const Shape& shape, const LibraryArray& array) {
    return !shape.IsTuple() && !shape.is_dynamic() &&
           shape.element_type() == array.type &&
           shape.dimensions() == Joined(batch, array);
  };
  bool fits = instruction.operand_count() == call.operands.size();
  for (size_t i = 0; fits && i < call.operands.size(); ++i) {
    fits = is(reader.operand(i), call.operands[i]);
  }
  if (!fits) return Unsupported(instruction, "the shapes of its operands");
  const Shape& shape = instruction.shape();
  if (!shape.IsTuple()) {
    fits = is(shape, call.results[0]);
  } else {
    const auto& elements = shape.tuple_elements();
    fits = elements.size() == call.results.size();
    for (size_t i = 0; fits && i < elements.size(); ++i) {
      fits = is(*elements[i], call.results[i]);
    }
  }
  if (!fits) return Unsupported(instruction, "the shape of its result");
  std::string layouts(reader.Text("operand_layout_constraints"));
  layouts.erase(std::remove(layouts.begin(), layouts.end(), ' '),
                layouts.end());
  if (!layouts.empty() && layouts != ExpectedLayouts(call.operands, batch)) {
    return Unsupported(instruction, "the layouts of its operands");
  }
  return absl::OkStatus();
}

}  // namespace

bool IsLinearAlgebra(const Instruction& instruction) {
  return Choose(instruction).routine != nullptr;
}

absl::StatusOr<LibraryCall> ReadLapackCall(const hlo::Computation& computation,
                                           const Instruction& instruction) {
  const Choice choice = Choose(instruction);
  const CallReader reader(computation, instruction);
  const absl::string_view name = choice.routine->name;
  // The first operand with two dimensions per matrix.
  const size_t matrix = name == "gtsv" ? 3 : name == "trsm" ? 1 : 0;
  const size_t least = absl::EndsWith(name, "gqr") ? 2 : matrix + 1;
  if (instruction.operand_count() < least) {
    return Unsupported(instruction, "its operands");
  }
  int64_t greatest = 0;
  for (size_t i = 0; i < instruction.operand_count(); ++i) {
    const Shape& shape = reader.operand(i);
    if (!shape.IsArray() || shape.rank() < (i == matrix ? 2 : 1)) {
      return Unsupported(instruction, "the shapes of its operands");
    }
    for (int64_t size : shape.dimensions()) greatest = std::max(greatest, size);
  }
  if (greatest > std::numeric_limits<int32_t>::max()) {
    return Unsupported(instruction, "its sizes");
  }
  const Shape& shape = reader.operand(matrix);
  const ElementType type = choice.type.value_or(shape.element_type());
  const std::optional<int64_t> number = TypeNumber(type);
  if (!number.has_value()) {
    return Unsupported(
        instruction, absl::StrCat("element type ", hlo::ElementTypeName(type)));
  }
  const DimensionVector batch(shape.dimensions().begin(),
                              shape.dimensions().end() - 2);
  HONE_ASSIGN_OR_RETURN(LibraryCall call, choice.routine->read(reader, type));
  HONE_RETURN_IF_ERROR(CheckArrays(reader, call, batch));
  int64_t matrices = 1;
  for (int64_t size : batch) matrices *= size;
  const DimensionVector first = {*number, matrices};
  call.attributes.insert(call.attributes.begin(), first.begin(), first.end());
  for (LibraryArray& array : call.operands)
    array.dimensions = Joined(batch, array);
  for (LibraryArray& array : call.results)
    array.dimensions = Joined(batch, array);
  return call;
}

}  // namespace hone::loops
