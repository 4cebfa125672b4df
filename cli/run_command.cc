// hone run: evaluates a module.

#include <cmath>
#include <iostream>
#include <memory>
#include <thread>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "cli/command.h"

#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "hlo/equivalence.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/read_module.h"

namespace hone::cli {
namespace {

struct Options {
  std::string file;
  uint64_t seed = 0;
  double time_limit_seconds = 600;
};

// The array outputs of a result in order, nested tuples flattened.
void Flatten(const hlo::Literal& literal,
             std::vector<const hlo::Literal*>& arrays) {
  if (!literal.shape().IsTuple()) {
    arrays.push_back(&literal);
    return;
  }
  for (const hlo::Literal& element : literal.elements()) {
    Flatten(element, arrays);
  }
}

struct Summary {
  double mean = 0;
  double min = 0;
  double max = 0;
  int64_t non_finite = 0;
};

Summary Summarize(const hlo::Literal& array) {
  Summary summary;
  int64_t finite = 0;
  double sum = 0;
  for (int64_t i = 0; i < array.num_elements(); ++i) {
    const double value = array.AsDouble(i);
    if (!std::isfinite(value)) {
      ++summary.non_finite;
      continue;
    }
    summary.min = finite == 0 ? value : std::min(summary.min, value);
    summary.max = finite == 0 ? value : std::max(summary.max, value);
    sum += value;
    ++finite;
  }
  if (finite > 0) summary.mean = sum / static_cast<double>(finite);
  return summary;
}

absl::StatusOr<int> Run(const Options& options, const Context& context) {
  HONE_ASSIGN_OR_RETURN(const hlo::Module module,
                        hlo::ReadModuleFile(options.file));
  ThreadPool pool(std::max(1u, std::thread::hardware_concurrency()));
  hlo::EvaluateOptions evaluate;
  evaluate.pool = &pool;
  evaluate.time_limit = absl::Seconds(options.time_limit_seconds);
  const std::vector<hlo::Literal> arguments =
      hlo::RandomArguments(module, options.seed);
  const absl::Time start = absl::Now();
  HONE_ASSIGN_OR_RETURN(const hlo::Literal result,
                        hlo::Evaluate(module, arguments, evaluate));
  const double seconds = absl::ToDoubleSeconds(absl::Now() - start);
  std::vector<const hlo::Literal*> arrays;
  Flatten(result, arrays);
  nlohmann::ordered_json outputs = nlohmann::ordered_json::array();
  for (size_t i = 0; i < arrays.size(); ++i) {
    const Summary summary = Summarize(*arrays[i]);
    const std::string shape = arrays[i]->shape().ToString();
    if (context.json) {
      outputs.push_back({{"shape", shape},
                         {"mean", summary.mean},
                         {"min", summary.min},
                         {"max", summary.max},
                         {"non_finite", summary.non_finite}});
    } else {
      std::cout << absl::StrFormat(
          "output %d %s: mean %.6g, min %.6g, max %.6g, non-finite %d\n", i,
          shape, summary.mean, summary.min, summary.max, summary.non_finite);
    }
  }
  if (context.json) {
    PrintJson({{"module", module.name()},
               {"seed", options.seed},
               {"seconds", seconds},
               {"outputs", outputs}});
  } else {
    std::cerr << absl::StrFormat("%s: evaluated in %.3f s\n", module.name(),
                                 seconds);
  }
  return kDone;
}

}  // namespace

void AddRunCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      AddCommand(app, context, "run", "Evaluate a module on random arguments");
  command->add_option("FILE", options->file, "HLO text or HloModuleProto")
      ->required();
  command->add_option("--random-seed", options->seed, "Seed of the arguments")
      ->capture_default_str();
  command
      ->add_option("--time-limit", options->time_limit_seconds,
                   "Seconds after which to give up")
      ->capture_default_str();
  command->callback([options, &context] {
    RunCommand(context, [&] { return Run(*options, context); });
  });
}

}  // namespace hone::cli
