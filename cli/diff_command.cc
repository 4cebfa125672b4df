// hone diff: checks that two modules compute the same.

#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_format.h"
#include "cli/command.h"
#include "cli/read_subject.h"

#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "hlo/analysis/fingerprint.h"
#include "hlo/equivalence/effects.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/equivalence/interface.h"
#include "hlo/equivalence/merged_module.h"

namespace hone::cli {
namespace {

struct Options {
  std::string a;
  std::string b;
  uint64_t seed = 0;
  int random_inputs = 2;
  int adversarial_inputs = 1;
  double time_limit_seconds = 600;
};

// What is known of the two modules.
struct Answer {
  // Why they do not count as equal: "different" or "not verified"; empty if
  // they do.
  std::string reason;
  hlo::EquivalenceReport report;
};

// "; 0.3 % of an output unverifiable"; empty if all of it is verified.
std::string Unverifiable(const hlo::EquivalenceReport& report) {
  if (report.unverifiable == 0) return "";
  return absl::StrFormat("; %.3g %% of an output unverifiable",
                         100 * report.unverifiable);
}

absl::StatusOr<Answer> Compare(const hlo::Module& a, const hlo::Module& b,
                               const hlo::EquivalenceOptions& options) {
  HONE_RETURN_IF_ERROR(hlo::CheckSignatures(a, b));
  Answer answer;
  if (auto difference = hlo::StaticDifference(a, b)) {
    answer.reason = "different";
    answer.report.method = "not evaluated";
    answer.report.explanation = *std::move(difference);
    return answer;
  }
  if (hlo::Fingerprint(a) == hlo::Fingerprint(b)) {
    HONE_ASSIGN_OR_RETURN(answer.report, hlo::CheckEquivalent(a, b, options));
  } else {
    HONE_ASSIGN_OR_RETURN(const hlo::Module x, hlo::WithEffectOperands(a));
    HONE_ASSIGN_OR_RETURN(const hlo::Module y, hlo::WithEffectOperands(b));
    HONE_ASSIGN_OR_RETURN(answer.report, hlo::CheckEquivalent(x, y, options));
  }
  hlo::EquivalenceReport& report = answer.report;
  if (!report.equal) {
    answer.reason = "different";
  } else if (const absl::Status evidence =
                 hlo::CheckEvidence(report.unverifiable);
             !evidence.ok()) {
    answer.reason = "not verified";
    report.explanation = std::string(evidence.message());
  }
  return answer;
}

absl::StatusOr<int> Run(const Options& options, const Context& context) {
  if (options.random_inputs + options.adversarial_inputs == 0) {
    return absl::InvalidArgumentError(
        "--inputs 0 and --adversarial 0: nothing to compare on, expected 1 or "
        "more of either");
  }
  HONE_ASSIGN_OR_RETURN(const hlo::Module a, ReadModule(options.a));
  HONE_ASSIGN_OR_RETURN(const hlo::Module b, ReadModule(options.b));
  ThreadPool pool(std::max(1u, std::thread::hardware_concurrency()));
  hlo::EquivalenceOptions equivalence;
  equivalence.seed = options.seed;
  equivalence.mixed_inputs = options.random_inputs / 2;
  equivalence.random_inputs = options.random_inputs - equivalence.mixed_inputs;
  equivalence.adversarial_inputs = options.adversarial_inputs;
  equivalence.evaluate.pool = &pool;
  equivalence.evaluate.time_limit = absl::Seconds(options.time_limit_seconds);
  HONE_ASSIGN_OR_RETURN(const Answer answer, Compare(a, b, equivalence));
  const bool equal = answer.reason.empty();
  const hlo::EquivalenceReport& report = answer.report;
  if (context.json) {
    PrintJson({{"equal", equal},
               {"reason", answer.reason},
               {"method", report.method},
               {"max_rel_error", report.max_rel_error},
               {"unverifiable", report.unverifiable},
               {"explanation", report.explanation}});
  } else if (equal) {
    std::cout << absl::StrFormat("equal (%s; largest relative error %.3g%s)\n",
                                 report.method, report.max_rel_error,
                                 Unverifiable(report));
  } else {
    std::cout << answer.reason << ": " << report.explanation << "\n";
  }
  return equal ? kDone : kAnswerIsNo;
}

}  // namespace

void AddDiffCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      AddCommand(app, context, "diff",
                 "Check two modules equal on random and adversarial inputs");
  AddModuleArgument(*command, "A", options->a);
  AddModuleArgument(*command, "B", options->b);
  command->add_option("--seed", options->seed, "Seed of the inputs")
      ->transform(WholeNumber(0, kMaxSeed))
      ->capture_default_str();
  command
      ->add_option("--inputs", options->random_inputs,
                   "Random inputs, every other one of mixed magnitudes")
      ->transform(WholeNumber(0, 1000))
      ->capture_default_str();
  command
      ->add_option("--adversarial", options->adversarial_inputs,
                   "Inputs with inf, NaN, denormals and large values; where "
                   "scalars are floats, two of extreme scalars come on top")
      ->transform(WholeNumber(0, 1000))
      ->capture_default_str();
  AddTimeLimitOption(*command, options->time_limit_seconds);
  command->callback([options, &context] {
    RunCommand(context, [&] { return Run(*options, context); });
  });
}

}  // namespace hone::cli
