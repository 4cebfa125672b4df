#ifndef HONE_BENCH_PASS_ORDER_SPLIT_H_
#define HONE_BENCH_PASS_ORDER_SPLIT_H_

#include "absl/strings/string_view.h"

namespace hone::bench {

// The role of a module of the corpus, by its family, so that no size or variant
// of a tested model was ever trained on.
enum class Split {
  kTraining,
  kValidation,  // chooses among weights: ViT and LLaMA
  kTest,        // published figures: GPT-2, BERT and ResNet, as in the paper
};

Split SplitOf(absl::string_view module);

}  // namespace hone::bench

#endif  // HONE_BENCH_PASS_ORDER_SPLIT_H_
