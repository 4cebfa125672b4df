// hone tune: the main job. Tunes a module, verifies, stores, prints default and
// best per task.

#include <cmath>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/distinct_files.h"
#include "cli/kernel_schedules.h"
#include "cli/memory_note.h"
#include "cli/partition_report.h"
#include "cli/progress_line.h"
#include "cli/read_subject.h"
#include "cli/report_files.h"
#include "cli/step_report.h"
#include "cli/task_flags.h"
#include <unistd.h>

#include "backends/cpu/export/export.h"
#include "backends/cpu/host.h"
#include "backends/cpu/native_module.h"
#include "backends/process/local_kernels.h"
#include "backends/tpu_sim/bundled_tpus.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "graphs/bundled_clusters.h"
#include "graphs/mcm/bundled_packages.h"
#include "hlo/proto/io.h"
#include "hlo/read_module.h"
#include "optimizers/optimizer.h"
#include "proto/duration.h"
#include "storage/memory_store.h"
#include "storage/sqlite/sqlite_store.h"
#include "tuning/registry.h"
#include "tuning/stored_module.h"
#include "tuning/subject.h"
#include "tuning/tasks/kernel.h"
#include "tuning/tasks/module.h"
#include "tuning/tuner.h"

namespace hone::cli {
namespace {

struct Options {
  std::string file;
  std::vector<std::string> tasks = {"pass_order"};
  std::string target;
  std::string optimizer;  // empty: the task's own
  TaskFlags flags;
  int64_t trials = 0;  // 0: the task's own number
  std::string time;
  uint64_t seed = 0;
  std::string output;
  // Path of the shared object; the header goes beside it.
  std::string library;
  ReportFiles report_files;
  bool local = false;
  std::string state;
  bool force = false;
};

// The result of one task, from the daemon or from this process.
struct TaskResult {
  std::string task;
  std::string target;
  std::string optimizer;
  std::string unit;
  double default_cost = 0;
  double best_cost = 0;
  std::string decision;  // JSON
  int64_t trials = 0;
  double seconds = 0;
  std::string method;
  double max_rel_error = 0;
  bool cached = false;
};

absl::StatusOr<absl::Duration> ParseTime(const std::string& text) {
  if (text.empty()) return absl::InfiniteDuration();
  return ParseDurationOption("--time", text);
}

// Returns the specification of tuning `task`, checked.
absl::StatusOr<tuning::TuningSpec> SpecOf(const Options& options,
                                          const std::string& task_name,
                                          absl::Duration time) {
  HONE_ASSIGN_OR_RETURN(const tuning::Task* task, tuning::FindTask(task_name));
  tuning::TuningSpec spec;
  spec.task = task_name;
  spec.target = options.target;
  spec.optimizer = options.optimizer;
  HONE_ASSIGN_OR_RETURN(spec.options, ParseTaskFlags(options.flags));
  // Which one is the default depends on them.
  spec.optimizer = tuning::OptimizerOf(spec);
  if (options.trials > 0) {
    spec.budget.trials = options.trials;
  } else if (const int64_t own = task->TrialsFor(spec.options); own > 0) {
    spec.budget.trials = own;
  }
  spec.budget.time = time;
  spec.seed = options.seed;
  HONE_RETURN_IF_ERROR(tuning::ValidateSpec(spec));
  return spec;
}

class Tuner {
 public:
  virtual ~Tuner() = default;
  virtual absl::StatusOr<TaskResult> Tune(const std::string& task,
                                          absl::Duration time) = 0;
  // The module after the last task, which makes one.
  virtual absl::StatusOr<hlo::Module> Tuned() = 0;
};

class RemoteTuner final : public Tuner {
 public:
  RemoteTuner(const Options& options, const Context& context, std::string bytes)
      : options_(options), client_(context), bytes_(std::move(bytes)) {}

  absl::StatusOr<TaskResult> Tune(const std::string& task,
                                  absl::Duration time) override {
    hone::v1::TuneRequest request;
    HONE_RETURN_IF_ERROR(
        client_.SetModule(bytes_, options_.file, request.mutable_module()));
    hone::v1::TuningSpec& spec = *request.mutable_spec();
    spec.set_task(task);
    spec.set_target(options_.target);
    spec.set_optimizer(options_.optimizer);
    spec.set_seed(options_.seed);
    HONE_RETURN_IF_ERROR(
        SetOptions(task, options_.flags, *spec.mutable_options()));
    spec.mutable_budget()->set_trials(options_.trials);
    if (time != absl::InfiniteDuration()) {
      *spec.mutable_budget()->mutable_time() = ToProtoDuration(time);
    }
    request.set_skip_cache(options_.force);
    ProgressLine line(task);
    HONE_ASSIGN_OR_RETURN(
        const Client::TuneResult result,
        client_.Tune(request,
                     [&](const hone::v1::WatchTuningResponse& message) {
                       const hone::v1::TuningProgress& p = message.progress();
                       ProgressLine::State state;
                       state.waiting_for = p.waiting_for();
                       state.verifying =
                           p.phase() == hone::v1::TuningProgress::VERIFYING;
                       state.trials = p.trials();
                       state.budget_trials = p.budget_trials();
                       if (p.has_default_cost())
                         state.default_cost = p.default_cost();
                       if (p.has_best_cost()) state.best_cost = p.best_cost();
                       state.unit = p.unit();
                       line.Show(state);
                     }));
    const hone::v1::Record& record = result.record;
    tuned_digest_ = record.tuned_module_digest();
    return TaskResult{
        .task = record.key().task(),
        .target = record.key().target(),
        .optimizer = record.optimizer(),
        .unit = record.unit(),
        .default_cost = record.default_cost(),
        .best_cost = record.best_cost(),
        .decision = record.decision(),
        .trials = record.trials(),
        .seconds = absl::ToDoubleSeconds(FromProtoDuration(record.duration())),
        .method = record.verification().method(),
        .max_rel_error = record.verification().max_rel_error(),
        .cached = result.cached};
  }

  absl::StatusOr<hlo::Module> Tuned() override {
    HONE_ASSIGN_OR_RETURN(const std::string text,
                          client_.Download(tuned_digest_));
    return hlo::ParseHlo(text, tuned_digest_);
  }

 private:
  const Options& options_;
  Client client_;
  std::string bytes_;
  std::string tuned_digest_;
};

// The same loop in this process.
class LocalTuner final : public Tuner {
 public:
  static absl::StatusOr<std::unique_ptr<LocalTuner>> Create(
      const Options& options, const tuning::Subject& subject,
      std::string bytes) {
    auto tuner = std::unique_ptr<LocalTuner>(
        new LocalTuner(options, subject, std::move(bytes)));
    if (options.state.empty()) {
      tuner->store_ = std::make_unique<storage::MemoryStore>();
    } else {
      std::error_code error;
      std::filesystem::create_directories(options.state, error);
      if (error) {
        return absl::InvalidArgumentError(
            absl::StrCat(options.state, ": ", error.message(),
                         ", expected a folder for the store"));
      }
      HONE_ASSIGN_OR_RETURN(tuner->store_,
                            storage::SqliteStore::Create(options.state));
    }
    tuner->context_ = {.store = tuner->store_.get(),
                       .clock = &SystemClock(),
                       .pool = &tuner->pool_,
                       .kernels = &tuner->kernels_};
    return tuner;
  }

  absl::StatusOr<TaskResult> Tune(const std::string& task,
                                  absl::Duration time) override {
    HONE_ASSIGN_OR_RETURN(const tuning::TuningSpec spec,
                          SpecOf(options_, task, time));
    HONE_ASSIGN_OR_RETURN(const storage::CacheKey key,
                          tuning::MakeCacheKey(fingerprint_, spec, &kernels_));
    bool cached = false;
    if (!options_.force) {
      absl::StatusOr<storage::Record> hit = store_->Lookup(key);
      cached = hit.ok();
      if (cached) record_ = *std::move(hit);
    }
    if (!cached) {
      HONE_ASSIGN_OR_RETURN(std::string digest, store_->PutBlob(bytes_));
      HONE_ASSIGN_OR_RETURN(const storage::Tuning tuning,
                            tuning::CreateTuning(context_, spec, key,
                                                 {name_, std::move(digest)}));
      ProgressLine line(task);
      tuning::RunOptions run;
      run.progress = [&](const tuning::Progress& p) {
        line.Show({.verifying = p.phase != tuning::Progress::Phase::kSearching,
                   .trials = p.trials,
                   .budget_trials = p.budget_trials,
                   .default_cost = p.default_cost,
                   .best_cost = p.best_cost,
                   .unit = p.unit});
      };
      HONE_ASSIGN_OR_RETURN(record_,
                            tuning::RunTuning(context_, tuning.id, run));
    }
    return TaskResult{.task = record_.key.task,
                      .target = record_.key.target,
                      .optimizer = record_.optimizer,
                      .unit = record_.unit,
                      .default_cost = record_.default_cost,
                      .best_cost = record_.best_cost,
                      .decision = record_.decision,
                      .trials = record_.trials,
                      .seconds = record_.seconds,
                      .method = record_.verification.method,
                      .max_rel_error = record_.verification.max_rel_error,
                      .cached = cached};
  }

  absl::StatusOr<hlo::Module> Tuned() override {
    return tuning::ReadTunedModule(*store_, record_);
  }

 private:
  LocalTuner(const Options& options, const tuning::Subject& subject,
             std::string bytes)
      : options_(options),
        name_(subject.name()),
        fingerprint_(subject.Fingerprint()),
        bytes_(std::move(bytes)),
        pool_(std::max(1u, std::thread::hardware_concurrency())) {}

  const Options& options_;
  const std::string name_;
  const std::string fingerprint_;
  const std::string bytes_;  // of the file
  ThreadPool pool_;
  backends::LocalKernels kernels_;
  std::unique_ptr<storage::Store> store_;
  tuning::TunerContext context_;
  storage::Record record_;
};

// Exports the result of the last task as native code: the scheduled kernel, the
// module with its kernels' schedules, or the rewritten module with default
// schedules.
absl::Status Export(const hlo::Module& input, const TaskResult& result,
                    Tuner& tuner, const Options& options) {
  if (result.task != "kernel" && result.task != "module") {
    HONE_ASSIGN_OR_RETURN(const hlo::Module tuned, tuner.Tuned());
    HONE_ASSIGN_OR_RETURN(
        const loops::ModulePlan plan,
        backends::LowerAndSchedule(tuned, options.flags.threads));
    return backends::ExportModule(tuned, plan, options.flags.threads,
                                  options.library);
  }
  const std::string& here = backends::HostDevice().fingerprint;
  if (result.target != here) {
    return absl::FailedPreconditionError(absl::StrCat(
        options.library, ": not written, as the ", result.task,
        " is tuned for ", result.target, ", expected this machine, ", here));
  }
  if (result.task == "module") {
    HONE_ASSIGN_OR_RETURN(const tuning::KernelScripts scripts,
                          tuning::ScriptsOfModuleDecision(result.decision));
    HONE_ASSIGN_OR_RETURN(
        const loops::ModulePlan plan,
        backends::LowerAndSchedule(input, options.flags.threads,
                                   SchedulesOf(scripts)));
    return backends::ExportModule(input, plan, options.flags.threads,
                                  options.library);
  }
  HONE_ASSIGN_OR_RETURN(const loops::Program program,
                        tuning::KernelOfDecision(input, result.decision));
  return backends::ExportKernel(program, options.flags.threads,
                                options.library);
}

// The share of the default's cost that is saved; a cost of 0 leaves nothing to
// save.
double Improvement(double default_cost, double best_cost) {
  return default_cost > 0 ? 1 - best_cost / default_cost : 0;
}

nlohmann::ordered_json ToJson(const TaskResult& result) {
  nlohmann::ordered_json decision = nlohmann::ordered_json::parse(
      result.decision, nullptr, /*allow_exceptions=*/false);
  nlohmann::ordered_json json = {
      {"task", result.task},
      {"optimizer", result.optimizer},
      {"default", {{"cost", result.default_cost}, {"unit", result.unit}}},
      {"best",
       {{"cost", result.best_cost},
        {"unit", result.unit},
        {"decision", decision}}},
      {"improvement", Improvement(result.default_cost, result.best_cost)},
      {"trials", result.trials},
      {"seconds", result.seconds},
      {"verified",
       {{"method", result.method}, {"max_rel_error", result.max_rel_error}}},
      {"cache", result.cached ? "hit" : "miss"}};
  // Where anybody looks for it who checks placements of many programs.
  if (decision.contains("assignment")) {
    json["assignment"] = std::move(decision["assignment"]);
  }
  return json;
}

// "14.1 % fewer", "14.1 % less time", "no better".
std::string DescribeChange(double from, double to, const std::string& unit) {
  if (to == from) return "no better";
  const bool counts = unit == "ops";
  const char* const direction = to < from ? (counts ? "fewer" : "less time")
                                          : (counts ? "more" : "more time");
  return absl::StrFormat("%.1f %% %s", 100 * std::fabs(1 - to / from),
                         direction);
}

// "100 trials of annealing in 0.52 s".
std::string DescribeSearch(const TaskResult& result) {
  if (result.cached) return "cache hit";
  return absl::StrFormat("%d trials of %s in %.2f s", result.trials,
                         result.optimizer, result.seconds);
}

// Prints the costs and devices of a placement.
void PrintPlacement(const TaskResult& result, const nlohmann::json& decision,
                    std::ostream& out) {
  std::set<int32_t> devices;
  if (decision.contains("assignment")) {
    for (const nlohmann::json& device : decision["assignment"]) {
      devices.insert(device.get<int32_t>());
    }
  }
  out << absl::StrFormat(
      "%s: %s %.10g %s, default %.10g (%.1f %% less), on %d device%s, %s\n",
      result.task,
      decision.contains("step_seconds") ? "step"
      : decision.contains("interval")   ? "interval"
                                        : "max load",
      result.best_cost, result.unit, result.default_cost,
      100 * Improvement(result.default_cost, result.best_cost), devices.size(),
      devices.size() == 1 ? "" : "s", DescribeSearch(result));
}

void PrintCosts(const TaskResult& result, std::ostream& out) {
  out << absl::StrFormat(
      "%s: default %.10g %s, best %.10g %s (%s), %s\n", result.task,
      result.default_cost, result.unit, result.best_cost, result.unit,
      DescribeChange(result.default_cost, result.best_cost, result.unit),
      DescribeSearch(result));
}

void Print(const TaskResult& result, std::ostream& out) {
  const nlohmann::json decision = nlohmann::json::parse(
      result.decision, nullptr, /*allow_exceptions=*/false);
  if (decision.is_object() && decision.contains("assignment")) {
    PrintPlacement(result, decision, out);
  } else {
    PrintCosts(result, out);
  }
  out << "  verified: " << result.method;
  // Otherwise no values were compared.
  if (!absl::StartsWith(result.method, "not evaluated") &&
      !absl::StartsWith(result.method, "identical") &&
      !absl::StartsWith(result.method, "checked")) {
    out << absl::StrFormat(", largest relative error %.3g",
                           result.max_rel_error);
  }
  out << "\n";
}

// Names the file in an error about the subject in it.
absl::Status InFile(const absl::Status& status, const tuning::Subject& subject,
                    absl::string_view file) {
  absl::string_view message = status.message();
  if (!absl::ConsumePrefix(&message, absl::StrCat(subject.name(), ": "))) {
    return status;
  }
  return absl::Status(status.code(), absl::StrCat(file, ": ", message));
}

// Checks that the last task makes what is to be written.
absl::Status CheckOutputs(const Options& options,
                          const tuning::Subject& subject) {
  const std::string& task = options.tasks.back();
  if (!options.output.empty() && (task == "kernel" || task == "module")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "-o FILE: task ", task, " makes no module, expected --export K.so"));
  }
  if (task == "pass_order" || task == "kernel" || task == "module") {
    return absl::OkStatus();
  }
  const bool makes_module =
      task == "joint" || task == "tile" ||
      (task == "fusion" && !options.flags.tpu.empty()) ||
      (task == "placement" && options.flags.objective == tuning::kStepTime);
  if (!options.output.empty() &&
      !(makes_module && subject.kind() == tuning::SubjectKind::kModule)) {
    return absl::InvalidArgumentError(
        absl::StrCat("-o FILE: task ", task, " makes no module of ",
                     tuning::SubjectKindName(subject.kind()),
                     ", expected --json for the decision"));
  }
  if (!options.library.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--export K.so: task ", task,
                     " makes no native code, expected task pass_order, "
                     "kernel or module"));
  }
  return absl::OkStatus();
}

// Checks that no file is written over another, or over one that is read.
absl::Status CheckFiles(const Options& options) {
  std::vector<NamedPath> inputs = {{"FILE", options.file}};
  const std::string& cluster = options.flags.cluster;
  if (!graphs::BundledClusters().Find(cluster).ok()) {
    inputs.push_back({"the cluster", cluster});
  }
  const std::string& package = options.flags.package;
  if (!graphs::BundledPackages().Find(package).ok()) {
    inputs.push_back({"the package", package});
  }
  const std::string& tpu = options.flags.tpu;
  if (!backends::BundledTpus().Find(tpu).ok()) {
    inputs.push_back({"the TPU", tpu});
  }
  const std::string header(absl::StripSuffix(options.library, ".so"));
  return CheckDistinctFiles(
      {{"-o", options.output},
       {"--export", options.library},
       {"the header of --export", header.empty() ? "" : header + ".h"},
       {"--report", options.report_files.report},
       {"--trace", options.report_files.trace}},
      inputs);
}

// Writes what shows the result of the last task, if any of it is asked for.
absl::Status WriteReport(const Options& options,
                         const tuning::TaskOptions& parsed,
                         const tuning::Subject& subject,
                         const TaskResult& last) {
  if (last.task == "partition") {
    return WritePartitionReport(options.report_files.report,
                                {.subject = &subject,
                                 .package_name = options.flags.package,
                                 .package = *parsed.package,
                                 .decision = last.decision,
                                 .default_cost = last.default_cost,
                                 .best_cost = last.best_cost});
  }
  if (!parsed.cluster.has_value()) return absl::OkStatus();
  return WriteStepFiles(options.report_files,
                        {.subject = &subject,
                         .cluster_name = options.flags.cluster,
                         .cluster = *parsed.cluster,
                         .task = last.task,
                         .decision = last.decision,
                         .default_cost = last.default_cost});
}

absl::StatusOr<int> Run(const Options& given, const Context& context) {
  Options options = given;
  HONE_RETURN_IF_ERROR(TakeHardware(options.target, options.flags));
  HONE_ASSIGN_OR_RETURN(const absl::Duration time, ParseTime(options.time));
  if (!options.state.empty() && !options.local) {
    return absl::InvalidArgumentError("--state needs --local");
  }
  if (!options.library.empty()) {
    HONE_RETURN_IF_ERROR(backends::CheckLibraryPath(options.library));
    HONE_RETURN_IF_ERROR(CheckWritable(options.library));
  }
  if (!options.output.empty()) {
    HONE_RETURN_IF_ERROR(CheckModuleOutput(context, options.output));
  }
  HONE_RETURN_IF_ERROR(CheckFiles(options));
  // Read here too, so that a broken file is reported before anything starts.
  NoteWork(absl::StrCat("reading ", options.file));
  HONE_ASSIGN_OR_RETURN(std::string bytes, hlo::ReadFileBytes(options.file));
  const std::string note =
      TakeDefaultHardware(options.tasks, bytes, options.file, options.flags);
  for (const std::string& task : options.tasks) {
    HONE_RETURN_IF_ERROR(SpecOf(options, task, time).status());
  }
  HONE_ASSIGN_OR_RETURN(const tuning::TaskOptions parsed,
                        ParseTaskFlags(options.flags));
  HONE_ASSIGN_OR_RETURN(const tuning::Task* const first,
                        tuning::FindTask(options.tasks.front()));
  HONE_ASSIGN_OR_RETURN(const tuning::Subject subject,
                        ReadSubject(bytes, options.file, *first, parsed));
  for (const std::string& name : options.tasks) {
    HONE_ASSIGN_OR_RETURN(const tuning::Task* const task,
                          tuning::FindTask(name));
    HONE_RETURN_IF_ERROR(
        task->CheckSubject(subject.kind(), options.file, parsed));
  }
  HONE_RETURN_IF_ERROR(CheckOutputs(options, subject));
  std::cerr << note;
  HONE_RETURN_IF_ERROR(
      CheckReportFiles(options.report_files, options.tasks.back(), parsed));
  const std::string& name = subject.name();
  bool local = options.local;
  // A server that was named has to be there.
  if (!local && context.server.empty()) {
    Client client(context);
    if (!client.Answers(absl::ZeroDuration())) {
      std::cerr << "hone: no daemon on " << client.server() << " or "
                << kDefaultTcpServer
                << ": tuning in this process, as --local does; nothing is "
                   "kept\n";
      local = true;
    }
  }
  std::unique_ptr<Tuner> tuner;
  if (local) {
    HONE_ASSIGN_OR_RETURN(
        tuner, LocalTuner::Create(options, subject, std::move(bytes)));
  } else {
    tuner = std::make_unique<RemoteTuner>(options, context, std::move(bytes));
  }
  nlohmann::ordered_json tasks = nlohmann::ordered_json::array();
  TaskResult last;
  // The module has stdout for itself.
  std::ostream& report = options.output == "-" ? std::cerr : std::cout;
  for (const std::string& task : options.tasks) {
    NoteWork(absl::StrCat("tuning ", task, " of ", options.file));
    absl::StatusOr<TaskResult> result = tuner->Tune(task, time);
    if (!result.ok()) return InFile(result.status(), subject, options.file);
    last = *std::move(result);
    if (context.json) {
      tasks.push_back(ToJson(last));
      continue;
    }
    if (&task == &options.tasks.front()) {
      report << (subject.kind() == tuning::SubjectKind::kModule ? "module "
                                                                : "graph ")
             << name << "\n";
    }
    Print(last, report);
  }
  if (!options.output.empty()) {
    HONE_ASSIGN_OR_RETURN(const hlo::Module tuned, tuner->Tuned());
    HONE_RETURN_IF_ERROR(WriteModule(tuned, options.output));
  }
  if (!options.library.empty()) {
    HONE_RETURN_IF_ERROR(Export(subject.module(), last, *tuner, options));
  }
  HONE_RETURN_IF_ERROR(WriteReport(options, parsed, subject, last));
  if (context.json) {
    PrintJson({{"module", name}, {"target", last.target}, {"tasks", tasks}});
  }
  return kDone;
}

// Returns "200 for fusion, joint; 64 for kernel": the tasks of each value of
// `value_of`, which is empty for those without one.
std::string DefaultsOfTasks(
    const std::function<std::string(const tuning::Task&)>& value_of) {
  // In the order of the tasks' list.
  std::vector<std::pair<std::string, std::vector<absl::string_view>>> tasks_of;
  for (const absl::string_view id : tuning::Tasks().ids()) {
    const auto task = tuning::FindTask(id);
    const std::string value = task.ok() ? value_of(**task) : "";
    if (value.empty()) continue;
    auto it = absl::c_find_if(
        tasks_of, [&](const auto& entry) { return entry.first == value; });
    if (it == tasks_of.end()) it = tasks_of.insert(it, {value, {}});
    it->second.push_back(id);
  }
  return absl::StrJoin(tasks_of, "; ", [](std::string* out, const auto& entry) {
    absl::StrAppend(out, entry.first, " for ",
                    absl::StrJoin(entry.second, ", "));
  });
}

// The options of a task whose defaults on a TPU are others.
tuning::TaskOptions OnTpu() {
  tuning::TaskOptions options;
  options.tpu.emplace();
  return options;
}

// Describes the options that the text of an optimizer may set.
std::string DescribeXtatOptions() {
  const optimizers::OptimizerOptions by_default;
  return absl::StrCat(
      "Options of xtat follow its name, by default xtat:top_k=",
      by_default.top_k, ":refresh=", by_default.refresh,
      ":predictions=", by_default.predictions,
      " (candidates measured at a time; such batches between corrections of "
      "the model, 0: never; candidates that the model judges for each batch), "
      "and proposer=OPTIMIZER, which proposes them");
}

}  // namespace

void AddTuneCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command = AddCommand(
      app, context, "tune",
      "Tune a module or a graph, verify the winner and store it (the main "
      "job)");
  AddSubjectArgument(*command, "FILE", options->file);
  command->add_option("--task", options->tasks, "Decisions to tune")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option(
      "--target", options->target,
      "Target of the result: xla-cpu or xla-gpu for "
      "pass_order, a device's fingerprint or cpu for kernel and "
      "module, "
      "cluster:NAME|FILE for the time of a step on a "
      "cluster (placement, schedule, fusion, joint), "
      "mcm:NAME|FILE for the chips of a partition, tpu:NAME|FILE for a "
      "TPU (tile, fusion); default: the task's own");
  const tuning::Task* const fusion = tuning::FindTask("fusion").value();
  command->add_option(
      "--optimizer", options->optimizer,
      absl::StrCat("Search algorithm; default: ",
                   DefaultsOfTasks([](const tuning::Task& task) {
                     return task.default_optimizer();
                   }),
                   "; ", fusion->OptimizerFor(OnTpu()),
                   " for fusion on a TPU. ", DescribeXtatOptions()));
  AddTaskFlags(*command, options->flags);
  command
      ->add_option("--trials", options->trials,
                   absl::StrCat("Candidates to try; default: ",
                                tuning::TuningSpec().budget.trials, "; ",
                                DefaultsOfTasks([](const tuning::Task& task) {
                                  const int64_t own = task.default_trials();
                                  return own > 0 ? absl::StrCat(own) : "";
                                }),
                                "; ", fusion->TrialsFor(OnTpu()),
                                " for fusion on a TPU"))
      ->transform(WholeNumber(1, kMaxCount));
  command->add_option("--time", options->time,
                      "Search time, e.g. 30s; default: no limit");
  command->add_option("--seed", options->seed, "Seed of the search")
      ->transform(WholeNumber(0, kMaxSeed))
      ->capture_default_str();
  command->add_option(
      "-o,--output", options->output,
      "Path of the tuned module (.pb: as a proto; .zst: compressed)");
  command
      ->add_option("--export", options->library,
                   "Path of the result as a native shared object; "
                   "its C header is written beside it")
      ->type_name("K.so");
  AddReportFiles(*command, options->report_files);
  command->add_flag("--force", options->force,
                    "Tune even if a result is cached");
  command->add_flag("--local", options->local,
                    "Tune in this process even if a daemon answers");
  command->add_option(
      "--state", options->state,
      "With --local: folder of a store to keep and resume from");
  command->callback([options, &context] {
    RunCommand(context, [&] { return Run(*options, context); });
  });
}

}  // namespace hone::cli
