#include "loops/schedules/choices.h"

#include "base/check.h"

namespace hone::loops {

absl::Span<const ChoiceInfo> AllChoices() {
  static const auto* const choices = [] {
    auto* all = new std::vector<ChoiceInfo>{
        {"tile_rows", {8, 4, 12, 10, 5, 7, 6, 3, 2}},
        {"tile_vectors", {3, 2, 4, 1, 6}},
        {"panels", {1, 2}},
        {"panel_share", {16, 32, 8, 1}},
        {"rows_first", {2, 1}},
        {"sums_per_block", {16, 4, 32}},
        {"rows_at_once", {8, 2, 1}},
        {"row_vectors", {1, 4}},
        {"partial_sums", {8, 2, 1}},
        {"block", {32, 128, 16}},
        {"vectors_at_once", {1, 2, 8}},
        {"fuse", {1}},
        {"row_block", {8, 16, 4, 32, 1}},
        {"stream", {2}},
        {"prefetch", {16, 64, 32, 4}},
    };
    HONE_CHECK(all->size() == kChoiceCount);
    return all;
  }();
  return *choices;
}

}  // namespace hone::loops
