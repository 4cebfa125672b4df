#include "bench/verification/verification.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "base/clock.h"
#include "base/rng.h"
#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "bench/corpus.h"
#include "bench/verification/mutations.h"
#include "hlo/equivalence/double_precision.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/passes/pipeline.h"
#include "hlo/passes/registry.h"
#include "hlo/read_module.h"
#include "tuning/verify.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

// A mistake at another place is tried where one computes the same.
constexpr int kMaxTries = 8;
// Passes of a random order; orders of each module.
constexpr int kOrderLength = 20;
constexpr int kOrders = 2;
// The part of an element, and of its array's root mean square, from which a
// difference in double precision shows another computation.
constexpr double kVisible = 1e-5;
// What verification says of a rewrite that changed nothing.
constexpr absl::string_view kIdentical = "identical to the input";

// Judgments of one kind of rewrite.
struct Row {
  int count = 0;
  int right = 0;  // judgments
  // Of those: refused before any value was compared, or for too few elements
  // that mean something; accepted by some of their outputs.
  int otherwise = 0;
  // Mutants that computed the same, for which others were drawn.
  int drawn_again = 0;
  // Of each judgment.
  std::vector<double> seconds;

  void Add(const Row& other) {
    count += other.count;
    right += other.right;
    otherwise += other.otherwise;
    drawn_again += other.drawn_again;
    seconds.insert(seconds.end(), other.seconds.begin(), other.seconds.end());
  }
  double Median() const {
    std::vector<double> sorted = seconds;
    const auto middle =
        sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return sorted.empty() ? 0 : *middle;
  }
  double Largest() const {
    return seconds.empty() ? 0
                           : *std::max_element(seconds.begin(), seconds.end());
  }
};

bool DiffersVisibly(const hlo::Literal& a, const hlo::Literal& b) {
  if (a.shape().IsTuple()) {
    for (size_t i = 0; i < a.elements().size(); ++i) {
      if (DiffersVisibly(a.elements()[i], b.elements()[i])) return true;
    }
    return false;
  }
  if (!a.shape().IsArray() || IsComplex(a.shape().element_type())) return false;
  double squares = 0;
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const double x = a.AsDouble(i);
    if (std::isfinite(x)) squares += x * x;
  }
  const double scale = std::sqrt(
      squares / std::max<double>(1, static_cast<double>(a.num_elements())));
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const double x = a.AsDouble(i);
    const double y = b.AsDouble(i);
    if (std::isnan(x) != std::isnan(y)) return true;
    if (std::fabs(x - y) > kVisible * std::max(std::fabs(x), scale)) {
      return true;
    }
  }
  return false;
}

class Bench {
 public:
  Bench(const VerificationOptions& options, std::ostream& out)
      : options_(options),
        out_(out),
        pool_(std::max(1U, std::thread::hardware_concurrency())),
        rng_(options.seed) {}

  absl::StatusOr<Json> Run() {
    HONE_ASSIGN_OR_RETURN(std::vector<CorpusEntry> entries,
                          ReadCorpus(options_.corpus, options_.only));
    // Small modules first: what they show is there soon.
    std::stable_sort(entries.begin(), entries.end(),
                     [](const CorpusEntry& a, const CorpusEntry& b) {
                       return a.ops < b.ops;
                     });
    for (const CorpusEntry& entry : entries) {
      HONE_ASSIGN_OR_RETURN(const hlo::Module module,
                            hlo::ReadModuleFile(entry.path));
      if (const absl::Status status = tuning::CheckEvaluable(module);
          !status.ok()) {
        out_ << "not evaluated: " << entry.name << ": " << status.message()
             << "\n";
        not_evaluated_.push_back(
            {{"module", entry.name}, {"why", status.message()}});
        continue;
      }
      if (entry.ops <= options_.max_ops) {
        HONE_RETURN_IF_ERROR(JudgeWrong(entry.name, module));
        HONE_RETURN_IF_ERROR(JudgeRight(entry.name, module));
      } else {
        too_large_.push_back(entry.name);
      }
      if (!options_.tuned_directory.empty()) {
        HONE_RETURN_IF_ERROR(JudgeTuned(entry.name, module));
      }
    }
    return Summary();
  }

 private:
  // The tuned module of the same name, if there is one.
  absl::Status JudgeTuned(const std::string& name, const hlo::Module& module) {
    const std::string path =
        absl::StrCat(options_.tuned_directory, "/", name, ".hlo");
    if (!std::filesystem::exists(path)) return absl::OkStatus();
    HONE_ASSIGN_OR_RETURN(const hlo::Module tuned, hlo::ReadModuleFile(path));
    return Judge(name, "tuned order", "tuned", module, tuned, /*right=*/true);
  }

  // Returns true if double precision shows, on one of four inputs that
  // verification does not use, that the modules compute different things. The
  // inputs trigger a mistake that shows at rare values only.
  absl::StatusOr<bool> ComputesSomethingElse(const hlo::Module& module,
                                             const Mutation& mutation) {
    for (hlo::ArgumentKind kind :
         {hlo::ArgumentKind::kRandom, hlo::ArgumentKind::kMixed,
          hlo::ArgumentKind::kAdversarial, hlo::ArgumentKind::kExtreme}) {
      HONE_ASSIGN_OR_RETURN(
          std::vector<hlo::Literal> arguments,
          hlo::MakeArguments(module, kind, options_.seed + 1000));
      if (mutation.trigger.has_value()) {
        hlo::Literal& scalar =
            arguments[static_cast<size_t>(mutation.trigger->parameter)];
        scalar = hlo::Literal::Scalar(scalar.shape().element_type(),
                                      mutation.trigger->value);
      }
      for (hlo::Literal& argument : arguments) {
        argument = hlo::InDoublePrecision(argument);
      }
      hlo::EvaluateOptions evaluate;
      evaluate.pool = &pool_;
      HONE_ASSIGN_OR_RETURN(
          const hlo::Literal a,
          Evaluate(hlo::InDoublePrecision(module), arguments, evaluate));
      HONE_ASSIGN_OR_RETURN(const hlo::Literal b,
                            Evaluate(hlo::InDoublePrecision(mutation.module),
                                     arguments, evaluate));
      if (DiffersVisibly(a, b)) return true;
    }
    return false;
  }

  absl::Status JudgeWrong(const std::string& name, const hlo::Module& module) {
    for (absl::string_view kind : MutationKinds()) {
      for (int32_t i = 0; i < options_.mutations; ++i) {
        for (int attempt = 0; attempt < kMaxTries; ++attempt) {
          const std::optional<Mutation> mutation = Mutate(module, kind, rng_);
          if (!mutation.has_value()) break;
          HONE_ASSIGN_OR_RETURN(const bool differs,
                                ComputesSomethingElse(module, *mutation));
          if (!differs) {
            ++rows_[{false, std::string(kind)}].drawn_again;
            continue;
          }
          HONE_RETURN_IF_ERROR(Judge(name, std::string(kind),
                                     mutation->description, module,
                                     mutation->module, /*right=*/false));
          break;
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status JudgeRight(const std::string& name, const hlo::Module& module) {
    for (const hlo::Pipeline& pipeline : hlo::Pipelines()) {
      hlo::Module rewritten = module;
      HONE_RETURN_IF_ERROR(RunPipeline(rewritten, pipeline).status());
      HONE_RETURN_IF_ERROR(Judge(name, "default pipeline", pipeline.name,
                                 module, rewritten, /*right=*/true));
    }
    const auto passes = hlo::Passes().ids();
    for (int i = 0; i < kOrders; ++i) {
      std::vector<std::string> order;
      for (int k = 0; k < kOrderLength; ++k) {
        order.emplace_back(passes[rng_.Below(passes.size())]);
      }
      hlo::Module rewritten = module;
      HONE_RETURN_IF_ERROR(RunPasses(rewritten, order).status());
      HONE_RETURN_IF_ERROR(Judge(name, "random order",
                                 absl::StrJoin(order, ","), module, rewritten,
                                 /*right=*/true));
    }
    return absl::OkStatus();
  }

  absl::Status Judge(const std::string& name, const std::string& kind,
                     const std::string& what, const hlo::Module& module,
                     const hlo::Module& rewritten, bool right) {
    const absl::Duration start = SystemClock().Monotonic();
    const absl::StatusOr<storage::Verification> result = tuning::VerifyRewrite(
        module, rewritten, {.pool = &pool_, .seed = options_.seed});
    const absl::Status& status = result.status();
    if (!status.ok() && !absl::IsFailedPrecondition(status)) return status;
    // Shows nothing.
    if (status.ok() && result->method == kIdentical) return absl::OkStatus();
    Row& row = rows_[{right, kind}];
    ++row.count;
    row.seconds.push_back(
        absl::ToDoubleSeconds(SystemClock().Monotonic() - start));
    if (status.ok() == right) {
      ++row.right;
      const bool is_usual =
          right ? !absl::StrContains(result->method, "scaled down")
                : absl::StartsWith(status.message(), "modules differ");
      if (!is_usual) ++row.otherwise;
      return absl::OkStatus();
    }
    out_ << (right ? "refused: " : "accepted: ") << name << ", " << what
         << (right ? absl::StrCat(": ", status.message()) : "") << "\n"
         << std::flush;
    false_.push_back({{"module", name},
                      {"kind", kind},
                      {"rewrite", what},
                      {"right", right},
                      {"status", status.message()}});
    return absl::OkStatus();
  }

  Json Summary() {
    Json rows = Json::array();
    Row wrong;
    Row right;
    out_ << absl::StrFormat("%-18s %8s %8s %10s %12s %10s %10s\n", "rewrites",
                            "count", "rightly", "otherwise", "drawn again",
                            "median s", "largest s");
    const auto print = [&](const std::string& name, const Row& row) {
      out_ << absl::StrFormat("%-18s %8d %8d %10d %12d %10.2f %10.2f\n", name,
                              row.count, row.right, row.otherwise,
                              row.drawn_again, row.Median(), row.Largest());
      return Json{{"rewrites", name},
                  {"count", row.count},
                  {"judged_rightly", row.right},
                  {"otherwise", row.otherwise},
                  {"drawn_again", row.drawn_again},
                  {"median_seconds", row.Median()},
                  {"largest_seconds", row.Largest()}};
    };
    for (const auto& [key, row] : rows_) {
      (key.first ? right : wrong).Add(row);
      rows.push_back(print(key.second, row));
    }
    Json all_wrong = print("all wrong ones", wrong);
    Json all_right = print("all right ones", right);
    return {{"bench", "verification"},
            {"machine", DescribeMachine()},
            {"rows", std::move(rows)},
            {"wrong", std::move(all_wrong)},
            {"right", std::move(all_right)},
            {"false", std::move(false_)},
            {"not_evaluated", std::move(not_evaluated_)},
            {"too_large", std::move(too_large_)}};
  }

  const VerificationOptions& options_;
  std::ostream& out_;
  ThreadPool pool_;
  Rng rng_;
  // By whether the rewrites are right, and their kind.
  std::map<std::pair<bool, std::string>, Row> rows_;
  Json false_ = Json::array();
  // Modules that are left out, and those of which only the tuned forms are
  // judged.
  Json not_evaluated_ = Json::array();
  Json too_large_ = Json::array();
};

}  // namespace

absl::StatusOr<Json> RunVerificationBench(const VerificationOptions& options,
                                          std::ostream& out) {
  return Bench(options, out).Run();
}

}  // namespace hone::bench
