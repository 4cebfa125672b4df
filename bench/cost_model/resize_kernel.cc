#include "bench/cost_model/resize_kernel.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

#include "hlo/inference/verifier.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"

namespace hone::bench {
namespace {

constexpr int kTries = 12;
// Sizes that change: smaller ones are windows, heads and the like, of which
// attributes speak.
constexpr int64_t kLeastSize = 8;
constexpr int64_t kLargestSize = int64_t{1} << 17;
constexpr double kFactors[] = {0.25, 1.0 / 3, 0.5, 2.0 / 3, 0.75,
                               1.25, 1.5,     2,   3,       4};
// The share of new sizes that are no multiple of anything.
constexpr double kOddShare = 0.1;
constexpr double kRetypedShare = 0.25;

// Text between two places of an HLO text that mean sizes, and such places.
struct Piece {
  std::string text;
  bool is_sizes = false;
};

// Divides HLO text: sizes are in shapes, the limits of slices and the sizes of
// dynamic slices and gathers.
std::vector<Piece> Divide(const std::string& text) {
  static const auto* const sizes =
      new std::regex(R"((?:\b(?:pred|token|[a-z]+\d+[a-z0-9]*)\[[0-9,]+\])|)"
                     R"((?:\[\d+:\d+(?::\d+)?\])|(?:slice_sizes=\{[0-9,]+\})|)"
                     R"((?:feature_group_count=\d+))");
  std::vector<Piece> pieces;
  auto at = text.begin();
  for (std::sregex_iterator it(text.begin(), text.end(), *sizes), end;
       it != end; ++it) {
    pieces.push_back({std::string(at, (*it)[0].first), false});
    pieces.push_back({it->str(), true});
    at = (*it)[0].second;
  }
  pieces.push_back({std::string(at, text.end()), false});
  return pieces;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Where the numbers of a piece begin: behind the name of the type, if any.
size_t NumbersOf(const std::string& piece) {
  return piece.find_first_of("[{=");
}

// Calls `use` for each number of a piece, and puts what it returns there.
template <typename Use>
std::string MapNumbers(const std::string& piece, const Use& use) {
  size_t i = NumbersOf(piece);
  std::string result = piece.substr(0, i);
  while (i < piece.size()) {
    if (!IsDigit(piece[i])) {
      result.push_back(piece[i++]);
      continue;
    }
    size_t end = i;
    while (end < piece.size() && IsDigit(piece[end])) ++end;
    int64_t number = 0;
    if (!absl::SimpleAtoi(piece.substr(i, end - i), &number)) return piece;
    absl::StrAppend(&result, use(number));
    i = end;
  }
  return result;
}

std::vector<int64_t> SizesOf(const std::vector<Piece>& pieces) {
  std::set<int64_t> sizes;
  for (const Piece& piece : pieces) {
    if (!piece.is_sizes) continue;
    MapNumbers(piece.text, [&](int64_t size) {
      if (size >= kLeastSize && size <= kLargestSize) sizes.insert(size);
      return size;
    });
  }
  return {sizes.begin(), sizes.end()};
}

int64_t NewSize(int64_t size, Rng& rng) {
  const double factor = kFactors[rng.Below(std::size(kFactors))];
  auto next = static_cast<int64_t>(static_cast<double>(size) * factor);
  if (rng.Uniform() < kOddShare) next += 1 + static_cast<int64_t>(rng.Below(7));
  return std::clamp<int64_t>(next, 1, kLargestSize);
}

void Retype(std::vector<Piece>& pieces) {
  for (Piece& piece : pieces) {
    piece.text =
        absl::StrReplaceAll(piece.text, {{"bf16[", "f32["}, {"f32[", "bf16["}});
  }
}

}  // namespace

std::optional<hlo::Module> ResizeKernel(const hlo::Module& kernel, Rng& rng) {
  const std::string text = hlo::PrintModule(kernel);
  const std::vector<Piece> original = Divide(text);
  const std::vector<int64_t> sizes = SizesOf(original);
  if (sizes.empty()) return std::nullopt;
  for (int i = 0; i < kTries; ++i) {
    std::vector<Piece> pieces = original;
    const int changes = rng.Uniform() < 0.5 ? 1 : 2;
    for (int change = 0; change < changes; ++change) {
      const int64_t from = sizes[rng.Below(sizes.size())];
      const int64_t to = NewSize(from, rng);
      for (Piece& piece : pieces) {
        if (!piece.is_sizes) continue;
        piece.text = MapNumbers(
            piece.text, [&](int64_t size) { return size == from ? to : size; });
      }
    }
    if (rng.Uniform() < kRetypedShare) Retype(pieces);
    std::string changed;
    for (const Piece& piece : pieces) absl::StrAppend(&changed, piece.text);
    if (changed == text) continue;
    absl::StatusOr<hlo::Module> module = hlo::ParseHloText(changed);
    if (module.ok() && hlo::VerifyModule(*module).ok()) {
      return *std::move(module);
    }
  }
  return std::nullopt;
}

}  // namespace hone::bench
