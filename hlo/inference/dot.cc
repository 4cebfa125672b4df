#include <algorithm>

#include "base/status_macros.h"
#include "hlo/inference/internal.h"

namespace hone::hlo::inference {
namespace {

absl::Status ExpectEqualPairs(const Context& context, absl::string_view what,
                              const DimensionVector& lhs_dimensions,
                              const DimensionVector& rhs_dimensions) {
  const Shape& lhs = context.operand(0);
  const Shape& rhs = context.operand(1);
  if (lhs_dimensions.size() != rhs_dimensions.size()) {
    return Invalid(lhs_dimensions.size(), " lhs_", what, "_dims, ",
                   rhs_dimensions.size(), " rhs_", what,
                   "_dims, expected as many");
  }
  for (size_t i = 0; i < lhs_dimensions.size(); ++i) {
    const int64_t l = lhs.dimension(lhs_dimensions[i]);
    const int64_t r = rhs.dimension(rhs_dimensions[i]);
    if (l != r) {
      return Invalid("dot of ", lhs.ToString(), " and ", rhs.ToString(),
                     ", expected equal sizes of ", what, " dimensions ",
                     lhs_dimensions[i], " and ", rhs_dimensions[i]);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<DimensionVector> UsedDimensions(absl::string_view name,
                                               const DimensionVector& batch,
                                               const DimensionVector& contract,
                                               int64_t rank) {
  DimensionVector used = batch;
  used.insert(used.end(), contract.begin(), contract.end());
  HONE_RETURN_IF_ERROR(ExpectDistinct(name, used, rank));
  return used;
}

}  // namespace

absl::StatusOr<ElementType> ProductType(const Context& context) {
  const ElementType lhs = context.operand(0).element_type();
  const ElementType rhs = context.operand(1).element_type();
  if (context.given() == nullptr) {
    if (lhs == rhs) return lhs;
    return Invalid("operands of ", ElementTypeName(lhs), " and ",
                   ElementTypeName(rhs),
                   " without a result type, expected one");
  }
  const ElementType given = context.given()->element_type();
  const auto fits = [given](ElementType from) {
    if (given == from || IsFloat(given)) return !IsComplex(from);
    if (IsComplex(given)) return true;
    // An integral result holds integers at least as narrow.
    return IsIntegral(given) && !IsFloat(from) && !IsComplex(from) &&
           BitWidth(given) >= BitWidth(from);
  };
  const bool same = given == lhs && given == rhs;
  if (same || (fits(lhs) && fits(rhs))) return given;
  return Invalid("result type ", ElementTypeName(given), " of operands of ",
                 ElementTypeName(lhs), " and ", ElementTypeName(rhs),
                 ", expected one that holds their product");
}

Result InferDot(const Context& context) {
  HONE_RETURN_IF_ERROR(ExpectArrays(context));
  if (context.attributes().dot == nullptr) {
    return Invalid("dot without contracting dimensions, expected them");
  }
  const DotDimensions& dot = *context.attributes().dot;
  const Shape& lhs = context.operand(0);
  const Shape& rhs = context.operand(1);
  HONE_ASSIGN_OR_RETURN(
      const DimensionVector lhs_used,
      UsedDimensions("lhs batch and contracting dims", dot.lhs_batch,
                     dot.lhs_contracting, lhs.rank()));
  HONE_ASSIGN_OR_RETURN(
      const DimensionVector rhs_used,
      UsedDimensions("rhs batch and contracting dims", dot.rhs_batch,
                     dot.rhs_contracting, rhs.rank()));
  HONE_RETURN_IF_ERROR(ExpectEqualPairs(
      context, "contracting", dot.lhs_contracting, dot.rhs_contracting));
  HONE_RETURN_IF_ERROR(
      ExpectEqualPairs(context, "batch", dot.lhs_batch, dot.rhs_batch));
  HONE_ASSIGN_OR_RETURN(const ElementType type, ProductType(context));

  // Batch dimensions, then what is left of each operand in order.
  DimensionVector sizes;
  for (int64_t d : dot.lhs_batch) sizes.push_back(lhs.dimension(d));
  const auto append_free = [&sizes](const Shape& shape,
                                    const DimensionVector& used) {
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (std::find(used.begin(), used.end(), d) == used.end()) {
        sizes.push_back(shape.dimension(d));
      }
    }
  };
  append_free(lhs, lhs_used);
  append_free(rhs, rhs_used);
  return ArrayOf(context, type, sizes);
}

}  // namespace hone::hlo::inference
