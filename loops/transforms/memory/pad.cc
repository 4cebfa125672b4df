// pad - BUFFER DIMENSION ELEMENTS: adds a gap of ELEMENTS after each index of a
// dimension of a local, so that elements a power of two apart do not map to the
// same cache set, or so that rows start at multiples of a vector.
//
//   local t [64,64] strides {64,1}  →  strides {72,1}   (DIMENSION 0, 8)
//
// Legal if the local has no flat access.

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

constexpr int64_t kMostElements = 4096;

class Pad final : public Transform {
 public:
  absl::string_view name() const override { return "pad"; }
  int32_t buffer_parameters() const override { return 1; }

  // A cache line after rows of whole lines; what is missing to a whole vector
  // after others.
  void Enumerate(const Program& program, const Machine& machine,
                 std::vector<Step>& steps) const override {
    for (size_t b = 0; b < program.buffers().size(); ++b) {
      const Buffer& buffer = *program.buffers()[b];
      const size_t rank = buffer.dimensions.size();
      if (!buffer.IsLocal() || rank < 2 || !buffer.IsDense()) continue;
      const int64_t row_bytes =
          buffer.strides[rank - 2] * hlo::ByteWidth(buffer.type);
      const int64_t line = machine.cache_line_bytes;
      const int64_t gap =
          row_bytes % line == 0 ? line : line - row_bytes % line;
      const Step step = {
          "pad",
          Path(),
          {static_cast<int64_t>(b), static_cast<int64_t>(rank) - 2,
           gap / hlo::ByteWidth(buffer.type)}};
      if (Apply(program, step).ok()) steps.push_back(step);
    }
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(
        ExpectParameters(step, 3, "BUFFER DIMENSION ELEMENTS"));
    HONE_ASSIGN_OR_RETURN(const BufferId id, BufferParameter(program, step, 0));
    Buffer buffer = program.buffer(id);
    const int64_t dimension = step.parameters[1];
    const int64_t elements = step.parameters[2];
    if (!step.path.empty() || dimension < 0 ||
        static_cast<size_t>(dimension) >= buffer.dimensions.size() ||
        elements < 1 || elements > kMostElements) {
      return absl::InvalidArgumentError(
          "expected path -, a dimension of the buffer and a gap of 1 to 4096");
    }
    if (!buffer.IsLocal() || !FindDeclaration(program, id).has_value()) {
      return absl::InvalidArgumentError("the buffer is not a local");
    }
    if (IndexFormOf(program, SitesOf(program, Path(), id)) ==
        IndexForm::kFlat) {
      return absl::InvalidArgumentError("the buffer is accessed as flat");
    }
    // Dimensions that step over this one have more to step over.
    const int64_t stride = buffer.strides[static_cast<size_t>(dimension)];
    if (stride == 0) {
      return absl::InvalidArgumentError("the dimension has stride 0");
    }
    for (size_t d = 0; d < buffer.strides.size(); ++d) {
      if (buffer.strides[d] < stride) continue;
      if (buffer.strides[d] % stride != 0) {
        return absl::InvalidArgumentError("the strides are not nested");
      }
      buffer.strides[d] = buffer.strides[d] / stride * (stride + elements);
    }
    Program result = program;
    result.SetBuffer(id, std::move(buffer));
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakePad() { return std::make_unique<Pad>(); }

}  // namespace hone::loops
