#include "hlo/inference/annotations.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

#include "base/status_macros.h"
#include "hlo/inference/annotation_text.h"
#include "hlo/inference/internal.h"

namespace hone::hlo::inference {
namespace {

// None where brackets do not match, which no annotation has as many of.
std::vector<absl::string_view> Parts(absl::string_view text) {
  return SplitAtCommas(text).value_or(std::vector<absl::string_view>());
}

bool ReadNumbers(absl::string_view text, std::vector<int64_t>& numbers) {
  for (absl::string_view part : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(part, &number)) return false;
    numbers.push_back(number);
  }
  return true;
}

// The product; -1 if it overflows.
int64_t Product(absl::Span<const int64_t> numbers) {
  int64_t product = 1;
  for (int64_t number : numbers) {
    if (__builtin_mul_overflow(product, number, &product)) return -1;
  }
  return product;
}

// A sharding of one array, without its braces.
absl::Status VerifyArraySharding(absl::string_view text, const Shape& shape,
                                 int64_t partitions) {
  const absl::string_view whole = text;
  if (absl::ConsumePrefix(&text, "maximal device=")) {
    int64_t device = 0;
    text = text.substr(0, text.find(' '));
    if (!absl::SimpleAtoi(text, &device)) return absl::OkStatus();
    if (device < 0 || (partitions > 1 && device >= partitions)) {
      return Invalid("sharding {", whole, "} on ", partitions,
                     " partitions, expected a device of them");
    }
    return absl::OkStatus();
  }
  if (!absl::ConsumePrefix(&text, "devices=[")) return absl::OkStatus();
  const size_t end = text.find(']');
  std::vector<int64_t> tiles;
  if (end == absl::string_view::npos ||
      !ReadNumbers(text.substr(0, end), tiles)) {
    return absl::OkStatus();
  }
  text.remove_prefix(end + 1);
  const size_t blank = text.find(' ');
  absl::string_view devices = text.substr(0, blank);
  const absl::string_view rest =
      blank == absl::string_view::npos ? "" : text.substr(blank + 1);
  // Subgroups take the last tile dimensions.
  int64_t subgroups =
      absl::StrContains(rest, "last_tile_dim_replicate") ? 1 : 0;
  if (const size_t at = rest.find("last_tile_dims={");
      at != absl::string_view::npos) {
    absl::string_view names = rest.substr(at + 15);
    names = names.substr(0, names.find('}') + 1);
    const auto enclosed = Enclosed(names, '{', '}');
    if (!enclosed.has_value()) return absl::OkStatus();
    subgroups += static_cast<int64_t>(Parts(*enclosed).size());
  }
  const int64_t rank = static_cast<int64_t>(tiles.size()) - subgroups;
  // One tile that every device has is a way to say `replicated`.
  if (!tiles.empty() && subgroups == 1 &&
      absl::StrContains(rest, "last_tile_dim_replicate") &&
      Product(absl::MakeConstSpan(tiles).first(tiles.size() - 1)) == 1) {
    return absl::OkStatus();
  }
  if (!shape.IsArray() || rank != shape.rank()) {
    return Invalid("sharding {", whole, "} of ", shape.ToString(),
                   ", expected a tile dimension for each of its dimensions");
  }
  std::vector<int64_t> numbers;
  bool fits = true;
  if (absl::ConsumePrefix(&devices, "<=[")) {
    if (!ReadNumbers(devices.substr(0, devices.find(']')), numbers)) {
      return absl::OkStatus();
    }
    fits = Product(numbers) == Product(tiles);
    fits = fits && (partitions <= 1 || Product(tiles) == partitions);
  } else {
    if (!ReadNumbers(devices, numbers)) return absl::OkStatus();
    fits = static_cast<int64_t>(numbers.size()) == Product(tiles) &&
           (partitions <= 1 || Product(tiles) == partitions);
    for (int64_t device : numbers) {
      fits = fits && device >= 0 && (partitions <= 1 || device < partitions);
    }
  }
  fits = fits && std::all_of(tiles.begin(), tiles.end(),
                             [](int64_t tile) { return tile > 0; });
  if (fits) return absl::OkStatus();
  return Invalid("sharding {", whole, "} on ", partitions,
                 " partitions, expected as many devices and tiles");
}

void AppendArrays(const Shape& shape, std::vector<const Shape*>& arrays) {
  if (!shape.IsTuple()) {
    arrays.push_back(&shape);
    return;
  }
  for (const ShapePtr& element : shape.tuple_elements()) {
    AppendArrays(*element, arrays);
  }
}

absl::Status VerifySharding(absl::string_view text, const Shape& shape,
                            int64_t partitions) {
  const auto inner = Enclosed(text, '{', '}');
  if (!inner.has_value()) return absl::OkStatus();
  if (inner->empty() || inner->front() != '{') {
    // One for all: only what fits every shape.
    if (shape.IsTuple() && absl::StartsWith(*inner, "devices=")) {
      return Invalid("sharding ", text, " of ", shape.ToString(),
                     ", expected a part for every array");
    }
    return VerifyArraySharding(*inner, shape, partitions);
  }
  std::vector<const Shape*> arrays;
  AppendArrays(shape, arrays);
  const std::vector<absl::string_view> parts = Parts(*inner);
  // An empty tuple still has a sharding.
  const size_t expected = std::max<size_t>(arrays.size(), 1);
  if (!shape.IsTuple() || parts.size() != expected) {
    return Invalid("sharding ", text, " of ", shape.ToString(), ", expected ",
                   shape.IsTuple() ? expected : 1, " parts, not ",
                   parts.size());
  }
  for (size_t i = 0; i < arrays.size(); ++i) {
    const auto part = Enclosed(parts[i], '{', '}');
    if (!part.has_value()) continue;
    HONE_RETURN_IF_ERROR(VerifyArraySharding(*part, *arrays[i], partitions));
  }
  return absl::OkStatus();
}

bool HasFormOf(absl::string_view tree, const Shape& shape) {
  const auto elements = Enclosed(tree, '(', ')');
  if (elements.has_value() != shape.IsTuple()) return false;
  if (!elements.has_value()) return true;
  const std::vector<absl::string_view> parts = Parts(*elements);
  if (parts.size() != shape.tuple_elements().size()) return false;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!HasFormOf(parts[i], *shape.tuple_elements()[i])) return false;
  }
  return true;
}

absl::Status VerifyOrigin(absl::string_view text, const Shape& shape) {
  const auto tree = Enclosed(text, '{', '}');
  // `{[synthetic_call]}` and the like name no values.
  if (!tree.has_value() || tree->empty() || tree->front() == '[' ||
      HasFormOf(*tree, shape)) {
    return absl::OkStatus();
  }
  return Invalid("origin=", text, " of ", shape.ToString(),
                 ", expected a tree of the same form");
}

}  // namespace

absl::Status VerifyAnnotations(const Instruction& instruction,
                               int64_t partitions) {
  for (const auto& [name, value] : instruction.attributes().others) {
    if (name == "sharding") {
      HONE_RETURN_IF_ERROR(
          VerifySharding(value, instruction.shape(), partitions));
    } else if (name == "origin") {
      HONE_RETURN_IF_ERROR(VerifyOrigin(value, instruction.shape()));
    }
  }
  return absl::OkStatus();
}

}  // namespace hone::hlo::inference
