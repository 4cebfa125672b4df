#include "tests/hlo/passes/compare_results.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

#include "base/rng.h"
#include "hlo/evaluator/evaluator.h"

namespace hone::hlo {
namespace {

// Arrays of complex numbers count as arrays of their parts.
int64_t NumberCount(const Literal& literal) {
  return literal.num_elements() *
         (IsComplex(literal.shape().element_type()) ? 2 : 1);
}

double NumberAt(const Literal& literal, int64_t i) {
  switch (literal.shape().element_type()) {
    case ElementType::kC64:
      return reinterpret_cast<const float*>(literal.data())[i];
    case ElementType::kC128:
      return reinterpret_cast<const double*>(literal.data())[i];
    default:
      return literal.AsDouble(i);
  }
}

bool IsInexact(const Literal& literal) {
  const ElementType type = literal.shape().element_type();
  return IsFloat(type) || IsComplex(type);
}

using Differ =
    std::function<bool(const Literal& a, const Literal& b, int64_t i)>;

std::optional<std::string> FirstDifference(const Literal& a, const Literal& b,
                                           const Differ& differ) {
  const std::vector<Literal> as = Leaves(a);
  const std::vector<Literal> bs = Leaves(b);
  if (as.size() != bs.size()) return "the results are of different shapes";
  for (size_t k = 0; k < as.size(); ++k) {
    if (!as[k].shape().IsArray()) continue;
    for (int64_t i = 0; i < NumberCount(as[k]); ++i) {
      if (!differ(as[k], bs[k], i)) continue;
      return absl::StrCat("output ", k, "[", i, "] (", as[k].shape().ToString(),
                          "): ", NumberAt(as[k], i), " and ",
                          NumberAt(bs[k], i));
    }
  }
  return std::nullopt;
}

bool AddsTerms(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kConvolution:
    case Opcode::kDot:
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
    case Opcode::kScatter:
    case Opcode::kSelectAndScatter:
      return true;
    default:
      return false;
  }
}

// The magnitudes of floats; other types as they are.
Literal Magnitudes(const Literal& literal) {
  if (!literal.shape().IsArray() || !IsInexact(literal)) return literal;
  Literal result(literal.shape_ptr());
  std::memcpy(result.MutableData(), literal.data(),
              static_cast<size_t>(literal.byte_size()));
  const ElementType type = literal.shape().element_type();
  for (int64_t i = 0; i < NumberCount(literal); ++i) {
    const double magnitude = std::abs(NumberAt(literal, i));
    if (type == ElementType::kC64) {
      reinterpret_cast<float*>(result.MutableData())[i] =
          static_cast<float>(magnitude);
    } else if (type == ElementType::kC128) {
      reinterpret_cast<double*>(result.MutableData())[i] = magnitude;
    } else {
      result.SetDouble(i, magnitude);
    }
  }
  return result;
}

bool HasNonFinite(const Literal& literal) {
  return FirstDifference(literal, literal,
                         [](const Literal& x, const Literal&, int64_t i) {
                           return IsInexact(x) &&
                                  !std::isfinite(NumberAt(x, i));
                         })
      .has_value();
}

}  // namespace

bool OverflowDependsOnOrder(const Module& module,
                            absl::Span<const Literal> arguments) {
  const Computation& entry = module.entry_computation();
  EvaluateOptions options;
  options.max_loop_steps = 10'000;
  absl::flat_hash_map<InstructionId, Literal> values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    values.emplace(entry.parameters()[i], arguments[i]);
  }
  for (InstructionId id : entry.PostOrder()) {
    const Instruction& instruction = entry[id];
    if (instruction.opcode() == Opcode::kParameter) continue;
    std::vector<Literal> operands;
    std::vector<Literal> magnitudes;
    for (InstructionId operand : instruction.operands()) {
      const auto value = values.find(operand);
      if (value == values.end()) break;
      operands.push_back(value->second);
      magnitudes.push_back(Magnitudes(value->second));
    }
    if (operands.size() != instruction.operand_count()) continue;
    const absl::StatusOr<Literal> value =
        EvaluateInstruction(module, entry, id, operands, options);
    if (!value.ok()) continue;
    values.emplace(id, *value);
    if (!AddsTerms(instruction)) continue;
    const absl::StatusOr<Literal> sum =
        EvaluateInstruction(module, entry, id, magnitudes, options);
    if (sum.ok() && HasNonFinite(*sum)) return true;
  }
  return false;
}

std::vector<Literal> ExtremeArguments(const Module& module, uint64_t seed) {
  Rng rng(seed);
  const std::function<Literal(const ShapePtr&)> make =
      [&](const ShapePtr& shape) {
        if (shape->IsTuple()) {
          std::vector<Literal> elements;
          for (const ShapePtr& element : shape->tuple_elements()) {
            elements.push_back(make(element));
          }
          return Literal::Tuple(std::move(elements));
        }
        Literal literal(shape);
        const ElementType type = shape->element_type();
        const double exponent = rng.Uniform() * 76 - 38;
        const auto number = [&] {
          if (rng.Below(12) == 0) return rng.Below(2) == 0 ? 0.0 : -0.0;
          const double magnitude = std::pow(
              10, std::clamp(exponent + rng.Uniform() * 2 - 1, -38.0, 38.0));
          return rng.Below(2) == 0 ? magnitude : -magnitude;
        };
        for (int64_t i = 0; i < literal.num_elements(); ++i) {
          if (type == ElementType::kC64) {
            auto* x = reinterpret_cast<float*>(literal.MutableData());
            x[2 * i] = static_cast<float>(number());
            x[2 * i + 1] = static_cast<float>(number());
          } else if (type == ElementType::kC128) {
            auto* x = reinterpret_cast<double*>(literal.MutableData());
            x[2 * i] = number();
            x[2 * i + 1] = number();
          } else if (IsFloat(type)) {
            literal.SetDouble(i, number());
          } else if (type == ElementType::kPred || rng.Below(4) != 0) {
            literal.SetInt(i, static_cast<int64_t>(rng.Below(
                                  type == ElementType::kPred ? 2 : 8)));
          } else {
            literal.SetInt(i,
                           static_cast<int64_t>(rng.Next()) >> rng.Below(64));
          }
        }
        return literal;
      };
  const Computation& entry = module.entry_computation();
  std::vector<Literal> arguments;
  for (InstructionId parameter : entry.parameters()) {
    arguments.push_back(make(entry[parameter].shape_ptr()));
  }
  return arguments;
}

std::optional<std::string> DifferenceInBits(const Literal& a,
                                            const Literal& b) {
  return FirstDifference(
      a, b, [](const Literal& x, const Literal& y, int64_t i) {
        const int64_t count = std::max<int64_t>(NumberCount(x), 1);
        const auto width = static_cast<size_t>(x.byte_size() / count);
        const size_t at = static_cast<size_t>(i) * width;
        if (std::memcmp(x.data() + at, y.data() + at, width) == 0) return false;
        if (!IsInexact(x)) return true;
        const double p = NumberAt(x, i);
        const double q = NumberAt(y, i);
        return p != q && !(std::isnan(p) && std::isnan(q));
      });
}

std::optional<std::string> DifferenceInNonFinite(const Literal& a,
                                                 const Literal& b) {
  return FirstDifference(
      a, b, [](const Literal& x, const Literal& y, int64_t i) {
        return IsInexact(x) &&
               std::isfinite(NumberAt(x, i)) != std::isfinite(NumberAt(y, i));
      });
}

}  // namespace hone::hlo
