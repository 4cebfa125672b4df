// set_memory - BUFFER MEMORY: moves a local to the heap (0), the stack (1) or
// registers (2).
//
// Legal for the stack up to a size that fits on any thread's stack; for
// registers if every index is constant once unrolled and vector loops are
// expanded, so that none depends on another loop or on data.

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

constexpr int64_t kMostStackBytes = 512 << 10;
// The largest size of register buffers; more do not fit on any machine.
constexpr int64_t kMostRegisterBytes = 4 << 10;
constexpr Memory kMemories[] = {Memory::kHeap, Memory::kStack,
                                Memory::kRegister};

class SetMemory final : public Transform {
 public:
  absl::string_view name() const override { return "set_memory"; }
  int32_t buffer_parameters() const override { return 1; }

  void Enumerate(const Program& program, const Machine& machine,
                 std::vector<Step>& steps) const override {
    for (size_t b = 0; b < program.buffers().size(); ++b) {
      for (int64_t memory = 0; memory < 3; ++memory) {
        const int64_t most_bytes =
            memory == 2   ? machine.vector_registers * machine.vector_bytes
            : memory == 1 ? machine.l2_bytes / 2
                          : program.buffers()[b]->allocated_bytes();
        const Step step = {
            "set_memory", Path(), {static_cast<int64_t>(b), memory}};
        if (program.buffers()[b]->allocated_bytes() <= most_bytes &&
            Apply(program, step).ok()) {
          steps.push_back(step);
        }
      }
    }
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 2, "BUFFER MEMORY"));
    HONE_ASSIGN_OR_RETURN(const BufferId id, BufferParameter(program, step, 0));
    if (!step.path.empty() || step.parameters[1] < 0 ||
        step.parameters[1] > 2) {
      return absl::InvalidArgumentError(
          "expected path - and a memory from 0 to 2");
    }
    Buffer buffer = program.buffer(id);
    if (!buffer.IsLocal() || !FindDeclaration(program, id).has_value()) {
      return absl::InvalidArgumentError("the buffer is not a local");
    }
    const Memory memory = kMemories[step.parameters[1]];
    if (buffer.memory == memory) {
      return absl::InvalidArgumentError("the buffer is there already");
    }
    HONE_RETURN_IF_ERROR(CheckSize(program, id, memory));
    buffer.memory = memory;
    Program result = program;
    result.SetBuffer(id, std::move(buffer));
    HONE_RETURN_IF_ERROR(CheckRegisters(result));
    return result;
  }

 private:
  static absl::Status CheckSize(const Program& program, BufferId id,
                                Memory memory) {
    if (memory == Memory::kHeap) return absl::OkStatus();
    const int64_t most_bytes =
        memory == Memory::kStack ? kMostStackBytes : kMostRegisterBytes;
    const int64_t bytes = program.buffer(id).allocated_bytes();
    if (bytes > most_bytes) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the buffer has ", bytes, " bytes, expected at most ", most_bytes));
    }
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<Transform> MakeSetMemory() {
  return std::make_unique<SetMemory>();
}

}  // namespace hone::loops
