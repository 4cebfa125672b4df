// block_layout - BUFFER DIMENSION SIZE: divides a dimension of a local into
// blocks of SIZE indices, and makes the index within a block a new dimension,
// the last one (transform_layout in TVM; NCHWc is such a layout of NCHW).
//
//   local t [8,6]; t[2*i+j,k]  →  local t [4,6,2]; t[i,k,j]   (DIMENSION 0, 2)
//
// Legal if SIZE divides the dimension, the local has no gaps and no flat
// access, and every index of the dimension is a multiple of SIZE plus a part in
// 0 … SIZE-1: loops along it are split by SIZE before. Pays off where an
// instruction takes several steps of a sum that are not adjacent otherwise.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "loops/ir/rewrite.h"
#include "loops/transforms/analysis/footprint.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

constexpr int64_t kMostSize = 64;

// An index as size * block + within.
struct BlockIndex {
  Affine block;
  Affine within;
};

BlockIndex Divide(const Affine& index, int64_t size) {
  int64_t within = index.constant() % size;
  if (within < 0) within += size;
  BlockIndex parts = {Affine((index.constant() - within) / size),
                      Affine(within)};
  for (const Affine::Term& term : index.terms()) {
    if (term.coefficient % size == 0) {
      parts.block += Affine::Var(term.var, term.coefficient / size);
    } else {
      parts.within += Affine::Var(term.var, term.coefficient);
    }
  }
  return parts;
}

absl::Status CheckSites(const Program& program, BufferId id, size_t dimension,
                        int64_t size) {
  const std::vector<AccessSite> sites = SitesOf(program, Path(), id);
  if (IndexFormOf(program, sites) == IndexForm::kFlat) {
    return absl::InvalidArgumentError("the buffer is accessed as flat");
  }
  for (const AccessSite& site : sites) {
    const Index& index = site.access.indices[dimension];
    if (index.offset != nullptr) {
      return absl::InvalidArgumentError(
          "an index of the dimension depends on data");
    }
    const Interval within = RangeOf(Divide(index.affine, size).within,
                                    program.LoopsAbove(site.path));
    if (within.lo < 0 || within.hi >= size) {
      return absl::InvalidArgumentError(absl::StrCat(
          "an index of the dimension is not a multiple of ", size,
          " plus a part below it; expected loops that are split by it"));
    }
  }
  return absl::OkStatus();
}

class BlockLayout final : public Transform {
 public:
  absl::string_view name() const override { return "block_layout"; }
  int32_t buffer_parameters() const override { return 1; }

  // Blocks as large as the steps that instructions take at once.
  void Enumerate(const Program& program, const Machine& machine,
                 std::vector<Step>& steps) const override {
    if (!machine.has_bf16_dot && !machine.has_integer_dot) return;
    for (size_t b = 0; b < program.buffers().size(); ++b) {
      const Buffer& buffer = *program.buffers()[b];
      if (!buffer.IsLocal() || hlo::ByteWidth(buffer.type) > 2) continue;
      for (size_t d = 0; d + 1 < buffer.dimensions.size(); ++d) {
        for (int64_t size : {2, 4}) {
          const Step step = {
              "block_layout",
              Path(),
              {static_cast<int64_t>(b), static_cast<int64_t>(d), size}};
          if (Apply(program, step).ok()) steps.push_back(step);
        }
      }
    }
  }

  absl::StatusOr<Program> Apply(const Program& program,
                                const Step& step) const override {
    HONE_RETURN_IF_ERROR(ExpectParameters(step, 3, "BUFFER DIMENSION SIZE"));
    HONE_ASSIGN_OR_RETURN(const BufferId id, BufferParameter(program, step, 0));
    Buffer buffer = program.buffer(id);
    const int64_t number = step.parameters[1];
    const int64_t size = step.parameters[2];
    if (!step.path.empty() || number < 0 ||
        static_cast<size_t>(number) >= buffer.dimensions.size() || size < 2 ||
        size > kMostSize) {
      return absl::InvalidArgumentError(
          "expected path -, a dimension of the buffer and a size of 2 to 64");
    }
    const auto dimension = static_cast<size_t>(number);
    if (!buffer.IsLocal() || !FindDeclaration(program, id).has_value()) {
      return absl::InvalidArgumentError("the buffer is not a local");
    }
    if (!buffer.IsDense()) {
      return absl::InvalidArgumentError("the buffer has a layout already");
    }
    if (buffer.dimensions[dimension] % size != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("size ", size, " does not divide the dimension, ",
                       buffer.dimensions[dimension]));
    }
    HONE_RETURN_IF_ERROR(CheckSites(program, id, dimension, size));

    buffer.dimensions[dimension] /= size;
    buffer.dimensions.push_back(size);
    buffer.strides.assign(buffer.dimensions.size(), 1);
    for (size_t d = buffer.dimensions.size() - 1; d-- > 0;) {
      buffer.strides[d] = buffer.strides[d + 1] * buffer.dimensions[d + 1];
    }
    Program result = program;
    result.SetBuffer(id, std::move(buffer));
    std::vector<Node> body = program.body();
    for (Node& node : body) {
      node = MapAccesses(node, [&](const Access& access) {
        if (access.buffer != id) return access;
        Access divided = access;
        BlockIndex parts = Divide(access.indices[dimension].affine, size);
        divided.indices[dimension].affine = std::move(parts.block);
        divided.indices.emplace_back(std::move(parts.within));
        return divided;
      });
    }
    SetBody(result, Path(), std::move(body));
    HONE_RETURN_IF_ERROR(CheckRegisters(result));
    return result;
  }
};

}  // namespace

std::unique_ptr<Transform> MakeBlockLayout() {
  return std::make_unique<BlockLayout>();
}

}  // namespace hone::loops
