// hone bench: reproduces a published table.

#include <limits>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "cli/add_bench.h"
#include "cli/kernel_benches.h"

#include "base/status_macros.h"
#include "bench/corpus.h"
#include "bench/cost_model/cost_model_bench.h"
#include "bench/cost_model/kernel_cost_bench.h"
#include "bench/cost_model/xtat_bench.h"
#include "bench/cost_model/xtat_fusion_bench.h"
#include "bench/environment.h"
#include "bench/faults/faults.h"
#include "bench/parse.h"
#include "bench/partition/partition.h"
#include "bench/pass_fidelity.h"
#include "bench/pass_order.h"
#include "bench/placement/placement.h"
#include "bench/placement_searches.h"
#include "bench/serve.h"
#include "bench/verification/verification.h"
#include "graphs/contiguity.h"

namespace hone::cli {
namespace {

using Json = nlohmann::ordered_json;

struct PassOrderArguments {
  bench::PassOrderBenchOptions options;
  std::string time;
};

void AddPassOrderOptions(CLI::App& command, PassOrderArguments& arguments) {
  bench::PassOrderBenchOptions& options = arguments.options;
  command
      .add_option("--search", options.searches,
                  "Optimizers, or guided-uniform (guided without a "
                  "policy), one column each")
      ->delimiter(',')
      ->capture_default_str();
  command
      .add_option("--budgets", options.budgets,
                  "Passes that a search may run beyond the default order's, "
                  "ascending; the searches get the last")
      ->delimiter(',')
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
  command
      .add_option("--trials", options.trials,
                  "Budget of each search in trials [no limit]")
      ->transform(WholeNumber(1, kMaxCount));
  command.add_option("--time", arguments.time,
                     "Budget of each search in time, e.g. 10s [no limit]");
  command
      .add_option("--passes", options.passes,
                  "Passes to order: all, or those of the default "
                  "pipeline")
      ->check(CLI::IsMember({"all", "pipeline"}))
      ->capture_default_str();
  command.add_option("--weights", options.weights,
                     "Weights of the policy [built in]");
  command.add_flag("--held-out", options.held_out,
                   "Only modules that no policy was trained on");
  command.add_option("--seeds", options.seeds, "Runs of each search")
      ->transform(WholeNumber(1, 1000))
      ->capture_default_str();
  command.add_option("--corpus", options.corpus, "Folder of the corpus")
      ->capture_default_str();
  command.add_option("--only", options.only,
                     "Regular expression that a module's name must match");
  command.add_option("--tuned", options.tuned_directory,
                     "Folder for every module's best result");
  command.add_option("--own", options.own_directory,
                     "Folder for every module by the default order with "
                     "Hone's own passes");
}

absl::StatusOr<Json> RunPassOrder(const PassOrderArguments& arguments,
                                  std::ostream& out) {
  bench::PassOrderBenchOptions options = arguments.options;
  if (!arguments.time.empty()) {
    HONE_ASSIGN_OR_RETURN(options.time,
                          ParseDurationOption("--time", arguments.time));
  }
  return bench::RunPassOrderBench(options, out);
}

struct PlacementArguments {
  bench::PlacementBenchOptions options;
  std::string contiguity = "pipeline";
  std::string time;
  std::string exact_time = "2m";
};

// The options of tables of step times, but for --seeds.
void AddStepTableOptions(CLI::App& command, bench::StepTableOptions& options) {
  command
      .add_option("--models", options.models, "Folder of the training steps")
      ->capture_default_str();
  command.add_option("--models-only", options.only,
                     "Regular expression that a model's name must match");
  command.add_option("--cluster", options.cluster,
                     "Bundled cluster for step times [as many V100 as the "
                     "manifest says]");
  command
      .add_option(
          "--step-search", options.searches,
          "Optimizers for step times, one column each; uniform: policy "
          "with all moves equally likely, estimate: by what is known of "
          "moves, both without weights")
      ->delimiter(',')
      ->capture_default_str();
  command
      .add_option("--simulations", options.simulations,
                  "Budget of each search in simulated steps")
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
  command.add_option("--weights", options.weights,
                     "File of the policies' weights [those of Hone]");
  command
      .add_option("--moves-per-try", options.moves_per_try,
                  "The most moves that a policy decides at once")
      ->transform(WholeNumber(1, 1000))
      ->capture_default_str();
}

void AddPlacementOptions(CLI::App& command, PlacementArguments& arguments) {
  bench::PlacementBenchOptions& options = arguments.options;
  command
      .add_option("--tables", options.tables,
                  "quality: max loads on the public graphs; scale: time and "
                  "memory on synthetic ones; steps: step times of training "
                  "steps; step-scale: time and memory of steps")
      ->delimiter(',')
      ->check(CLI::IsMember({"quality", "scale", "steps", "step-scale"}))
      ->capture_default_str();
  command.add_option("--graphs", options.graphs, "Folder of the public graphs")
      ->capture_default_str();
  command.add_option("--only", options.only,
                     "Regular expression that a graph's name must match");
  command
      .add_option("--contiguity", arguments.contiguity,
                  "What the nodes of a device must be: pipeline, convex or "
                  "none")
      ->capture_default_str();
  command
      .add_option("--search", options.searches, "Optimizers, one column each")
      ->delimiter(',')
      ->capture_default_str();
  command
      .add_option("--start", options.starts,
                  "Seeds that searches start from, one table each: all, "
                  "inexact (all but the exact program's) or none (the default "
                  "placement alone)")
      ->delimiter(',')
      ->check(CLI::IsMember({"all", "inexact", "none"}))
      ->capture_default_str();
  command.add_option("--seeds", options.seeds, "Runs of each search")
      ->transform(WholeNumber(1, 1000))
      ->capture_default_str();
  command
      .add_option("--evaluations", options.evaluations,
                  "Budget of each search in placements evaluated; 0: no such "
                  "table")
      ->transform(WholeNumber(0, kMaxCount))
      ->capture_default_str();
  command.add_option("--time", arguments.time,
                     "Budget of each search in time, e.g. 10s, for a table of "
                     "its own [none]");
  command
      .add_option("--exact-time", arguments.exact_time,
                  "Limit of the exact program in CPU time")
      ->capture_default_str();
  AddStepTableOptions(command, options.steps);
  command.add_option("--nodes", options.nodes, "Sizes of the synthetic graphs")
      ->delimiter(',')
      ->transform(WholeNumber(1, 1'000'000))
      ->capture_default_str();
}

absl::StatusOr<Json> RunPlacement(const PlacementArguments& arguments,
                                  std::ostream& out) {
  bench::PlacementBenchOptions options = arguments.options;
  HONE_ASSIGN_OR_RETURN(options.contiguity,
                        graphs::ParseContiguity(arguments.contiguity));
  HONE_ASSIGN_OR_RETURN(
      options.exact_time,
      ParseDurationOption("--exact-time", arguments.exact_time));
  if (!arguments.time.empty()) {
    HONE_ASSIGN_OR_RETURN(options.time,
                          ParseDurationOption("--time", arguments.time));
  }
  return bench::RunPlacementBench(options, out);
}

// Exit status 1 if a search ended worse than one of its seeds.
int PlacementStatus(const Json& document) {
  return document.at("worse_than_a_seed") == 0 ? kDone : kAnswerIsNo;
}

void AddPassFidelityOptions(CLI::App& command,
                            bench::PassFidelityOptions& options) {
  command
      .add_option("--dumps", options.dumps, "Folder of XLA's per-pass dumps")
      ->capture_default_str();
  command.add_option("--only", options.only, "The only pass to compare");
  command.add_flag("--counts", options.counts_only,
                   "Compare counts only, run nothing");
}

int PassFidelityStatus(const Json& document) {
  return document.at("unequal") == 0 ? kDone : kAnswerIsNo;
}

void AddVerificationOptions(CLI::App& command,
                            bench::VerificationOptions& options) {
  command.add_option("--corpus", options.corpus, "Folder of the corpus")
      ->capture_default_str();
  command.add_option("--only", options.only,
                     "Modules whose name matches this regular expression");
  command.add_option("--tuned", options.tuned_directory,
                     "Folder of tuned modules to judge too, NAME.hlo");
  command
      .add_option("--max-ops", options.max_ops,
                  "Judge larger modules by their tuned forms only: others are "
                  "evaluated many times")
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
  command
      .add_option("--mutations", options.mutations,
                  "Wrong rewrites of each kind and module")
      ->transform(WholeNumber(1, 1000))
      ->capture_default_str();
  command.add_option("--seed", options.seed, "Seed of the rewrites")
      ->transform(WholeNumber(0, kMaxSeed))
      ->capture_default_str();
}

int VerificationStatus(const Json& document) {
  return document.at("false").empty() ? kDone : kAnswerIsNo;
}

void AddParseOptions(CLI::App& command, bench::ParseOptions& options) {
  command.add_option("--corpus", options.corpus, "Folder of the corpus")
      ->capture_default_str();
  command
      .add_option("--python", options.python,
                  "Python with jaxlib; empty: leave out XLA")
      ->capture_default_str();
  command.add_option("--rounds", options.rounds, "Samples of each figure")
      ->transform(WholeNumber(1, 10000))
      ->capture_default_str();
}

void AddEnvironmentOptions(CLI::App& command,
                           bench::EnvironmentOptions& options) {
  command.add_option("--module", options.module, "Module to walk from")
      ->capture_default_str();
  command.add_option("--steps", options.steps, "Steps of each row")
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
  command.add_option("--seed", options.seed, "Seed of the random walks")
      ->transform(WholeNumber(0, kMaxSeed))
      ->capture_default_str();
}

void AddPlacementSearchesOptions(CLI::App& command,
                                 bench::PlacementSearchesOptions& options) {
  command.add_option("--graphs", options.graphs, "Folder of the graphs")
      ->capture_default_str();
  command.add_option("--only", options.only,
                     "Regular expression of the graphs' names [all]");
  command
      .add_option("--search", options.searches,
                  "Optimizers, one column each; zero-shot: a policy's first "
                  "decision; NAME-uniform: without weights")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--trials", options.trials, "Budget of each search")
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
  command.add_option("--seeds", options.seeds, "Runs of each search")
      ->transform(WholeNumber(1, 1000))
      ->capture_default_str();
  command.add_option("--weights", options.weights,
                     "Weights of the policies [none: they are uniform]");
}

void AddFaultOptions(CLI::App& command, bench::FaultOptions& options) {
  command
      .add_option("--only", options.only,
                  "Faults to try: kill, cancel, drain, hostile, modules, "
                  "slow-clients, full-disk, io-errors, bit-flips, paused, "
                  "native (default all)")
      ->delimiter(',');
  const auto count = [&](const char* name, int64_t& value, const char* what) {
    command.add_option(name, value, what)
        ->transform(WholeNumber(1, kMaxCount))
        ->capture_default_str();
  };
  count("--kills", options.kills, "Times that honed is killed under load");
  count("--cancellations", options.cancellations, "Calls to cancel");
  count("--calls", options.calls, "Calls in flight when SIGTERM comes");
  count("--slow-clients", options.slow_clients, "HTTP clients that stall then");
  count("--hostile", options.hostile, "Hostile requests of each RPC");
  count("--modules", options.modules, "Modules that no machine can evaluate");
  count("--stalled", options.stalled, "gRPC clients that stall, at once");
  count("--fills", options.fills, "Times that the disk is full");
  count("--io-errors", options.io_errors, "Times that the disk fails");
  count("--flips", options.flips, "Times that bits of the store flip");
  count("--paused-trials", options.paused_trials,
        "Trials of tunings whose workers are paused");
  count("--native-trials", options.native_trials,
        "Trials of tunings whose candidates do harm");
  command.add_option("--seed", options.seed, "Of everything random")
      ->capture_default_str();
}

// Exit status 1 if a promise was broken.
int FaultStatus(const Json& document) {
  return document["broken"] == 0 ? kDone : kAnswerIsNo;
}

void AddJointOptions(CLI::App& command, bench::StepTableOptions& options) {
  options.searches = {"annealing", "genetic", "uniform",
                      "estimate",  "policy",  "finetune"};
  command.add_option("--seeds", options.seeds, "Runs of each search")
      ->transform(WholeNumber(1, 1000))
      ->capture_default_str();
  AddStepTableOptions(command, options);
}

// Tables of all decisions at once and in turn, and of each by itself.
absl::StatusOr<nlohmann::ordered_json> RunJoint(
    const bench::StepTableOptions& options, std::ostream& out) {
  const std::vector<std::pair<const char*, tuning::StepDecisions>> tasks = {
      {"joint", {.devices = true, .priorities = true, .fusion = true}},
      {"placement", {.devices = true}},
      {"schedule", {.priorities = true}},
      {"fusion", {.fusion = true}}};
  Json document = {{"bench", "joint"}, {"machine", bench::DescribeMachine()}};
  for (const auto& [name, decisions] : tasks) {
    out << name << "\n";
    bench::StepTableOptions of = options;
    of.decisions = decisions;
    of.in_turn = decisions.devices && decisions.priorities && decisions.fusion;
    HONE_ASSIGN_OR_RETURN(document[name], bench::MeasureSteps(of, out));
  }
  return document;
}

// Exit status 1 if a search ended worse than one of the known methods.
int JointStatus(const Json& document) {
  for (const auto& [name, table] : document.items()) {
    if (table.is_object() && table.value("worse_than_a_known_method", 0) != 0) {
      return kAnswerIsNo;
    }
  }
  return kDone;
}

void AddPartitionOptions(CLI::App& command,
                         bench::PartitionBenchOptions& options) {
  command.add_option("--graphs", options.graphs, "Folder of the graphs")
      ->capture_default_str();
  command
      .add_option("--split", options.split, "Graphs: train, validation, test")
      ->check(CLI::IsMember({"train", "validation", "test"}))
      ->capture_default_str();
  command.add_option("--only", options.only,
                     "Regular expression of the graphs' names [all]");
  command.add_option("--package", options.package, "Bundled package")
      ->capture_default_str();
  command
      .add_option("--objective", options.objective,
                  "max-load, or interval, in simulation")
      ->capture_default_str();
  command
      .add_option("--search", options.searches,
                  "Optimizers, one column each; uniform: policy without "
                  "weights; estimated: the problem's own estimate of moves in "
                  "their place; scratch: ppo without that estimate; sample: "
                  "ppo that draws whole partitions")
      ->delimiter(',')
      ->capture_default_str();
  command.add_flag("--with-seeds", options.with_seeds,
                   "Begin with the known methods, not with the default alone");
  command
      .add_option("--samples", options.samples,
                  "Budget of each search in partitions")
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
  command.add_option("--seeds", options.seeds, "Runs of each search")
      ->transform(WholeNumber(1, 1000))
      ->capture_default_str();
  command.add_option("--weights", options.weights,
                     "File of the policies' weights [those of Hone]");
  command
      .add_option("--draws", options.draws,
                  "Random partitions of each graph on which the analytical "
                  "model is compared with the simulator")
      ->transform(WholeNumber(0, kMaxCount))
      ->capture_default_str();
}

void AddServeOptions(CLI::App& command, bench::ServeOptions& options) {
  command.add_option("--clients", options.clients, "Concurrent clients")
      ->transform(WholeNumber(1, 1000))
      ->capture_default_str();
  command
      .add_option("--requests", options.requests,
                  "Requests per client and round")
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
  command.add_option("--records", options.records, "Records of the full store")
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
  command.add_option("--corpus", options.corpus, "Folder of the modules")
      ->capture_default_str();
  command.add_option("--only", options.only, "Modules to tune, by name")
      ->capture_default_str();
  command.add_option("--trials", options.trials, "Trials of each tuning")
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
}

// The options of benches on programs of TPUs that are held out of training.
template <typename Options>
void AddTpuProgramOptions(CLI::App& command, Options& options) {
  command.add_option("--tpu", options.tpu, "Bundled TPU")
      ->capture_default_str();
  command.add_option("--corpus", options.corpus, "Folder of the corpus")
      ->capture_default_str();
  command
      .add_option("--partitions", options.partitions,
                  "Folder of the inference models")
      ->capture_default_str();
  command.add_option("--only", options.only,
                     "Regular expression that a program's name must match");
}

struct CostModelArguments {
  bench::CostModelBenchOptions tpu;
  bench::KernelCostBenchOptions cpu;
  std::string split;
};

void AddCostModelOptions(CLI::App& command, CostModelArguments& arguments) {
  bench::CostModelBenchOptions& options = arguments.tpu;
  CLI::Option* const kernels = command.add_option(
      "--kernels", arguments.cpu.kernels,
      "Measured kernels (hone dataset kernels): a table of their schedules on "
      "a CPU, in place of kernels of TPUs");
  command
      .add_option("--weights", options.weights,
                  "Weights of the learned model, a file for each seed [built "
                  "in]")
      ->delimiter(',');
  command.add_option(
      "--split", arguments.split,
      absl::StrCat("FILE, or FILE:NAME, of what is held out [", options.split,
                   "; with --kernels ", arguments.cpu.split, "]"));
  AddTpuProgramOptions(command, options);
  command.add_option("--plots", options.plots,
                     "Folder for a figure, SVG [none]");
  command
      .add_option("--tiles", options.tiles,
                  "Tiles of a kernel; of more, so many are drawn")
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
  CLI::Option* const refine = command.add_option(
      "--refine", options.refine,
      "File of this TPU (hone dataset tpu) to learn from first, "
      "without held-out families");
  command
      .add_option("--refine-samples", options.refine_samples,
                  "Configurations to learn from first")
      ->needs(refine)
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
  command.add_option("--leave-out", options.leave_out,
                     "File of training data (hone dataset tpu), equal kernels "
                     "of which are not predicted");
  command.add_option("--seed", options.seed, "Seed of the tiles drawn")
      ->transform(WholeNumber(0, kMaxSeed))
      ->capture_default_str();
  for (const char* const of_tpus :
       {"--tpu", "--corpus", "--partitions", "--only", "--tiles", "--seed",
        "--refine", "--refine-samples", "--leave-out", "--plots"}) {
    kernels->excludes(command.get_option(of_tpus));
  }
}

absl::StatusOr<Json> RunCostModel(const CostModelArguments& arguments,
                                  std::ostream& out) {
  const auto run = [&](auto options, auto* bench) {
    options.weights = arguments.tpu.weights;
    if (!arguments.split.empty()) options.split = arguments.split;
    return bench(options, out);
  };
  return arguments.cpu.kernels.empty()
             ? run(arguments.tpu, bench::RunCostModelBench)
             : run(arguments.cpu, bench::RunKernelCostBench);
}

// The options that benches of xtat beside other searches share.
void AddSearchOptions(CLI::App& command,
                      bench::SearchComparisonOptions& options,
                      const char* searches) {
  command
      .add_option("--split", options.split,
                  "FILE, or FILE:NAME, of the families held out")
      ->capture_default_str();
  command.add_option("--search", options.optimizers, searches)
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--budgets", options.budgets, "Measurements, ascending")
      ->delimiter(',')
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
  command.add_option("--seeds", options.seeds, "Runs of each search")
      ->transform(WholeNumber(1, 1000))
      ->capture_default_str();
  AddTpuProgramOptions(command, options);
}

void AddXtatOptions(CLI::App& command, bench::XtatBenchOptions& options) {
  AddSearchOptions(command, options,
                   "Optimizers with their options, or `analytical`: the order "
                   "of the analytical model; one row each");
  command.add_option("--plots", options.plots,
                     "Folder for a figure, SVG [none]");
  command
      .add_option("--kernels", options.kernels,
                  "Kernels of each program, those that take the most time")
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
  command
      .add_option("--tiles", options.tiles, "Leave out kernels with more tiles")
      ->transform(WholeNumber(2, kMaxCount))
      ->capture_default_str();
}

void AddXtatFusionOptions(CLI::App& command,
                          bench::XtatFusionBenchOptions& options) {
  AddSearchOptions(command, options,
                   "Optimizers with their options, one row each");
  command
      .add_option("--decisions", options.decisions,
                  "Leave out programs with more decisions")
      ->transform(WholeNumber(1, kMaxCount))
      ->capture_default_str();
  command
      .add_option("--tile-budget", options.tile_budget,
                  "Measurements of the tiles of each kernel after the last "
                  "search; 0: fusion alone")
      ->transform(WholeNumber(0, kMaxCount))
      ->capture_default_str();
  command
      .add_option("--tiles", options.tiles,
                  "Do not try all tiles of kernels with more")
      ->transform(WholeNumber(2, kMaxCount))
      ->capture_default_str();
}

}  // namespace

void AddBenchCommand(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("bench", "Reproduce a published table");
  command->require_subcommand(1);
  AddBench(*command, context, "pass-order",
           "Ops after each search, after the default order, and after XLA",
           AddPassOrderOptions, RunPassOrder);
  AddBench(*command, context, "cost-model",
           "Tiles or schedules selected and times predicted by learned and "
           "analytical models of kernels that were never trained on",
           AddCostModelOptions, RunCostModel);
  AddBench(*command, context, "xtat",
           "Searches for tiles of TPU kernels at equal measurements, with and "
           "without a cost model, on programs never trained on",
           AddXtatOptions, bench::RunXtatBench);
  AddBench(*command, context, "xtat-fusion",
           "Searches for fusions of whole programs at equal measurements, and "
           "then for the tiles of their kernels, with and without a cost model",
           AddXtatFusionOptions, bench::RunXtatFusionBench);
  AddBench(*command, context, "placement",
           "Max loads of seeds and searches beside the exact optimum, step "
           "times beside known methods, and what both take on large graphs",
           AddPlacementOptions, RunPlacement, PlacementStatus);
  AddBench(*command, context, "joint",
           "Step times of searches for placement, schedule and fusion at once, "
           "beside one after the other",
           AddJointOptions, RunJoint, JointStatus);
  AddBench(*command, context, "partition",
           "Searches for partitions over the chips of a package at equal "
           "samples, beside the greedy fill and the dynamic program",
           AddPartitionOptions, bench::RunPartitionBench);
  AddBench(*command, context, "pass-fidelity",
           "Each pass beside XLA's own of the same name, on XLA's inputs",
           AddPassFidelityOptions, bench::RunPassFidelityBench,
           PassFidelityStatus);
  AddBench(*command, context, "verification",
           "Wrong rewrites that verification refuses, right ones that it "
           "accepts",
           AddVerificationOptions, bench::RunVerificationBench,
           VerificationStatus);
  AddBench(*command, context, "parse",
           "Parsing against XLA's parser, dce, cse, a search step",
           AddParseOptions, bench::RunParseBench);
  AddBench(*command, context, "environment",
           "Environment steps per second, in process and over gRPC",
           AddEnvironmentOptions, bench::RunEnvironmentBench);
  AddBench(
      *command, context, "faults",
      "What a daemon survives: kills, cancelled calls, hostile requests, full "
      "and failing disks and the like",
      AddFaultOptions, bench::RunFaultsBench, FaultStatus);
  AddBench(
      *command, context, "serve",
      "Cached lookups beside a bare echo server, a full store, and tunings "
      "in processes",
      AddServeOptions, bench::RunServeBench);
  AddBench(*command, context, "placement-searches",
           "Searches for placements at equal budgets, beside the exact one",
           AddPlacementSearchesOptions, bench::RunPlacementSearchesBench);
  AddKernelBenches(*command, context);
}

}  // namespace hone::cli
