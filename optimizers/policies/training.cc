#include "optimizers/policies/training.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include <malloc.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/rng.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "optimizers/policies/assignment_trainee.h"
#include "optimizers/policies/move_trainee.h"
#include "optimizers/policies/sequence_trainee.h"
#include "optimizers/policies/trainee.h"
#include "optimizers/policies/training_state.h"

namespace hone::optimizers::policies {
namespace {

constexpr char kCurveHeader[] =
    "update,seconds,mean_reward,entropy,policy_loss,value_loss,imitation_loss,"
    "validation";

constexpr int64_t kUpdatesPerValidation = 10;

class Trainer {
 public:
  Trainer(const TrainingSet& set, const TrainingOptions& options)
      : set_(set),
        options_(options),
        start_(SystemClock().Monotonic()),
        pool_(std::max(1U, std::thread::hardware_concurrency())) {}

  absl::StatusOr<TrainingResult> Run() {
    // Tensors of megabytes come and go with every step; handing their pages
    // back to the system each time takes longer than the arithmetic.
    // NOLINTBEGIN(concurrency-mt-unsafe): both are written under malloc's lock.
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    // NOLINTEND(concurrency-mt-unsafe)
    if (set_.training.empty()) {
      return absl::InvalidArgumentError(
          "no problems to train on, expected 1 or more");
    }
    HONE_RETURN_IF_ERROR(CheckCurve());
    HONE_RETURN_IF_ERROR(MakeTrainee());
    HONE_RETURN_IF_ERROR(Resume());
    Note();
    if (state_.update == 0) {
      if (!options_.initial_weights.empty()) HONE_RETURN_IF_ERROR(Validate());
      if (options_.search_trials > 0) HONE_RETURN_IF_ERROR(Teach());
      while (state_.label_rounds < options_.label_rounds &&
             Elapsed() < options_.time) {
        HONE_RETURN_IF_ERROR(LabelRound());
      }
    }
    while (state_.update < options_.updates && Elapsed() < options_.time) {
      HONE_RETURN_IF_ERROR(Update());
      const bool validates = state_.update % kUpdatesPerValidation == 0;
      if (validates) HONE_RETURN_IF_ERROR(Validate());
      HONE_RETURN_IF_ERROR(Save());
      if (validates) Report();
    }
    HONE_RETURN_IF_ERROR(Validate());
    std::error_code ignored;
    std::filesystem::remove(options_.state_file, ignored);
    return TrainingResult{state_.update, state_.best_validation};
  }

 private:
  absl::Duration Elapsed() const {
    return SystemClock().Monotonic() - start_ +
           absl::Seconds(state_.seconds_before);
  }

  // As ForEach says.
  absl::Status OnAllThreads(size_t n,
                            const std::function<absl::Status(size_t)>& body) {
    absl::Mutex mu;
    absl::Status failure;
    pool_.ParallelFor(static_cast<int64_t>(n), 1,
                      [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i) {
                          absl::Status status = body(static_cast<size_t>(i));
                          absl::MutexLock lock(&mu);
                          failure.Update(status);
                        }
                      });
    return failure;
  }

  // The training that a saved state must belong to.
  std::string Fingerprint() const {
    std::string names;
    for (const auto* problems : {&set_.training, &set_.validation}) {
      for (const TrainingProblem& problem : *problems) {
        absl::StrAppend(&names, problem.name, ",");
      }
      names += ";";
    }
    return absl::StrCat(names, options_.seed, ",", options_.teacher, ",",
                        options_.search_trials, ",", options_.label_rounds, ",",
                        options_.problems_per_update, ",",
                        options_.episodes_per_problem, ",",
                        options_.architecture, ",", options_.initial_weights,
                        ",", options_.partial, ",", trainee_->SpecDigest());
  }

  absl::Status Resume() {
    HONE_ASSIGN_OR_RETURN(
        std::optional<TrainingState> state,
        ReadTrainingState(options_.state_file, Fingerprint()));
    if (!state) {
      state_.fingerprint = Fingerprint();
      state_.best.resize(set_.training.size());
      return absl::OkStatus();
    }
    state_ = *std::move(state);
    goes_on_ = state_.update > 0;
    // The best weights so far are in that file: without it, others are better
    // than none.
    if (!std::filesystem::exists(options_.weights_file)) {
      state_.best_validation = 0;
    }
    absl::Status restored =
        trainee_->Restore(state_.weights, state_.gradient_descent);
    if (state_.best.size() != set_.training.size()) {
      restored.Update(absl::InvalidArgumentError(
          absl::StrCat("solutions of ", state_.best.size(),
                       " problems, expected ", set_.training.size())));
    }
    if (!restored.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(options_.state_file, ": ", restored.message()));
    }
    return absl::OkStatus();
  }

  absl::Status Save() {
    state_.weights = trainee_->SerializeWeights();
    state_.gradient_descent = trainee_->SerializeDescent();
    TrainingState saved = state_;
    saved.seconds_before = absl::ToDoubleSeconds(Elapsed());
    return WriteTrainingState(options_.state_file, saved);
  }

  absl::Status MakeTrainee() {
    HONE_ASSIGN_OR_RETURN(const auto first, set_.training[0].make());
    if (first->assignment() != nullptr) {
      HONE_ASSIGN_OR_RETURN(
          trainee_, first->assignment()->move_feature_names().empty()
                        ? MakeAssignmentTrainee(*first->assignment(), options_)
                        : MakeMoveTrainee(*first->assignment(), options_));
    } else {
      HONE_ASSIGN_OR_RETURN(
          trainee_, MakeSequenceTrainee(*first->sequential(), options_));
    }
    return absl::OkStatus();
  }

  // Finds the solutions to imitate, as far as there is time. Each is saved, as
  // a search may take minutes.
  absl::Status Teach() {
    absl::Mutex mu;
    const auto is_missing = [](const std::vector<int32_t>& solution) {
      return solution.empty();
    };
    return each_(set_.training.size(), [&](size_t i) -> absl::Status {
      {
        absl::MutexLock lock(&mu);
        if (!state_.best[i].empty() || Elapsed() >= options_.time) {
          return absl::OkStatus();
        }
      }
      HONE_ASSIGN_OR_RETURN(std::vector<int32_t> solution,
                            trainee_->Teach(set_.training[i]));
      absl::MutexLock lock(&mu);
      state_.best[i] = std::move(solution);
      if (options_.on_note) {
        const auto missing =
            std::count_if(state_.best.begin(), state_.best.end(), is_missing);
        options_.on_note(absl::StrCat(
            "searched for a solution of ", set_.training[i].name, ", ", missing,
            " of ", state_.best.size(), " problems left"));
      }
      return Save();
    });
  }

  // A lesson for each of these problems, with a generator of its own.
  std::vector<Lesson> Lessons(const std::vector<size_t>& problems, Rng& rng) {
    std::vector<Lesson> lessons;
    lessons.reserve(problems.size());
    for (const size_t i : problems) {
      lessons.push_back({&set_.training[i], &state_.best[i], rng.Split()});
    }
    return lessons;
  }

  absl::Status LabelRound() {
    Rng rng(options_.seed * 1000003 + 7919 +
            static_cast<uint64_t>(state_.label_rounds));
    std::vector<size_t> all(set_.training.size());
    std::iota(all.begin(), all.end(), size_t{0});
    std::vector<Lesson> lessons = Lessons(all, rng);
    const float fades = 1 - static_cast<float>(state_.label_rounds + 1) /
                                static_cast<float>(options_.label_rounds);
    HONE_RETURN_IF_ERROR(
        trainee_->LabelRound(lessons, fades, each_, statistics_));
    ++state_.label_rounds;
    HONE_RETURN_IF_ERROR(Validate());
    HONE_RETURN_IF_ERROR(Save());
    Report();
    return absl::OkStatus();
  }

  absl::Status Update() {
    // Drawn by the update's number, so that going on later draws the same.
    Rng rng(options_.seed * 1000003 + static_cast<uint64_t>(state_.update) + 1);
    std::vector<size_t> chosen;
    chosen.reserve(static_cast<size_t>(options_.problems_per_update));
    for (int32_t i = 0; i < options_.problems_per_update; ++i) {
      chosen.push_back(rng.Below(set_.training.size()));
    }
    std::vector<Lesson> lessons = Lessons(chosen, rng);
    HONE_RETURN_IF_ERROR(trainee_->Update(lessons, each_, statistics_));
    ++state_.update;
    return AppendCurve();
  }

  // Solves the validation problems and keeps the weights if they did better
  // than any before.
  absl::Status Validate() {
    const std::vector<TrainingProblem>& problems =
        set_.validation.empty() ? set_.training : set_.validation;
    std::vector<double> ratios(problems.size());
    HONE_RETURN_IF_ERROR(each_(problems.size(), [&](size_t i) -> absl::Status {
      HONE_ASSIGN_OR_RETURN(ratios[i], trainee_->Validate(problems[i]));
      return absl::OkStatus();
    }));
    state_.validation = GeometricMean(ratios);
    if (state_.best_validation == 0 ||
        state_.validation < state_.best_validation) {
      state_.best_validation = state_.validation;
      HONE_RETURN_IF_ERROR(WriteFileAtomically(options_.weights_file,
                                               trainee_->SerializeWeights()));
    }
    return absl::OkStatus();
  }

  // Fails if the file for the curve is something else.
  absl::Status CheckCurve() const {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(options_.curve_file, ignored)) {
      return absl::OkStatus();
    }
    std::ifstream in(options_.curve_file);
    std::string line;
    if (!std::getline(in, line) || line == kCurveHeader) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat(options_.curve_file,
                     ": not the curve of a training, expected one or a new "
                     "file"));
  }

  absl::Status AppendCurve() {
    if (options_.curve_file.empty()) return absl::OkStatus();
    // What an earlier training left there is no part of this one's.
    const bool is_new = !std::exchange(goes_on_, true) ||
                        !std::filesystem::exists(options_.curve_file);
    std::ofstream out(options_.curve_file,
                      is_new ? std::ios::trunc : std::ios::app);
    if (is_new) out << kCurveHeader << "\n";
    out << absl::StrJoin({static_cast<double>(state_.update),
                          absl::ToDoubleSeconds(Elapsed()),
                          statistics_.mean_reward, statistics_.entropy,
                          statistics_.policy_loss, statistics_.value_loss,
                          statistics_.imitation_loss, state_.validation},
                         ",")
        << "\n";
    out.close();
    if (!out) {
      return absl::InvalidArgumentError(
          absl::StrCat(options_.curve_file, ": cannot be written"));
    }
    return absl::OkStatus();
  }

  void Note() const {
    if (!options_.on_note) return;
    std::string note =
        absl::StrCat("training on ", set_.training.size(),
                     " problems, validating on ", set_.validation.size());
    if (!state_.weights.empty()) {
      absl::StrAppend(&note, "; going on after round ", state_.label_rounds,
                      ", update ", state_.update);
    }
    options_.on_note(note);
  }

  void Report() {
    if (!options_.on_progress) return;
    options_.on_progress({.label_round = state_.label_rounds,
                          .update = state_.update,
                          .validation = state_.validation,
                          .best_validation = state_.best_validation,
                          .mean_reward = statistics_.mean_reward,
                          .entropy = statistics_.entropy,
                          .imitation_loss = statistics_.imitation_loss,
                          .label_loss = statistics_.label_loss,
                          .seconds = absl::ToDoubleSeconds(Elapsed())});
  }

  const TrainingSet& set_;
  const TrainingOptions& options_;
  const absl::Duration start_;
  ThreadPool pool_;
  const ForEach each_ = [this](size_t n, const auto& body) {
    return OnAllThreads(n, body);
  };
  std::unique_ptr<Trainee> trainee_;
  TrainingState state_;
  TraineeStatistics statistics_;  // of the last round or update
  // True if the curve file is this training's, as far as it exists.
  bool goes_on_ = false;
};

}  // namespace

absl::StatusOr<TrainingResult> Train(const TrainingSet& set,
                                     const TrainingOptions& options) {
  return Trainer(set, options).Run();
}

}  // namespace hone::optimizers::policies
