#include "tests/backends/native_program.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "gtest/gtest.h"

#include "backends/cpu/kernel_runtime.h"
#include "backends/cpu/loaded_object.h"
#include "base/rng.h"
#include "base/status_macros.h"
#include "loops/interpreter/interpreter.h"
#include "loops/text/text.h"
#include "tests/loops/program_text.h"

namespace hone::testing {
namespace {

using hlo::Literal;
using loops::Memory;
using loops::Program;

// The buffers of a program with one of these kinds of memory, by number.
std::vector<const loops::Buffer*> Buffers(
    const Program& program, std::initializer_list<Memory> memories) {
  std::vector<const loops::Buffer*> buffers;
  for (const loops::BufferPtr& buffer : program.buffers()) {
    if (std::find(memories.begin(), memories.end(), buffer->memory) !=
        memories.end()) {
      buffers.push_back(buffer.get());
    }
  }
  std::sort(buffers.begin(), buffers.end(),
            [](const loops::Buffer* a, const loops::Buffer* b) {
              return a->number < b->number;
            });
  return buffers;
}

hlo::ShapePtr ShapeOf(const loops::Buffer& buffer) {
  return hlo::Shape::Array(buffer.type, buffer.dimensions);
}

constexpr std::byte kGuard{0xcd};
constexpr size_t kGuardBytes = 64;

// Bytes that begin one element past a multiple of 64.
class GuardedArray {
 public:
  explicit GuardedArray(const hlo::Shape& shape)
      : size_(static_cast<size_t>(shape.byte_size())),
        memory_(size_ + 4 * kGuardBytes, kGuard) {
    const auto address = reinterpret_cast<uintptr_t>(memory_.data());
    const size_t to_multiple = kGuardBytes - address % kGuardBytes;
    offset_ = to_multiple + kGuardBytes +
              static_cast<size_t>(hlo::ByteWidth(shape.element_type()));
  }

  std::byte* data() { return memory_.data() + offset_; }
  bool GuardsAreIntact() const {
    const auto is_guard = [](std::byte b) { return b == kGuard; };
    const auto begin = memory_.begin() + static_cast<int64_t>(offset_);
    return std::all_of(memory_.begin(), begin, is_guard) &&
           std::all_of(begin + static_cast<int64_t>(size_), memory_.end(),
                       is_guard);
  }

 private:
  size_t size_;
  std::vector<std::byte> memory_;
  size_t offset_;
};

double StepOf(hlo::ElementType type) {
  if (type == hlo::ElementType::kBf16) return 1.0 / 64;
  if (type == hlo::ElementType::kF16) return 1.0 / 512;
  return 0;
}

void ExpectNear(const Literal& expected, const Literal& actual,
                double tolerance) {
  const hlo::ElementType type = expected.shape().element_type();
  if (!hlo::IsFloat(type)) {
    for (int64_t i = 0; i < expected.num_elements(); ++i) {
      ASSERT_EQ(expected.AsInt(i), actual.AsInt(i)) << "element " << i;
    }
    return;
  }
  const double allowed = std::max(tolerance, StepOf(type));
  for (int64_t i = 0; i < expected.num_elements(); ++i) {
    const double a = expected.AsDouble(i);
    const double b = actual.AsDouble(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    ASSERT_LE(std::abs(a - b), allowed * std::max(1.0, std::abs(a)))
        << "element " << i << ": " << a << " and " << b;
  }
}

}  // namespace

std::vector<Literal> CallEntry(backends::EntryFunction entry,
                               absl::Span<const Literal> arguments,
                               absl::Span<const hlo::ShapePtr> results,
                               absl::Span<const Literal* const> initial) {
  std::vector<GuardedArray> arrays;
  std::vector<const void*> argument_pointers;
  std::vector<void*> result_pointers;
  for (const Literal& argument : arguments) {
    arrays.emplace_back(argument.shape());
    std::memcpy(arrays.back().data(), argument.data(),
                static_cast<size_t>(argument.byte_size()));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    arrays.emplace_back(*results[i]);
    if (i >= initial.size() || initial[i] == nullptr) continue;
    std::memcpy(arrays.back().data(), initial[i]->data(),
                static_cast<size_t>(initial[i]->byte_size()));
  }
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (i < arguments.size()) {
      argument_pointers.push_back(arrays[i].data());
    } else {
      result_pointers.push_back(arrays[i].data());
    }
  }
  EXPECT_EQ(entry(nullptr, argument_pointers.data(), result_pointers.data()),
            HONE_OK)
      << hone_kernel_error_message();
  for (size_t i = 0; i < arrays.size(); ++i) {
    EXPECT_TRUE(arrays[i].GuardsAreIntact()) << "written outside array " << i;
  }
  std::vector<Literal> values;
  for (size_t i = 0; i < results.size(); ++i) {
    values.emplace_back(results[i]);
    std::memcpy(values.back().MutableData(),
                arrays[arguments.size() + i].data(),
                static_cast<size_t>(results[i]->byte_size()));
  }
  return values;
}

absl::StatusOr<std::vector<Literal>> RunNative(
    const Program& program, absl::Span<const Literal> arguments) {
  HONE_ASSIGN_OR_RETURN(const std::string object,
                        backends::CompileProgram(program, "kernel"));
  HONE_ASSIGN_OR_RETURN(const auto loaded,
                        backends::LoadedObject::Create(object));
  HONE_ASSIGN_OR_RETURN(const backends::EntryFunction entry,
                        loaded->Entry("kernel"));
  // The values that in-out arrays have at first come after the arguments.
  size_t next = Buffers(program, {Memory::kArgument}).size();
  const absl::Span<const Literal> passed = arguments.subspan(0, next);
  std::vector<hlo::ShapePtr> results;
  std::vector<const Literal*> initial;
  for (const loops::Buffer* buffer :
       Buffers(program, {Memory::kResult, Memory::kInOut})) {
    results.push_back(ShapeOf(*buffer));
    initial.push_back(buffer->memory == Memory::kInOut ? &arguments[next++]
                                                       : nullptr);
  }
  return CallEntry(entry, passed, results, initial);
}

void ExpectMatchesInterpreter(const Program& program,
                              absl::Span<const Literal> arguments,
                              double tolerance) {
  const auto expected = loops::Interpret(program, arguments);
  ASSERT_TRUE(expected.ok()) << expected.status();
  const auto actual = RunNative(program, arguments);
  ASSERT_TRUE(actual.ok()) << actual.status();
  ASSERT_EQ(expected->size(), actual->size());
  for (size_t i = 0; i < expected->size(); ++i) {
    SCOPED_TRACE(::testing::Message() << "result " << i << " of\n"
                                      << loops::PrintProgram(program));
    ExpectNear((*expected)[i], (*actual)[i], tolerance);
  }
}

std::vector<Literal> NormalArguments(const Program& program) {
  Rng rng(7);
  std::vector<Literal> arguments;
  std::vector<hlo::ShapePtr> shapes;
  for (const Memory memory : {Memory::kArgument, Memory::kInOut}) {
    for (const loops::Buffer* buffer : Buffers(program, {memory})) {
      shapes.push_back(ShapeOf(*buffer));
    }
  }
  for (const hlo::ShapePtr& shape : shapes) {
    Literal argument(shape);
    for (int64_t i = 0; i < argument.num_elements(); ++i) {
      if (hlo::IsFloat(shape->element_type())) {
        argument.SetDouble(i, rng.Normal());
      } else {
        const bool is_pred = shape->element_type() == hlo::ElementType::kPred;
        argument.SetInt(i, static_cast<int64_t>(rng.Below(is_pred ? 2 : 8)));
      }
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

void ExpectTextMatchesInterpreter(const char* text) {
  const Program program = ParseText(text);
  ExpectMatchesInterpreter(program, NormalArguments(program));
}

}  // namespace hone::testing
