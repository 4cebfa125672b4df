// expand PATH: gives each iteration of a loop its own elements of the locals
// that the loop declares, and moves their declarations out of it.
//
//   for i 8                      local t f32[8] stack
//   | local t f32[] register     for i 8
//   | t[] = x[i]            →    | t[i] = x[i]
//   | y[i] = t[] * t[]           | y[i] = t[i] * t[i]
//
// Legal for sequential loops, unless a local is accessed as flat. The locals
// are on the stack then, large ones on the heap. The opposite of shrink. Pays
// off as a step towards vectors along the loop: fission and reorder, which
// require that the loop has no such locals.

#include <algorithm>
#include <cstdint>
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

// The largest local.
constexpr int64_t kMostBytes = int64_t{1} << 30;

class Expand final : public Transform {
 public:
  absl::string_view name() const override { return "expand"; }

  // Where the locals still fit in a cache.
  void Enumerate(const Program& program, const Machine& machine,
                 std::vector<Step>& steps) const override {
    VisitLoops(program, Path(), [&](const Path& path, const Loop& loop) {
      int64_t bytes = 0;
      for (BufferId id : loop.locals) {
        bytes += program.buffer(id).allocated_bytes() * loop.extent;
      }
      if (bytes <= machine.l1_bytes && Check(program, loop).ok()) {
        steps.push_back({"expand", path, {}});
      }
    });
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 0, "none"));
    HONE_ASSIGN_OR_RETURN(const Loop* loop, FindLoop(program, step));
    HONE_RETURN_IF_ERROR(Check(program, *loop));
    const std::vector<BufferId> locals = loop->locals;
    Program result = program;
    ExpandLocals(result, step.path);
    for (BufferId id : locals) {
      Buffer buffer = result.buffer(id);
      buffer.memory = MemoryFor(buffer);
      result.SetBuffer(id, std::move(buffer));
    }
    return result;
  }

 private:
  static absl::Status Check(const Program& program, const Loop& loop) {
    if (loop.mode != LoopMode::kSequential) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the loop is ", ModeName(loop.mode), ", expected sequential"));
    }
    if (loop.locals.empty()) {
      return absl::InvalidArgumentError("the loop has no locals");
    }
    for (BufferId id : loop.locals) {
      const int64_t bytes = program.buffer(id).allocated_bytes();
      if (bytes > kMostBytes / std::max<int64_t>(loop.extent, 1)) {
        return absl::InvalidArgumentError(absl::StrCat(
            program.buffer(id).name, " has ", bytes, " bytes for each of ",
            loop.extent, " iterations, expected at most ", kMostBytes,
            " together"));
      }
    }
    return CheckLocalsExpand(program, loop);
  }
};

}  // namespace

std::unique_ptr<Transform> MakeExpand() { return std::make_unique<Expand>(); }

}  // namespace hone::loops
