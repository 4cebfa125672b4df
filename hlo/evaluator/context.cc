#include "hlo/evaluator/context.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/clock.h"
#include "base/status_macros.h"
#include "hlo/evaluator/elementwise/elementwise.h"
#include "hlo/evaluator/kernels.h"
#include "hlo/evaluator/rounding_noise.h"

namespace hone::hlo::evaluator {
namespace {

// Units in the last place by which the terms of a sum are moved: partial sums,
// which are rounded, are larger than terms.
constexpr int kTermNoise = 4;

// Elements worth handing to another thread.
constexpr int64_t kElementwiseGrain = 32 * ElementwiseProgram::kBlock;

// Bytes worth handing to another thread.
constexpr int64_t kCopyGrain = int64_t{1} << 18;

// Computes `instruction` from inputs, in one of their buffers if one is free.
absl::StatusOr<Literal> RunProgram(Context& context,
                                   const ElementwiseProgram& program,
                                   const Instruction& instruction,
                                   absl::Span<Literal> values) {
  const ShapePtr& shape = instruction.shape_ptr();
  const int64_t n = shape->num_elements();
  Literal result;
  std::vector<ElementwiseProgram::Input> inputs;
  inputs.reserve(values.size());
  for (Literal& value : values) {
    const bool is_splat = value.num_elements() != n;
    inputs.push_back({value.data(), is_splat});
    if (!is_splat && result.data() == nullptr && value.has_unique_data() &&
        ByteWidth(value.shape().element_type()) ==
            ByteWidth(shape->element_type())) {
      result = value.Reshaped(shape);
    }
  }
  if (result.data() == nullptr) {
    HONE_ASSIGN_OR_RETURN(result, context.Allocate(shape));
  }
  std::byte* const output = result.MutableData();
  HONE_RETURN_IF_ERROR(context.ParallelFor(
      n, kElementwiseGrain, [&](int64_t begin, int64_t end) {
        ElementwiseProgram::Workspace workspace(program, end - begin);
        program.Run(inputs, {&output, 1}, begin, end, workspace);
      }));
  return result;
}

// Returns true if there are arrays of floats and none is narrower than f64.
bool AreInDouble(absl::Span<const Literal> arrays) {
  bool has_double = false;
  for (const Literal& array : arrays) {
    const ElementType type = array.shape().element_type();
    if (type == ElementType::kF64 || type == ElementType::kC128) {
      has_double = true;
    } else if (IsFloat(type) || IsComplex(type)) {
      return false;
    }
  }
  return has_double;
}

absl::StatusOr<Literal> RunStep(Context& context,
                                const Computation& computation,
                                const Plan::Step& step,
                                absl::Span<Literal> inputs) {
  const Instruction& instruction = computation[step.id];
  if (step.program != nullptr) {
    return RunProgram(context, *step.program, instruction, inputs);
  }
  const Kernel kernel = KernelFor(instruction.opcode());
  if (kernel == nullptr) return UnimplementedError(instruction);
  ShapePtr operand_shape;
  if (instruction.opcode() == Opcode::kBitcast) {
    operand_shape = computation[instruction.operand(0)].shape_ptr();
  }
  return kernel(context, {instruction, inputs, std::move(operand_shape)});
}

}  // namespace

Context::Context(const Module& module, const EvaluateOptions& options)
    : module_(module),
      pool_(options.pool),
      max_live_bytes_(options.max_live_bytes),
      deadline_(options.time_limit == absl::InfiniteDuration()
                    ? absl::InfiniteDuration()
                    : SystemClock().Monotonic() + options.time_limit),
      loop_steps_left_(options.max_loop_steps),
      coverage_(options.coverage),
      take_output_(options.take_output),
      on_value_(options.on_value),
      buffers_(options.buffers != nullptr
                   ? options.buffers
                   : BufferPool::Create(options.max_live_bytes)) {
  if (options.rounding_noise != 0) noise_.emplace(options.rounding_noise);
}

absl::StatusOr<Literal> Context::Allocate(const ShapePtr& shape) {
  const int64_t bytes = shape->byte_size();
  std::shared_ptr<std::byte[]> data = buffers_->Allocate(bytes);
  if (data == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("evaluation needs ", bytes, " bytes for ",
                     shape->ToString(), " beyond ", buffers_->live_bytes(),
                     " in use, expected at most ", max_live_bytes_, " in all"));
  }
  return Literal(shape, std::move(data));
}

absl::Status Context::MakeUnique(Literal& array) {
  if (array.has_unique_data()) return absl::OkStatus();
  HONE_ASSIGN_OR_RETURN(Literal copy, Allocate(array.shape_ptr()));
  std::byte* const data = copy.MutableData();
  HONE_RETURN_IF_ERROR(ParallelFor(
      array.byte_size(), kCopyGrain, [&](int64_t begin, int64_t end) {
        std::memcpy(data + begin, array.data() + begin,
                    static_cast<size_t>(end - begin));
      }));
  array = std::move(copy);
  return absl::OkStatus();
}

bool Context::Expired() const {
  return deadline_ != absl::InfiniteDuration() &&
         SystemClock().Monotonic() > deadline_;
}

absl::Status Context::CheckDeadline() const {
  if (!Expired()) return absl::OkStatus();
  return absl::DeadlineExceededError("evaluation exceeded its time limit");
}

absl::Status Context::CountLoopStep() {
  if (loop_steps_left_-- > 0) return CheckDeadline();
  return absl::ResourceExhaustedError(
      "evaluation exceeded its limit on loop steps");
}

absl::Status Context::ParallelFor(
    int64_t n, int64_t grain,
    const std::function<void(int64_t, int64_t)>& body) {
  grain = std::max<int64_t>(grain, 1);
  if (n <= grain) {
    if (n > 0) body(0, n);
    return absl::OkStatus();
  }
  const auto sliced = [&](int64_t begin, int64_t end) {
    if (deadline_ == absl::InfiniteDuration()) return body(begin, end);
    // A slice is some milliseconds of work.
    const int64_t slice = grain * 16;
    for (int64_t at = begin; at < end && !Expired(); at += slice) {
      body(at, std::min(at + slice, end));
    }
  };
  if (pool_ != nullptr) {
    pool_->ParallelFor(n, grain, sliced);
  } else {
    sliced(0, n);
  }
  return CheckDeadline();
}

const Plan& Context::PlanOf(ComputationId id) {
  std::unique_ptr<Plan>& plan = plans_[id];
  if (plan == nullptr) {
    PlanOptions options{
        .observes_predicates = coverage_ != nullptr,
        .takes_outputs = take_output_ != nullptr && id == module_.entry()};
    if (noise_.has_value()) {
      options.stands_alone = [this](const Instruction& instruction) {
        return IsRounded(module_, instruction);
      };
    }
    plan = std::make_unique<Plan>(MakePlan(module_.computation(id), options));
  }
  return *plan;
}

absl::Status Context::Deliver(ComputationId id, const Plan::Step& step,
                              Literal& value) {
  if (step.decides) {
    coverage_->AddPredicate(id, step.id, value.AsInt(0) != 0);
  }
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    const bool is_last = step.is_only_output && i + 1 == step.outputs.size();
    HONE_RETURN_IF_ERROR(
        take_output_(step.outputs[i], is_last ? std::move(value) : value));
  }
  if (step.is_only_output) value = Literal();
  return absl::OkStatus();
}

absl::StatusOr<Literal> Context::Run(ComputationId id,
                                     std::vector<Literal> arguments) {
  const ComputationId caller = std::exchange(running_, id);
  absl::StatusOr<Literal> result = RunSteps(id, std::move(arguments));
  running_ = caller;
  return result;
}

absl::StatusOr<Literal> Context::RunSteps(ComputationId id,
                                          std::vector<Literal> arguments) {
  const Computation& computation = module_.computation(id);
  const Plan& plan = PlanOf(id);
  std::vector<Literal> values(static_cast<size_t>(computation.slot_count()));
  std::vector<Literal> inputs;
  for (const Plan::Step& step : plan.steps) {
    HONE_RETURN_IF_ERROR(CheckDeadline());
    const Instruction& instruction = computation[step.id];
    Literal& value = values[static_cast<size_t>(step.id)];
    if (instruction.opcode() == Opcode::kParameter) {
      value = std::move(arguments[static_cast<size_t>(instruction.index())]);
      HONE_RETURN_IF_ERROR(Deliver(id, step, value));
      continue;
    }
    inputs.clear();
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      Literal& input = values[static_cast<size_t>(step.inputs[i])];
      inputs.push_back(step.last_use[i] ? std::move(input) : input);
    }
    for (const Plan::Beside& beside : step.beside) {
      coverage_->AddSide(
          id, step.id, beside.number, inputs[beside.value].AsDouble(0),
          beside.bound ? inputs[*beside.bound].AsDouble(0) : beside.constant);
    }
    HONE_ASSIGN_OR_RETURN(
        value, noise_.has_value() && Accumulates(module_, instruction)
                   ? RunSum(computation, step, std::move(inputs))
                   : RunStep(*this, computation, step, absl::MakeSpan(inputs)));
    if (noise_.has_value() && IsRounded(module_, instruction)) {
      inputs.clear();
      AddRoundingNoise(value, 1, noise_->Next(), pool_);
    }
    if (on_value_ != nullptr && id == module_.entry()) {
      on_value_(step.id, value);
    }
    // Buffers of operands that nothing needs any more are free again.
    inputs.clear();
    HONE_RETURN_IF_ERROR(Deliver(id, step, value));
  }
  if (take_output_ != nullptr && id == module_.entry()) {
    return Literal::Tuple({});
  }
  return std::move(values[static_cast<size_t>(computation.root())]);
}

absl::Status Context::ChangeTerms(absl::Span<Literal> terms,
                                  const std::function<void(Literal&)>& change) {
  for (Literal& array : terms) {
    const ElementType type = array.shape().element_type();
    if (!IsFloat(type) && !IsComplex(type)) continue;
    HONE_RETURN_IF_ERROR(MakeUnique(array));
    change(array);
  }
  return absl::OkStatus();
}

absl::StatusOr<Literal> Context::RunSum(const Computation& computation,
                                        const Plan::Step& step,
                                        std::vector<Literal> inputs) {
  const auto run = [&](std::vector<Literal> terms,
                       const std::function<void(Literal&)>& change)
      -> absl::StatusOr<Literal> {
    HONE_RETURN_IF_ERROR(ChangeTerms(absl::MakeSpan(terms), change));
    return RunStep(*this, computation, step, absl::MakeSpan(terms));
  };
  const auto move = [&](Moves moves) {
    return [this, moves](Literal& array) {
      AddRoundingNoise(array, kTermNoise, noise_->Next(), pool_, moves);
    };
  };
  if (!AreInDouble(inputs) ||
      !AccumulatesSmoothly(module_, computation[step.id]) ||
      std::none_of(inputs.begin(), inputs.end(), HasFewDigits)) {
    return run(std::move(inputs), move(Moves::kRounded));
  }
  // Terms of few digits stay, so that a sum of them stays exact. Beside others,
  // however, large ones make large partial sums, which are rounded: such a sum
  // is taken of terms that all are moved. In narrower types double precision
  // shows that rounding.
  HONE_ASSIGN_OR_RETURN(Literal sum, run(inputs, move(Moves::kRounded)));
  HONE_ASSIGN_OR_RETURN(const Literal exact, run(inputs, [&](Literal& array) {
                          EnlargeRounded(array, pool_);
                        }));
  HONE_ASSIGN_OR_RETURN(const Literal other,
                        run(std::move(inputs), move(Moves::kAll)));
  if (!sum.shape().IsTuple()) {
    HONE_RETURN_IF_ERROR(MakeUnique(sum));
    ReplaceDiffering(sum, exact, other, pool_);
    return sum;
  }
  std::vector<Literal> sums = sum.elements();
  sum = Literal();
  for (size_t i = 0; i < sums.size(); ++i) {
    HONE_RETURN_IF_ERROR(MakeUnique(sums[i]));
    ReplaceDiffering(sums[i], exact.elements()[i], other.elements()[i], pool_);
  }
  return Literal::Tuple(std::move(sums));
}

absl::StatusOr<Literal> EvaluateElementwise(Context& context,
                                            const Operation& operation) {
  ElementwiseProgram program;
  std::vector<ElementwiseProgram::Register> operands;
  for (const Literal& operand : operation.operands) {
    operands.push_back(program.AddInput(operand.shape().element_type()));
  }
  const auto result = program.AddInstruction(operation.instruction, operands);
  if (!result) {
    return UnimplementedError(
        operation.instruction,
        operation.operands.empty()
            ? ""
            : absl::StrCat("no arithmetic on ",
                           operation.operands.back().shape().ToString()));
  }
  program.AddOutput(*result);
  return RunProgram(context, program, operation.instruction,
                    operation.operands);
}

absl::StatusOr<Literal> Convert(Context& context, Literal literal,
                                ElementType type) {
  if (literal.shape().element_type() == type) return literal;
  const Instruction convert(Opcode::kConvert,
                            WithElementType(literal.shape(), type));
  return EvaluateElementwise(context, {convert, {&literal, 1}});
}

}  // namespace hone::hlo::evaluator
