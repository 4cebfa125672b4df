#include "hlo/inference/sharding.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"

#include "base/excerpt.h"
#include "base/status_macros.h"
#include "hlo/inference/annotation_text.h"
#include "hlo/inference/internal.h"
#include "hlo/inference/value_reader.h"

namespace hone::hlo::inference {
namespace {

// The kinds without tiles. If a sharding names several, the first counts.
constexpr absl::string_view kKinds[] = {"replicated", "maximal", "manual",
                                        "unknown", "unreduced"};
constexpr absl::string_view kSubgroups[] = {"replicated", "maximal", "manual",
                                            "unreduced"};

// The sharding of one array.
struct Sharding {
  // Empty for tiles.
  absl::string_view kind;
  std::vector<int64_t> tiles;
  // Subgroups take the last tile dimensions.
  std::vector<absl::string_view> subgroups;
  std::vector<int64_t> devices;
  // `<=[…]`; empty where the devices are listed.
  std::vector<int64_t> iota;
  // Has a form that only a newer XLA may know, so nothing more is known of it.
  bool newer = false;
};

// -1 if it overflows.
int64_t Product(absl::Span<const int64_t> numbers) {
  int64_t product = 1;
  for (int64_t number : numbers) {
    if (__builtin_mul_overflow(product, number, &product)) return -1;
  }
  return product;
}

// Returns true if the tiles do not split the array: one device, or one subgroup
// of all devices. XLA reads them as `replicated`, `manual` or `unreduced`, and
// checks nothing else that they say.
bool CoversArray(const Sharding& s) {
  const absl::Span<const int64_t> tiles = s.tiles;
  const size_t data = tiles.size() - s.subgroups.size();
  if (Product(tiles.first(data)) != 1) return false;
  absl::string_view kind;
  for (size_t i = 0; i < s.subgroups.size(); ++i) {
    if (tiles[data + i] == 1) continue;
    if (!kind.empty() && s.subgroups[i] != kind) return false;
    kind = s.subgroups[i];
  }
  return kind != "maximal";
}

bool HasTiles(const Sharding& s) {
  return s.kind.empty() && !s.newer && !CoversArray(s);
}

class ShardingReader {
 public:
  // `text` is without its braces.
  explicit ShardingReader(absl::string_view text) : reader_(text) {}

  absl::StatusOr<Sharding> Read() {
    while (!reader_.AtEnd()) {
      const absl::string_view at = reader_.rest();
      const absl::string_view word = reader_.Word();
      HONE_RETURN_IF_ERROR(reader_.TakeRaw("=") ? ReadKey(word)
                                                : ReadWord(word, at));
    }
    if (!result_.newer) HONE_RETURN_IF_ERROR(CheckForm());
    return std::move(result_);
  }

 private:
  // Returns an error about the next token.
  absl::Status Unexpected(absl::string_view expected) {
    return UnexpectedAt(reader_.rest(), expected);
  }
  static absl::Status UnexpectedAt(absl::string_view at,
                                   absl::string_view expected) {
    return at.empty() ? Invalid("ends early, expected ", expected)
                      : Invalid("found ", Excerpt(at), ", expected ", expected);
  }

  // `at` begins with the word.
  absl::Status ReadWord(absl::string_view word, absl::string_view at) {
    const auto kind = std::find(std::begin(kKinds), std::end(kKinds), word);
    if (kind != std::end(kKinds)) {
      const auto old =
          std::find(std::begin(kKinds), std::end(kKinds), result_.kind);
      result_.kind = *std::min(kind, old);
      return absl::OkStatus();
    }
    if (word == "last_tile_dim_replicate") return AddSubgroups({"replicated"});
    if (word == "shard_as" || word == "shard_like") {
      int64_t group = 0;
      return reader_.Integer(group) ? absl::OkStatus()
                                    : Unexpected("the number of a group");
    }
    if (word == "mesh" || word == "maximal_mesh") return ReadNamed();
    return UnexpectedAt(at,
                        "replicated, maximal, manual, unknown, unreduced, "
                        "devices=[…], last_tile_dim_replicate or shard_as");
  }

  // Reads a sharding by axes of a mesh, which has a grammar of its own.
  absl::Status ReadNamed() {
    if (!absl::StartsWith(reader_.rest(), "[") || !reader_.Bracketed()) {
      return Unexpected("the [axes] of a mesh");
    }
    result_.newer = true;
    reader_ = ValueReader("");
    return absl::OkStatus();
  }

  absl::Status ReadKey(absl::string_view key) {
    if (key == "device") {
      result_.devices.resize(1);
      return reader_.Integer(result_.devices.front())
                 ? absl::OkStatus()
                 : Unexpected("the number of a device");
    }
    if (key == "devices") return ReadTiles();
    if (key == "last_tile_dims") return ReadSubgroups();
    if (key == "metadata") {
      return absl::StartsWith(reader_.rest(), "{") && reader_.Bracketed()
                 ? absl::OkStatus()
                 : Unexpected("metadata in braces");
    }
    result_.newer = true;
    return !key.empty() && reader_.SkipValue()
               ? absl::OkStatus()
               : Unexpected("a key and its value");
  }

  // `[2,2]0,1,2,3`, `[2,2]<=[4]` or `[2,2]<=[2,2]T(1,0)`
  absl::Status ReadTiles() {
    if (!result_.tiles.empty()) return Invalid("devices= again, expected one");
    if (!ReadDimensions(result_.tiles)) return Unexpected("tile dimensions");
    if (!reader_.Take("<=")) {
      return reader_.Integers(result_.devices)
                 ? absl::OkStatus()
                 : Unexpected("numbers of devices or <=[…]");
    }
    if (!ReadDimensions(result_.iota)) return Unexpected("dimensions");
    return result_.iota.size() == 1 ? absl::OkStatus() : ReadTransposition();
  }

  bool ReadDimensions(std::vector<int64_t>& sizes) {
    return reader_.Take("[") && reader_.Integers(sizes) && reader_.Take("]");
  }

  absl::Status ReadTransposition() {
    std::vector<int64_t> order;
    if (!reader_.Take("T") || !reader_.Take("(") || !reader_.Integers(order) ||
        !reader_.Take(")")) {
      return Unexpected("T(…), the order of the dimensions");
    }
    std::vector<int64_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    bool complete = order.size() == result_.iota.size();
    for (size_t i = 0; complete && i < sorted.size(); ++i) {
      complete = sorted[i] == static_cast<int64_t>(i);
    }
    if (complete) return absl::OkStatus();
    return Invalid("T(", Excerpt(absl::StrJoin(order, ",")),
                   "), expected a permutation of ", result_.iota.size(),
                   " dimensions");
  }

  absl::Status ReadSubgroups() {
    std::vector<absl::string_view> types;
    if (!reader_.Take("{")) return Unexpected("{ and types of subgroups");
    if (reader_.Take("}")) return absl::OkStatus();
    do {
      const absl::string_view at = reader_.rest();
      types.push_back(reader_.Word());
      if (std::find(std::begin(kSubgroups), std::end(kSubgroups),
                    types.back()) == std::end(kSubgroups)) {
        return UnexpectedAt(at, "replicated, maximal, manual or unreduced");
      }
    } while (reader_.Take(","));
    if (!reader_.Take("}")) return Unexpected("} behind types of subgroups");
    return AddSubgroups(std::move(types));
  }

  absl::Status AddSubgroups(std::vector<absl::string_view> types) {
    if (!result_.subgroups.empty()) {
      return Invalid("subgroups again, expected them once");
    }
    result_.subgroups = std::move(types);
    return absl::OkStatus();
  }

  absl::Status CheckForm() const {
    const Sharding& s = result_;
    if (s.kind == "maximal" && s.devices.size() != 1) {
      return Invalid(s.devices.size(), " devices, expected one with maximal");
    }
    if (!s.kind.empty() && s.kind != "maximal" && !s.devices.empty()) {
      return Invalid(s.devices.size(), " devices, expected none with ", s.kind);
    }
    if (!s.kind.empty()) return absl::OkStatus();
    if (s.tiles.empty()) {
      return Invalid("neither kind nor tiles, expected replicated or the like");
    }
    if (s.subgroups.size() > s.tiles.size()) {
      return Invalid(s.subgroups.size(), " subgroups, expected at most ",
                     s.tiles.size(), ", one for each tile dimension");
    }
    return absl::OkStatus();
  }

  ValueReader reader_;
  Sharding result_;
};

absl::Status VerifyDevice(int64_t device, int64_t partitions) {
  if (device >= 0 && (partitions <= 1 || device < partitions)) {
    return absl::OkStatus();
  }
  if (partitions <= 1) {
    return Invalid("device ", device, ", expected a number from 0");
  }
  return Invalid("device ", device, ", expected one from 0 to ",
                 partitions - 1);
}

absl::Status VerifyDeviceList(absl::Span<const int64_t> devices,
                              int64_t partitions) {
  for (int64_t device : devices) {
    HONE_RETURN_IF_ERROR(VerifyDevice(device, partitions));
  }
  std::vector<int64_t> sorted(devices.begin(), devices.end());
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return absl::OkStatus();
  return Invalid("device ", *twice, " twice, expected distinct devices");
}

// Checks everything but the shape.
absl::Status VerifyDevices(const Sharding& s, int64_t partitions) {
  if (s.kind == "maximal" && !s.newer) {
    return VerifyDevice(s.devices.front(), partitions);
  }
  if (!HasTiles(s)) return absl::OkStatus();
  for (const std::vector<int64_t>* sizes : {&s.tiles, &s.iota}) {
    const auto smallest = std::min_element(sizes->begin(), sizes->end());
    if (smallest != sizes->end() && *smallest < 1) {
      return Invalid("a dimension of ", *smallest, ", expected at least 1");
    }
  }
  const int64_t tiles = Product(s.tiles);
  const int64_t devices =
      s.iota.empty() ? static_cast<int64_t>(s.devices.size()) : Product(s.iota);
  if (tiles < 0 || devices < 0) {
    return Invalid(
        "dimensions whose product overflows, expected the number "
        "of devices");
  }
  if (devices != tiles) {
    return Invalid(devices, " devices, expected ", tiles,
                   ", one for each tile");
  }
  if (s.iota.empty()) {
    HONE_RETURN_IF_ERROR(VerifyDeviceList(s.devices, partitions));
  }
  if (partitions > 1 && devices != partitions) {
    return Invalid(devices, " devices, expected ", partitions,
                   ", one for each partition");
  }
  return absl::OkStatus();
}

absl::Status VerifyRank(const Sharding& s, const Shape& shape) {
  if (!HasTiles(s)) return absl::OkStatus();
  if (!shape.IsArray()) {
    return Invalid("tiles of ", ShownShape(shape), ", expected an array");
  }
  const int64_t rank =
      static_cast<int64_t>(s.tiles.size() - s.subgroups.size());
  if (rank == shape.rank()) return absl::OkStatus();
  return Invalid(rank, " tile dimensions",
                 s.subgroups.empty() ? "" : " before the subgroups",
                 ", expected ", shape.rank(), ", the rank of ",
                 ShownShape(shape));
}

// Appends the arrays, tokens and the like of a shape; an empty tuple has none.
void AppendLeaves(const Shape& shape, std::vector<const Shape*>& leaves) {
  if (!shape.IsTuple()) {
    leaves.push_back(&shape);
    return;
  }
  for (const ShapePtr& element : shape.tuple_elements()) {
    AppendLeaves(*element, leaves);
  }
}

// Checks a sharding, without its braces, against every leaf. That of a token is
// about the data that an outfeed or the like transfers, so only its form
// counts.
absl::Status VerifyOneSharding(absl::string_view text,
                               absl::Span<const Shape* const> leaves,
                               bool is_token, int64_t partitions) {
  HONE_ASSIGN_OR_RETURN(const Sharding sharding, ShardingReader(text).Read());
  if (is_token) return absl::OkStatus();
  HONE_RETURN_IF_ERROR(VerifyDevices(sharding, partitions));
  for (const Shape* leaf : leaves) {
    HONE_RETURN_IF_ERROR(VerifyRank(sharding, *leaf));
  }
  return absl::OkStatus();
}

bool IsToken(const Shape& shape) {
  return shape.element_type() == ElementType::kToken;
}

// Checks `{…}, {…}`, one for each leaf.
absl::Status VerifyShardings(absl::string_view text, const Shape& shape,
                             absl::Span<const Shape* const> leaves,
                             int64_t partitions) {
  const bool is_token = IsToken(shape);
  if (!shape.IsTuple() && !is_token) {
    return Invalid(text.empty() ? "none" : "a list", " for ", ShownShape(shape),
                   ", expected one sharding without inner braces");
  }
  const std::vector<absl::string_view> parts =
      SplitAtCommas(text).value_or(std::vector<absl::string_view>());
  // An empty tuple may have a sharding.
  const bool fits =
      parts.size() == leaves.size() || (leaves.empty() && parts.size() == 1);
  if (!is_token && !fits) {
    return Invalid(parts.size(), " parts, expected ", leaves.size(),
                   ", one for each array of ", ShownShape(shape));
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto part = Enclosed(parts[i], '{', '}');
    if (!part.has_value()) {
      return Invalid("part ", i, " is ", Excerpt(parts[i]),
                     ", expected a sharding in braces");
    }
    const absl::Status status =
        VerifyOneSharding(*part, leaves.subspan(std::min(i, leaves.size()), 1),
                          is_token, partitions);
    if (!status.ok()) {
      return Invalid("part ", i, " {", Excerpt(*part), "}: ", status.message());
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifySharding(absl::string_view text, const Shape& shape,
                            int64_t partitions) {
  std::vector<const Shape*> leaves;
  AppendLeaves(shape, leaves);
  const auto inner = Enclosed(text, '{', '}');
  absl::Status status;
  if (!inner.has_value()) {
    status = Invalid("no braces, expected them around it");
  } else if (const absl::string_view first = ValueReader(*inner).rest();
             first.empty() || first.front() == '{') {
    // `{}` has no parts.
    status = VerifyShardings(*inner, shape, leaves, partitions);
  } else {
    status = VerifyOneSharding(*inner, leaves, IsToken(shape), partitions);
  }
  if (status.ok()) return status;
  return Invalid("sharding=", Excerpt(text), ": ", status.message());
}

}  // namespace hone::hlo::inference
