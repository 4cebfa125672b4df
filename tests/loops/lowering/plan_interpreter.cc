#include "tests/loops/lowering/plan_interpreter.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"

#include "backends/cpu/library/library.h"
#include "base/status_macros.h"
#include "loops/interpreter/interpreter.h"

namespace hone::loops {
namespace {

constexpr int64_t kAlignment = 64;
// Loops of tests end sooner.
constexpr int kMaxIterations = 100000;

struct Bytes {
  std::byte* data = nullptr;
  int64_t bytes = 0;

  bool Overlaps(const Bytes& other) const {
    return data < other.data + other.bytes && other.data < data + bytes;
  }
};

class Caller {
 public:
  explicit Caller(const ModulePlan& plan) : plan_(plan) {}

  absl::Status Call(int32_t index, const std::vector<Bytes>& parameters,
                    const std::vector<Bytes>& results, const Bytes& arena) {
    const PlanFunction& function = plan_.functions[static_cast<size_t>(index)];
    if (arena.bytes < function.arena_bytes) {
      return absl::InternalError("an arena is too small");
    }
    if (arena.bytes > 0) {
      std::memset(arena.data, 0xA5, static_cast<size_t>(arena.bytes));
    }
    std::vector<Bytes> slots;
    for (const Slot& slot : function.slots) {
      const int64_t bytes = slot.shape->byte_size();
      std::byte* data = nullptr;
      if (slot.literal != nullptr) {
        data = const_cast<std::byte*>(slot.literal->data());
      } else if (slot.arena_offset >= 0) {
        if (slot.arena_offset % kAlignment != 0 ||
            slot.arena_offset + bytes > function.arena_bytes) {
          return absl::InternalError("a slot is not in its arena");
        }
        data = arena.data + slot.arena_offset;
      }
      slots.push_back({data, bytes});
    }
    if (function.parameters.size() != parameters.size() ||
        function.results.size() != results.size()) {
      return absl::InternalError(
          absl::StrCat("a wrong call of ", function.name));
    }
    for (size_t i = 0; i < parameters.size(); ++i) {
      slots[static_cast<size_t>(function.parameters[i])].data =
          parameters[i].data;
    }
    for (size_t i = 0; i < results.size(); ++i) {
      Bytes& slot = slots[static_cast<size_t>(function.results[i])];
      const auto is_parameter =
          std::find(function.parameters.begin(), function.parameters.end(),
                    function.results[i]) != function.parameters.end();
      if (slot.data == results[i].data && is_parameter) continue;
      if (slot.data != nullptr) {
        return absl::InternalError("a result lies elsewhere already");
      }
      slot.data = results[i].data;
    }
    for (const PlanStep& step : function.steps) {
      HONE_RETURN_IF_ERROR(
          std::visit([&](const auto& s) { return Run(s, slots); }, step));
    }
    return absl::OkStatus();
  }

 private:
  static std::vector<Bytes> At(const std::vector<Bytes>& slots,
                               const std::vector<SlotId>& ids) {
    std::vector<Bytes> memory;
    for (SlotId id : ids) memory.push_back(slots[static_cast<size_t>(id)]);
    return memory;
  }

  absl::Status Run(const KernelStep& step, const std::vector<Bytes>& slots) {
    const Program& kernel = plan_.kernels[static_cast<size_t>(step.kernel)];
    const std::vector<Bytes> from = At(slots, step.arguments);
    const std::vector<Bytes> to = At(slots, step.results);
    // In-out arrays come after the arguments.
    std::vector<hlo::Literal> arguments(from.size() + to.size());
    for (const BufferPtr& buffer : kernel.buffers()) {
      if (buffer->memory != Memory::kArgument &&
          buffer->memory != Memory::kInOut) {
        continue;
      }
      const bool is_argument = buffer->memory == Memory::kArgument;
      const size_t i = static_cast<size_t>(buffer->number);
      const Bytes& bytes = is_argument ? from[i] : to[i];
      hlo::Literal literal(hlo::Shape::Array(buffer->type, buffer->dimensions));
      if (literal.byte_size() != bytes.bytes) {
        return absl::InternalError("a slot is not of the argument's size");
      }
      std::copy_n(bytes.data, bytes.bytes, literal.MutableData());
      arguments[is_argument ? i : from.size() + i] = std::move(literal);
    }
    size_t next = from.size();
    for (size_t i = next; i < arguments.size(); ++i) {
      if (arguments[i].shape_ptr() == nullptr) continue;
      arguments[next++] = arguments[i];
    }
    arguments.resize(next);
    for (size_t i = 0; i < to.size(); ++i) {
      for (size_t j = 0; j < from.size() + i; ++j) {
        if (to[i].Overlaps(j < from.size() ? from[j] : to[j - from.size()])) {
          return absl::InternalError(absl::StrCat(
              "results of kernel ", kernel.name(), " overlap what it reads"));
        }
      }
    }
    HONE_ASSIGN_OR_RETURN(const std::vector<hlo::Literal> results,
                          Interpret(kernel, arguments));
    for (size_t i = 0; i < results.size(); ++i) {
      std::copy_n(results[i].data(), to[i].bytes, to[i].data);
    }
    return absl::OkStatus();
  }

  absl::Status Run(const LibraryStep& step, const std::vector<Bytes>& slots) {
    std::vector<const void*> from;
    for (const Bytes& bytes : At(slots, step.arguments)) {
      from.push_back(bytes.data);
    }
    std::vector<void*> to;
    for (const Bytes& bytes : At(slots, step.results)) to.push_back(bytes.data);
#define HONE_LIBRARY_FUNCTION(name)                       \
  if (step.function == #name) {                           \
    name(step.attributes.data(), from.data(), to.data()); \
    return absl::OkStatus();                              \
  }
#include "backends/cpu/library/functions.def"
#undef HONE_LIBRARY_FUNCTION
    return absl::InternalError(absl::StrCat("no function ", step.function));
  }

  absl::Status Run(const CopyStep& step, const std::vector<Bytes>& slots) {
    const Bytes& from = slots[static_cast<size_t>(step.from)];
    std::memmove(slots[static_cast<size_t>(step.to)].data, from.data,
                 static_cast<size_t>(from.bytes));
    return absl::OkStatus();
  }

  static Bytes ScratchOf(SlotId id, const std::vector<Bytes>& slots) {
    return id < 0 ? Bytes() : slots[static_cast<size_t>(id)];
  }

  absl::Status Run(const WhileStep& step, const std::vector<Bytes>& slots) {
    const std::vector<Bytes> state = At(slots, step.state);
    const std::vector<Bytes> next = At(slots, step.next);
    const Bytes scratch = ScratchOf(step.scratch, slots);
    for (int i = 0; i < kMaxIterations; ++i) {
      std::byte go_on{2};
      HONE_RETURN_IF_ERROR(Call(step.condition, state, {{&go_on, 1}}, scratch));
      if (go_on == std::byte{0}) return absl::OkStatus();
      HONE_RETURN_IF_ERROR(Call(step.body, state, next, scratch));
      for (size_t j = 0; j < state.size(); ++j) {
        std::memmove(state[j].data, next[j].data,
                     static_cast<size_t>(state[j].bytes));
      }
    }
    return absl::InternalError("a loop does not end");
  }

  absl::Status Run(const ConditionalStep& step,
                   const std::vector<Bytes>& slots) {
    const Bytes& selector = slots[static_cast<size_t>(step.selector)];
    const int32_t last = static_cast<int32_t>(step.branches.size()) - 1;
    int32_t branch = 0;
    if (selector.bytes == 1) {
      branch = *selector.data == std::byte{0} ? 1 : 0;
    } else {
      std::memcpy(&branch, selector.data, sizeof(branch));
      if (branch < 0 || branch > last) branch = last;
    }
    const size_t i = static_cast<size_t>(branch);
    return Call(step.branches[i], At(slots, step.arguments[i]),
                At(slots, step.results), ScratchOf(step.scratch, slots));
  }

  const ModulePlan& plan_;
};

}  // namespace

absl::StatusOr<std::vector<hlo::Literal>> InterpretPlan(
    const ModulePlan& plan, absl::Span<const hlo::Literal> arguments) {
  const PlanFunction& entry = plan.functions[static_cast<size_t>(plan.entry)];
  std::vector<Bytes> parameters;
  for (const hlo::Literal& argument : arguments) {
    parameters.push_back(
        {const_cast<std::byte*>(argument.data()), argument.byte_size()});
  }
  std::vector<hlo::Literal> literals;
  std::vector<Bytes> results;
  for (SlotId slot : entry.results) {
    literals.emplace_back(entry.slots[static_cast<size_t>(slot)].shape);
    results.push_back(
        {literals.back().MutableData(), literals.back().byte_size()});
  }
  for (const Donation& donation : plan.donations) {
    if (!donation.in_place) continue;
    const Bytes& result = results[static_cast<size_t>(donation.result)];
    Bytes& parameter = parameters[static_cast<size_t>(donation.parameter)];
    std::copy_n(parameter.data, parameter.bytes, result.data);
    parameter = result;
  }
  std::vector<std::byte> arena(static_cast<size_t>(entry.arena_bytes));
  HONE_RETURN_IF_ERROR(Caller(plan).Call(plan.entry, parameters, results,
                                         {arena.data(), entry.arena_bytes}));
  return literals;
}

}  // namespace hone::loops
