// permute - BUFFER DIMENSION: lays a local out so that a dimension is the
// contiguous one; the others keep their order.
//
//   local t [6,64]  →  local t [6,64] strides {1,6}   (DIMENSION 0)
//
// Legal if the local has no gaps and no flat access. Pays off if vectors go
// along that dimension: a register tile whose result is stored transposed.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/analysis/footprint.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

// Returns the strides of dense dimensions of which `innermost` is the
// contiguous one.
hlo::DimensionVector StridesWith(const hlo::DimensionVector& dimensions,
                                 size_t innermost) {
  hlo::DimensionVector strides(dimensions.size());
  strides[innermost] = 1;
  int64_t stride = dimensions[innermost];
  for (size_t d = dimensions.size(); d-- > 0;) {
    if (d == innermost) continue;
    strides[d] = stride;
    stride *= dimensions[d];
  }
  return strides;
}

class Permute final : public Transform {
 public:
  absl::string_view name() const override { return "permute"; }
  int32_t buffer_parameters() const override { return 1; }

  void Enumerate(const Program& program, const Machine&,
                 std::vector<Step>& steps) const override {
    for (size_t b = 0; b < program.buffers().size(); ++b) {
      const Buffer& buffer = *program.buffers()[b];
      if (!buffer.IsLocal() || !buffer.IsDense()) continue;
      for (size_t d = 0; d + 1 < buffer.dimensions.size(); ++d) {
        if (buffer.dimensions[d] == 1) continue;
        const Step step = {"permute",
                           Path(),
                           {static_cast<int64_t>(b), static_cast<int64_t>(d)}};
        if (Apply(program, step).ok()) steps.push_back(step);
      }
    }
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 2, "BUFFER DIMENSION"));
    HONE_ASSIGN_OR_RETURN(const BufferId id, BufferParameter(program, step, 0));
    Buffer buffer = program.buffer(id);
    const int64_t dimension = step.parameters[1];
    if (!step.path.empty() || dimension < 0 ||
        static_cast<size_t>(dimension) >= buffer.dimensions.size()) {
      return absl::InvalidArgumentError(
          "expected path - and a dimension of the buffer");
    }
    if (!buffer.IsLocal() || !FindDeclaration(program, id).has_value()) {
      return absl::InvalidArgumentError("the buffer is not a local");
    }
    if (!buffer.IsDense()) {
      return absl::InvalidArgumentError("the buffer has a layout already");
    }
    if (IndexFormOf(program, SitesOf(program, Path(), id)) ==
        IndexForm::kFlat) {
      return absl::InvalidArgumentError("the buffer is accessed as flat");
    }
    buffer.strides =
        StridesWith(buffer.dimensions, static_cast<size_t>(dimension));
    Program result = program;
    result.SetBuffer(id, std::move(buffer));
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakePermute() { return std::make_unique<Permute>(); }

}  // namespace hone::loops
