#include "loops/schedules/choices.h"

#include "base/check.h"

namespace hone::loops {

absl::Span<const ChoiceInfo> AllChoices() {
  static const auto* const choices = [] {
    auto* all = new std::vector<ChoiceInfo>{
        {"tile_rows", {1, 2, 3, 4, 6, 8, 12}},
        {"tile_vectors", {1, 2, 3, 4, 6}},
        {"panels", {1, 2}},
        {"panel_share", {1, 8, 16, 32}},
        {"rows_first", {1, 2}},
        {"sums_per_block", {4, 16, 32}},
        {"rows_at_once", {1, 2, 8}},
        {"row_vectors", {1, 4}},
        {"partial_sums", {1, 2, 8}},
        {"block", {16, 32, 128}},
        {"vectors_at_once", {1, 2}},
        {"fuse", {1}},
        {"row_block", {4, 8, 16, 32}},
        {"stream", {2}},
    };
    HONE_CHECK(all->size() == kChoiceCount);
    return all;
  }();
  return *choices;
}

}  // namespace hone::loops
