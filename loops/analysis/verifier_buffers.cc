#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/status_macros.h"
#include "loops/analysis/verifier_internal.h"

namespace hone::loops {
namespace {

template <typename... Parts>
absl::Status Error(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// Returns true if distinct indices are distinct elements: in order of strides,
// each stride exceeds the reach of all smaller ones.
bool StridesAreInjective(const Buffer& buffer) {
  std::vector<std::pair<int64_t, int64_t>> axes;  // stride, size
  for (size_t i = 0; i < buffer.dimensions.size(); ++i) {
    if (buffer.dimensions[i] == 0) return true;
    if (buffer.dimensions[i] > 1) {
      axes.emplace_back(buffer.strides[i], buffer.dimensions[i]);
    }
  }
  std::sort(axes.begin(), axes.end());
  int64_t reach = 0;
  for (const auto& [stride, size] : axes) {
    if (stride <= reach) return false;
    reach += stride * (size - 1);
  }
  return true;
}

// Returns true if the allocation size is far from overflow.
bool AllocationIsSmall(const Buffer& buffer) {
  __int128 elements = 1;
  for (size_t i = 0; i < buffer.dimensions.size(); ++i) {
    elements += static_cast<__int128>(buffer.dimensions[i]) *
                static_cast<__int128>(buffer.strides[i]);
    if (elements > kMaxIndexNumber) return false;
  }
  return true;
}

absl::Status VerifyBuffer(const Buffer& buffer) {
  const std::string name = absl::StrCat("buffer ", buffer.name);
  if (hlo::KindOf(buffer.type) == hlo::ElementKind::kNone) {
    return Error(name, " has type ", hlo::ElementTypeName(buffer.type),
                 ", expected one with elements");
  }
  if (buffer.strides.size() != buffer.dimensions.size()) {
    return Error(name, " has ", buffer.strides.size(),
                 " strides, expected one for each of ",
                 buffer.dimensions.size(), " dimensions");
  }
  const hlo::Shape shape(buffer.type, buffer.dimensions);
  HONE_RETURN_IF_ERROR(hlo::ValidateShape(shape));
  if (std::any_of(buffer.strides.begin(), buffer.strides.end(),
                  [](int64_t s) { return s < 0 || s > kMaxIndexNumber; }) ||
      shape.num_elements() > kMaxIndexNumber || !AllocationIsSmall(buffer)) {
    return Error(name, " has strides {", absl::StrJoin(buffer.strides, ","),
                 "}, expected at most 2^56 elements");
  }
  if (!buffer.IsLocal() && !buffer.IsDense()) {
    return Error(name, " has strides {", absl::StrJoin(buffer.strides, ","),
                 "}, expected row-major ones for what callers see");
  }
  if (!StridesAreInjective(buffer)) {
    return Error(name, " has strides {", absl::StrJoin(buffer.strides, ","),
                 "} by which elements overlap, expected a place for each");
  }
  if (buffer.memory != Memory::kConstant) return absl::OkStatus();
  if (buffer.literal == nullptr || buffer.literal->is_elided()) {
    return Error("constant ", buffer.name, " has no values, expected some");
  }
  if (!hlo::Shape::Equal(buffer.literal->shape(), shape)) {
    return Error("constant ", buffer.name, " has values of shape ",
                 buffer.literal->shape().ToString(), ", expected ",
                 shape.ToString());
  }
  return absl::OkStatus();
}

// Arguments are numbered 0, 1, …, and so are results and in-out arrays.
absl::Status VerifyNumbers(const Program& program, bool outputs) {
  const absl::string_view what = outputs ? "result" : "argument";
  std::vector<int32_t> numbers;
  for (const BufferPtr& buffer : program.buffers()) {
    if (outputs ? buffer->IsOutput() : buffer->memory == Memory::kArgument) {
      numbers.push_back(buffer->number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == static_cast<int32_t>(i)) continue;
    return Error("no ", what, " has number ", i, ", expected ", numbers.size(),
                 " of them to be numbered from 0");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyBuffers(const Program& program) {
  for (const BufferPtr& buffer : program.buffers()) {
    HONE_RETURN_IF_ERROR(VerifyBuffer(*buffer));
  }
  HONE_RETURN_IF_ERROR(VerifyNumbers(program, /*outputs=*/false));
  return VerifyNumbers(program, /*outputs=*/true);
}

}  // namespace hone::loops
