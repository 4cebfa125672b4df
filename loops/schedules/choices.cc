#include "loops/schedules/choices.h"

#include "base/check.h"

namespace hone::loops {

absl::Span<const ChoiceInfo> AllChoices() {
  static const auto* const choices = [] {
    auto* all = new std::vector<ChoiceInfo>{
        {"tile_rows", {1, 2, 3, 4, 6, 8, 12}},
        {"tile_vectors", {1, 2, 3, 4, 6}},
        {"panel_share", {1, 4, 8}},
        {"pack", {1, 2}},
        {"partial_sums", {1, 2, 8}},
        {"sums_at_once", {64, 256, 1024, 4096}},
        {"block_rows", {8, 16, 64}},
        {"vectors_at_once", {2, 4}},
        {"fuse", {1}},
        {"stores", {1}},
    };
    HONE_CHECK(all->size() == kChoiceCount);
    return all;
  }();
  return *choices;
}

}  // namespace hone::loops
