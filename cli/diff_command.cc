// hone diff: checks that two modules compute the same.

#include <iostream>
#include <memory>
#include <thread>

#include "absl/strings/str_format.h"
#include "cli/command.h"

#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/read_module.h"

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

// "; 3 % of an output unverifiable"; empty if all of it is verified.
std::string Unverifiable(const hlo::EquivalenceReport& report) {
  if (report.unverifiable == 0) return "";
  return absl::StrFormat("; %.2g %% of an output unverifiable",
                         100 * report.unverifiable);
}

absl::StatusOr<int> Run(const Options& options, const Context& context) {
  if (options.random_inputs + options.adversarial_inputs == 0) {
    return absl::InvalidArgumentError(
        "--inputs 0 and --adversarial 0: nothing to compare on, expected 1 or "
        "more of either");
  }
  HONE_ASSIGN_OR_RETURN(const hlo::Module a, hlo::ReadModuleFile(options.a));
  HONE_ASSIGN_OR_RETURN(const hlo::Module b, hlo::ReadModuleFile(options.b));
  ThreadPool pool(std::max(1u, std::thread::hardware_concurrency()));
  hlo::EquivalenceOptions equivalence;
  equivalence.seed = options.seed;
  equivalence.mixed_inputs = options.random_inputs / 2;
  equivalence.random_inputs = options.random_inputs - equivalence.mixed_inputs;
  equivalence.adversarial_inputs = options.adversarial_inputs;
  equivalence.evaluate.pool = &pool;
  equivalence.evaluate.time_limit = absl::Seconds(options.time_limit_seconds);
  HONE_ASSIGN_OR_RETURN(const hlo::EquivalenceReport report,
                        hlo::CheckEquivalent(a, b, equivalence));
  if (context.json) {
    PrintJson({{"equal", report.equal},
               {"method", report.method},
               {"max_rel_error", report.max_rel_error},
               {"unverifiable", report.unverifiable},
               {"explanation", report.explanation}});
  } else if (report.equal) {
    std::cout << absl::StrFormat("equal (%s; largest relative error %.3g%s)\n",
                                 report.method, report.max_rel_error,
                                 Unverifiable(report));
  } else {
    std::cout << "different: " << report.explanation << "\n";
  }
  return report.equal ? kDone : kAnswerIsNo;
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
