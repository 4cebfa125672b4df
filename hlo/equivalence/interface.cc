#include "hlo/equivalence/interface.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "hlo/analysis/canonical_encoding.h"
#include "hlo/equivalence/effects.h"
#include "hlo/equivalence/promises.h"

namespace hone::hlo {
namespace {

using Texts = std::vector<std::pair<std::string, std::string>>;

std::string Differs(absl::string_view what, absl::string_view a,
                    absl::string_view b) {
  return absl::StrCat(what, ": ", a, " in the original, ", b,
                      " in the rewrite");
}

// What an attribute of the header is where it is left out; "none" where that
// says nothing.
absl::string_view DefaultOf(absl::string_view name) {
  if (name == "replica_count" || name == "num_partitions") return "1";
  if (name == "input_output_alias" || name == "buffer_donor") return "{}";
  if (name == "alias_passthrough_params") return "false";
  if (name == "allow_spmd_sharding_propagation_to_parameters" ||
      name == "allow_spmd_sharding_propagation_to_output") {
    return "{false}";
  }
  return "none";
}

// Blanks and comments do not count.
bool SameText(absl::string_view a, absl::string_view b) {
  std::string x;
  std::string y;
  AppendText(a, x);
  AppendText(b, y);
  return x == y;
}

// The first attribute by name that differs; `prefix` and the name name it.
// Those in `ignored` do not count.
std::optional<std::string> TextDifference(absl::string_view prefix,
                                          const Texts& a, const Texts& b,
                                          absl::string_view ignored) {
  std::map<absl::string_view, std::pair<absl::string_view, absl::string_view>>
      values;
  for (const auto& [name, value] : a) {
    values[name] = {value, DefaultOf(name)};
  }
  for (const auto& [name, value] : b) {
    values.emplace(name, std::pair(DefaultOf(name), "")).first->second.second =
        value;
  }
  for (const auto& [name, pair] : values) {
    if (name == ignored || SameText(pair.first, pair.second)) continue;
    return Differs(absl::StrCat(name, prefix), pair.first, pair.second);
  }
  return std::nullopt;
}

std::optional<std::string> ShapeDifference(absl::string_view what,
                                           const Shape& a, const Shape& b) {
  if (Shape::Equal(a, b, /*ignore_layout=*/false)) return std::nullopt;
  return Differs(what, a.ToString(/*layouts=*/true),
                 b.ToString(/*layouts=*/true));
}

absl::string_view ShardingOfResult(const Module& module) {
  const Computation& entry = module.entry_computation();
  const std::string* sharding =
      entry[entry.root()].attributes().FindOther("sharding");
  return sharding == nullptr ? absl::string_view("none") : *sharding;
}

}  // namespace

std::optional<std::string> InterfaceDifference(const Module& a,
                                               const Module& b) {
  const std::vector<ShapePtr>& shapes_of_a = a.entry_parameter_shapes();
  const std::vector<ShapePtr>& shapes_of_b = b.entry_parameter_shapes();
  const Computation& x = a.entry_computation();
  const Computation& y = b.entry_computation();
  if (shapes_of_a.size() != shapes_of_b.size() ||
      x.parameters().size() != y.parameters().size()) {
    return Differs("number of parameters", absl::StrCat(shapes_of_a.size()),
                   absl::StrCat(shapes_of_b.size()));
  }
  for (size_t i = 0; i < shapes_of_a.size(); ++i) {
    if (auto difference =
            ShapeDifference(absl::StrCat("entry layout of parameter ", i),
                            *shapes_of_a[i], *shapes_of_b[i])) {
      return difference;
    }
  }
  if (auto difference =
          ShapeDifference("entry layout of the result", *a.entry_result_shape(),
                          *b.entry_result_shape())) {
    return difference;
  }
  if (auto difference = TextDifference(" of the module", a.header(), b.header(),
                                       "frontend_attributes")) {
    return difference;
  }
  for (size_t i = 0; i < x.parameters().size(); ++i) {
    if (auto difference = TextDifference(
            absl::StrCat(" of parameter ", i),
            x[x.parameters()[i]].attributes().others,
            y[y.parameters()[i]].attributes().others, "origin")) {
      return difference;
    }
  }
  const absl::string_view of_a = ShardingOfResult(a);
  const absl::string_view of_b = ShardingOfResult(b);
  if (SameText(of_a, of_b)) return std::nullopt;
  return Differs("sharding of the result", of_a, of_b);
}

std::optional<std::string> StaticDifference(const Module& a, const Module& b) {
  for (auto* find :
       {InterfaceDifference, EffectDifference, PromiseDifference}) {
    if (auto difference = find(a, b)) return difference;
  }
  return std::nullopt;
}

}  // namespace hone::hlo
