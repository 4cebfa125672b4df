#include "loops/interpreter/statement_interpreter.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

#include "hlo/evaluator/types.h"
#include "hlo/ir/literal.h"

namespace hone::loops {
namespace {

using hlo::ElementType;
using hlo::Opcode;
using hlo::evaluator::ComputeType;

int64_t LoadInteger(ElementType type, const std::byte* data) {
  return hlo::evaluator::DispatchType(
      ComputeType(type), [data]<typename T>() -> int64_t {
        if constexpr (hlo::evaluator::Integer<T>) {
          T value;
          std::memcpy(&value, data, sizeof(T));
          return static_cast<int64_t>(value);
        } else {
          return 0;
        }
      });
}

}  // namespace

SlotAffine::SlotAffine(const Affine& affine, absl::Span<const VarId> vars)
    : constant(affine.constant()) {
  for (const Affine::Term& term : affine.terms()) {
    const auto at = std::find(vars.begin(), vars.end(), term.var);
    terms.emplace_back(static_cast<int32_t>(at - vars.begin()),
                       term.coefficient);
  }
}

StatementInterpreter::StatementInterpreter(const Statement& statement,
                                           const Path& path,
                                           absl::Span<const VarId> vars,
                                           std::vector<Storage>& storages,
                                           const ParallelStamps& stamps)
    : path_(path),
      vars_(vars.begin(), vars.end()),
      combines_(statement.combine.has_value()),
      storages_(storages),
      stamps_(stamps) {
  if (statement.predicate != nullptr) {
    predicate_ = Compile(*statement.predicate);
  }
  if (statement.combine) {
    const ElementType type = statement.value->type();
    value_ = Compile(*Expression::Apply(
        *statement.combine, type,
        {Expression::Load(type, statement.target), statement.value}));
  } else {
    value_ = Compile(*statement.value);
  }
  target_ = Compile(statement.target);
}

StatementInterpreter::StepId StatementInterpreter::Add(Step step) {
  steps_.push_back(std::move(step));
  return static_cast<StepId>(steps_.size() - 1);
}

StatementInterpreter::StepId StatementInterpreter::Compile(
    const Expression& e) {
  Step step;
  switch (e.kind()) {
    case Expression::Kind::kConstant: {
      const hlo::Literal literal =
          hlo::IsFloat(e.type()) || hlo::IsComplex(e.type())
              ? hlo::Literal::Scalar(e.type(), e.number())
              : hlo::Literal::ScalarInt(e.type(), e.integer());
      std::memcpy(step.value, literal.data(),
                  static_cast<size_t>(literal.byte_size()));
      return Add(std::move(step));
    }
    case Expression::Kind::kLoad:
      step.kind = Kind::kLoad;
      step.access = Compile(e.access());
      return Add(std::move(step));
    case Expression::Kind::kIndex:
      step.kind = Kind::kIndex;
      step.index = SlotAffine(e.index(), vars_);
      return Convert(Add(std::move(step)), ElementType::kS64, e.type());
    case Expression::Kind::kApply:
      return CompileApply(e);
    case Expression::Kind::kWhere:
      break;
  }
  step.kind = Kind::kWhere;
  for (const Range& range : e.ranges()) {
    step.ranges.push_back({SlotAffine(range.value, vars_), range.lo, range.hi});
  }
  for (const ExpressionPtr& operand : e.operands()) {
    step.operands.push_back(Compile(*operand));
  }
  return Add(std::move(step));
}

StatementInterpreter::StepId StatementInterpreter::CompileApply(
    const Expression& e) {
  const Expression& last = *e.operands().back();
  if (e.opcode() == Opcode::kCopy) return Compile(last);
  if (e.opcode() == Opcode::kConvert) {
    return Convert(Compile(last), last.type(), e.type());
  }
  const auto [fn, moves_data] = hlo::evaluator::KernelOf(
      e.opcode(), e.direction(), e.total_order(), last.type(), e.type());
  Step step;
  step.kind = Kind::kCall;
  step.fn = fn;
  for (const ExpressionPtr& operand : e.operands()) {
    const ElementType type = operand->type();
    step.operands.push_back(Convert(Compile(*operand), type,
                                    moves_data ? type : ComputeType(type)));
  }
  return Convert(Add(std::move(step)),
                 moves_data ? e.type() : ComputeType(e.type()), e.type());
}

StatementInterpreter::SlotAccess StatementInterpreter::Compile(
    const Access& access) {
  SlotAccess result;
  result.storage = &storages_[static_cast<size_t>(access.buffer)];
  const Buffer& buffer = *result.storage->buffer;
  result.width = hlo::ByteWidth(buffer.type);
  const bool flat = access.indices.size() != buffer.dimensions.size();
  for (size_t i = 0; i < access.indices.size(); ++i) {
    SlotIndex index;
    index.affine = SlotAffine(access.indices[i].affine, vars_);
    if (access.indices[i].offset != nullptr) {
      index.offset = Compile(*access.indices[i].offset);
      index.offset_type = access.indices[i].offset->type();
    }
    index.size = flat ? buffer.allocated_elements() : buffer.dimensions[i];
    index.stride = flat ? 1 : buffer.strides[i];
    result.indices.push_back(std::move(index));
  }
  return result;
}

StatementInterpreter::StepId StatementInterpreter::Convert(StepId value,
                                                           ElementType from,
                                                           ElementType to) {
  if (from == to) return value;
  for (ElementType next : hlo::evaluator::ConversionPath(from, to)) {
    Step step;
    step.kind = Kind::kCall;
    step.fn = hlo::evaluator::ConvertFn(from, next);
    step.operands = {value};
    value = Add(std::move(step));
    from = next;
  }
  return value;
}

bool StatementInterpreter::Run(const int64_t* values) {
  Write write;
  return Prepare(values, write) && Store(write);
}

bool StatementInterpreter::RunLanes(int64_t* values,
                                    absl::Span<const int64_t> lanes) {
  int64_t& value_of_lane = values[vars_.size() - 1];
  if (combines_) {
    return std::all_of(lanes.begin(), lanes.end(), [&](int64_t lane) {
      value_of_lane = lane;
      return Run(values);
    });
  }
  const auto width = static_cast<size_t>(target_.width);
  std::vector<Write> writes(lanes.size());
  std::vector<std::byte> data(lanes.size() * width);
  for (size_t i = 0; i < lanes.size(); ++i) {
    value_of_lane = lanes[i];
    if (!Prepare(values, writes[i])) return false;
    if (writes[i].value == nullptr) continue;
    std::memcpy(&data[i * width], writes[i].value, width);
    writes[i].value = &data[i * width];
  }
  return std::all_of(writes.begin(), writes.end(),
                     [this](const Write& write) { return Store(write); });
}

bool StatementInterpreter::Prepare(const int64_t* values, Write& write) {
  values_ = values;
  if (predicate_ >= 0) {
    const std::byte* holds = Evaluate(predicate_);
    if (holds == nullptr) return false;
    if (*holds == std::byte{0}) return true;
  }
  write.value = Evaluate(value_);
  if (write.value == nullptr) return false;
  write.element = Locate(target_);
  return write.element >= 0;
}

bool StatementInterpreter::Store(const Write& write) {
  if (write.value == nullptr) return true;
  Storage& storage = *target_.storage;
  if (!NoteWrite(storage, write.element)) return false;
  // The value may alias the element.
  std::memmove(storage.data + write.element * target_.width, write.value,
               static_cast<size_t>(target_.width));
  storage.written[static_cast<size_t>(write.element)] = storage.life;
  return true;
}

bool StatementInterpreter::NoteRead(Storage& storage, int64_t element) {
  if (stamps_.now == 0 || storage.readers.empty()) return true;
  const auto at = static_cast<size_t>(element);
  const uint64_t writer = storage.writers[at];
  if (writer >= stamps_.first && writer != stamps_.now) {
    return FailShared(storage, element, writer);
  }
  uint64_t& reader = storage.readers[at];
  const bool is_first = reader < stamps_.first || reader == stamps_.now;
  reader = is_first ? stamps_.now : stamps_.several;
  return true;
}

bool StatementInterpreter::NoteWrite(Storage& storage, int64_t element) {
  if (stamps_.now == 0 || storage.writers.empty()) return true;
  const auto at = static_cast<size_t>(element);
  for (const uint64_t other : {storage.writers[at], storage.readers[at]}) {
    if (other >= stamps_.first && other != stamps_.now) {
      return FailShared(storage, element, other);
    }
  }
  storage.writers[at] = stamps_.now;
  return true;
}

bool StatementInterpreter::FailShared(const Storage& storage, int64_t element,
                                      uint64_t other) {
  Fail(absl::StrCat(
      "element ", element, " of ", storage.buffer->name, " is accessed by ",
      other == stamps_.several
          ? std::string("several iterations")
          : absl::StrCat("iteration ", other - stamps_.first),
      " of the parallel loop, too, expected no other to access what one "
      "writes"));
  return false;
}

const std::byte* StatementInterpreter::Evaluate(StepId id) {
  Step& step = steps_[static_cast<size_t>(id)];
  switch (step.kind) {
    case Kind::kConstant:
      return step.value;
    case Kind::kIndex: {
      const int64_t index = step.index.Evaluate(values_);
      std::memcpy(step.value, &index, sizeof(index));
      return step.value;
    }
    case Kind::kLoad: {
      const int64_t element = Locate(step.access);
      if (element < 0) return nullptr;
      Storage& storage = *step.access.storage;
      if (!storage.written.empty() &&
          storage.written[static_cast<size_t>(element)] != storage.life) {
        Fail(absl::StrCat("element ", element, " of ", storage.buffer->name,
                          " is read but has no value yet, expected a "
                          "statement before to write it"));
        return nullptr;
      }
      if (!NoteRead(storage, element)) return nullptr;
      return storage.data + element * step.access.width;
    }
    case Kind::kCall: {
      const void* operands[3];
      for (size_t i = 0; i < step.operands.size(); ++i) {
        operands[i] = Evaluate(step.operands[i]);
        if (operands[i] == nullptr) return nullptr;
      }
      step.fn(operands, step.value, 1);
      return step.value;
    }
    case Kind::kWhere:
      break;
  }
  for (const SlotRange& range : step.ranges) {
    const int64_t value = range.value.Evaluate(values_);
    if (value < range.lo || value >= range.hi) {
      return Evaluate(step.operands[1]);
    }
  }
  return Evaluate(step.operands[0]);
}

int64_t StatementInterpreter::Locate(const SlotAccess& access) {
  int64_t element = 0;
  for (size_t i = 0; i < access.indices.size(); ++i) {
    const SlotIndex& index = access.indices[i];
    int64_t value = index.affine.Evaluate(values_);
    if (index.offset >= 0) {
      const std::byte* offset = Evaluate(index.offset);
      if (offset == nullptr) return -1;
      // An index that overflows is out of bounds either way.
      if (__builtin_add_overflow(value, LoadInteger(index.offset_type, offset),
                                 &value)) {
        value = -1;
      }
    }
    if (value < 0 || value >= index.size) {
      Fail(absl::StrCat("index ", i, " of ", access.storage->buffer->name,
                        " is ", value, ", expected 0 to ", index.size - 1));
      return -1;
    }
    element += value * index.stride;
  }
  return element;
}

void StatementInterpreter::Fail(const std::string& message) {
  error_ = absl::StrCat("at ", PathText(path_), ": ", message);
  for (size_t depth = 0; depth < vars_.size(); ++depth) {
    absl::StrAppend(&error_, depth == 0 ? " (where i" : ", i", depth, " = ",
                    values_[depth], depth + 1 == vars_.size() ? ")" : "");
  }
}

}  // namespace hone::loops
