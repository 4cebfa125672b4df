#ifndef HONE_TUNING_TASKS_KERNEL_SURROGATE_H_
#define HONE_TUNING_TASKS_KERNEL_SURROGATE_H_

#include <memory>

#include "learning/cost/cost_predictor.h"
#include "space/surrogate.h"
#include "tuning/tasks/kernel_problem.h"

namespace hone::tuning {

// Returns the model of `problem` by a copy of `model`, which has
// KernelCostSpec's heads; `problem` outlives it.
//
// A cost is the score of the program (schedule_scores.h), corrected by what
// measurements of similar programs say (residual_process.h): a model that
// errs about one schedule errs about those like it, and a search for the best
// prediction finds just those. Equal programs have equal costs. Trials that
// failed teach nothing. No device takes part.
//
// LegalActions lists less than the problem's, as there are hundreds of steps
// in each state and the model knows little of them: choices, and a few
// steps after the best schedules, once choices have been tried.
std::unique_ptr<space::Surrogate> MakeKernelSurrogateOf(
    const KernelProblem& problem, const learning::CostPredictor& model);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_KERNEL_SURROGATE_H_
