#include "bench/verification/verification.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <thread>
#include <utility>
#include <vector>

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

// Judgments of one kind of rewrite.
struct Row {
  int count = 0;
  int right = 0;  // judgments
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
    HONE_ASSIGN_OR_RETURN(const std::vector<CorpusEntry> entries,
                          ReadCorpus(options_.corpus, options_.only));
    for (const CorpusEntry& entry : entries) {
      if (entry.ops > options_.max_ops) continue;
      HONE_ASSIGN_OR_RETURN(const hlo::Module module,
                            hlo::ReadModuleFile(entry.path));
      HONE_RETURN_IF_ERROR(JudgeWrong(entry.name, module));
      HONE_RETURN_IF_ERROR(JudgeRight(entry.name, module));
    }
    return Summary();
  }

 private:
  // Returns true if double precision shows, on inputs that verification does
  // not use, that the modules compute different things.
  absl::StatusOr<bool> ComputesSomethingElse(const hlo::Module& module,
                                             const hlo::Module& wrong) {
    HONE_ASSIGN_OR_RETURN(std::vector<hlo::Literal> arguments,
                          hlo::RandomArguments(module, options_.seed + 1000));
    for (hlo::Literal& argument : arguments) {
      argument = hlo::InDoublePrecision(argument);
    }
    hlo::EvaluateOptions evaluate;
    evaluate.pool = &pool_;
    HONE_ASSIGN_OR_RETURN(
        const hlo::Literal a,
        Evaluate(hlo::InDoublePrecision(module), arguments, evaluate));
    HONE_ASSIGN_OR_RETURN(
        const hlo::Literal b,
        Evaluate(hlo::InDoublePrecision(wrong), arguments, evaluate));
    return DiffersVisibly(a, b);
  }

  absl::Status JudgeWrong(const std::string& name, const hlo::Module& module) {
    for (absl::string_view kind : MutationKinds()) {
      for (int32_t i = 0; i < options_.mutations; ++i) {
        for (int attempt = 0; attempt < kMaxTries; ++attempt) {
          const std::optional<Mutation> mutation = Mutate(module, kind, rng_);
          if (!mutation.has_value()) break;
          // Random inputs do not reach what is rare.
          if (kind != "rare NaN") {
            HONE_ASSIGN_OR_RETURN(
                const bool differs,
                ComputesSomethingElse(module, mutation->module));
            if (!differs) continue;
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
    HONE_ASSIGN_OR_RETURN(const hlo::Pipeline* const pipeline,
                          hlo::FindPipeline("xla-cpu"));
    hlo::Module simplified = module;
    HONE_RETURN_IF_ERROR(RunPipeline(simplified, *pipeline).status());
    HONE_RETURN_IF_ERROR(Judge(name, "default pipeline", "default pipeline",
                               module, simplified, /*right=*/true));
    const auto passes = hlo::Passes().ids();
    for (int i = 0; i < kOrders; ++i) {
      hlo::Module rewritten = module;
      std::vector<std::string> order;
      for (int k = 0; k < kOrderLength; ++k) {
        const absl::string_view id = passes[rng_.Below(passes.size())];
        HONE_ASSIGN_OR_RETURN(const hlo::Pass* const pass, hlo::FindPass(id));
        HONE_ASSIGN_OR_RETURN(const bool changed, pass->Run(rewritten));
        if (changed) order.emplace_back(id);
      }
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
    const absl::Status status =
        tuning::VerifyRewrite(module, rewritten,
                              {.pool = &pool_, .seed = options_.seed})
            .status();
    const double seconds =
        absl::ToDoubleSeconds(SystemClock().Monotonic() - start);
    slowest_seconds_ = std::max(slowest_seconds_, seconds);
    if (!status.ok() && !absl::IsFailedPrecondition(status)) return status;
    Row& row = rows_[{right, kind}];
    ++row.count;
    if (status.ok() == right) {
      ++row.right;
      return absl::OkStatus();
    }
    out_ << (right ? "refused: " : "accepted: ") << name << ", " << what
         << (right ? absl::StrCat(": ", status.message()) : "") << "\n"
         << std::flush;
    false_.push_back({{"module", name}, {"rewrite", what}, {"right", right}});
    return absl::OkStatus();
  }

  Json Summary() {
    Json rows = Json::array();
    Row wrong;
    Row right;
    out_ << absl::StrFormat("%-18s %8s %8s\n", "rewrites", "count", "judged");
    for (const auto& [key, row] : rows_) {
      Row& total = key.first ? right : wrong;
      total.count += row.count;
      total.right += row.right;
      out_ << absl::StrFormat("%-18s %8d %8d\n", key.second, row.count,
                              row.right);
      rows.push_back({{"rewrites", key.second},
                      {"count", row.count},
                      {"judged_rightly", row.right}});
    }
    out_ << absl::StrFormat(
        "%d of %d wrong ones refused, %d of %d right ones accepted; the "
        "slowest "
        "took %.1f s\n",
        wrong.right, wrong.count, right.right, right.count, slowest_seconds_);
    return {
        {"bench", "verification"},       {"machine", DescribeMachine()},
        {"rows", std::move(rows)},       {"wrong", wrong.count},
        {"wrong_refused", wrong.right},  {"right", right.count},
        {"right_accepted", right.right}, {"slowest_seconds", slowest_seconds_},
        {"false", std::move(false_)}};
  }

  const VerificationOptions& options_;
  std::ostream& out_;
  ThreadPool pool_;
  Rng rng_;
  // By whether the rewrites are right, and their kind.
  std::map<std::pair<bool, std::string>, Row> rows_;
  double slowest_seconds_ = 0;
  Json false_ = Json::array();
};

}  // namespace

absl::StatusOr<Json> RunVerificationBench(const VerificationOptions& options,
                                          std::ostream& out) {
  return Bench(options, out).Run();
}

}  // namespace hone::bench
