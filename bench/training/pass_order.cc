#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

#include "base/status_macros.h"
#include "bench/corpus.h"
#include "bench/pass_order_split.h"
#include "bench/training/data_set.h"
#include "hlo/read_module.h"
#include "tuning/registry.h"
#include "tuning/task.h"

namespace hone::bench {

using optimizers::policies::TrainingProblem;
using optimizers::policies::TrainingSet;

absl::StatusOr<TrainingSet> MakePassOrderData(const DataSetOptions& options) {
  HONE_ASSIGN_OR_RETURN(const std::vector<CorpusEntry> corpus,
                        ReadCorpus(options.corpus, ""));
  HONE_ASSIGN_OR_RETURN(const tuning::Task* const task,
                        tuning::FindTask("pass_order"));
  TrainingSet set;
  for (const CorpusEntry& entry : corpus) {
    const Split split = SplitOf(entry.name);
    if (split == Split::kTest) continue;
    HONE_ASSIGN_OR_RETURN(hlo::Module read, hlo::ReadModuleFile(entry.path));
    if (read.instruction_count() > options.max_instructions) continue;
    TrainingProblem problem;
    problem.name = entry.name;
    problem.make =
        [task, module = std::make_shared<const hlo::Module>(std::move(read))] {
          return task->MakeProblem(*module, {}, {});
        };
    (split == Split::kTraining ? set.training : set.validation)
        .push_back(std::move(problem));
  }
  if (set.training.empty()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "--corpus '%s' --max-instructions %d: no modules to train on, expected "
        "1 or more",
        options.corpus, options.max_instructions));
  }
  return set;
}

}  // namespace hone::bench
