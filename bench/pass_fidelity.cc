#include "bench/pass_fidelity.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"

#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "bench/corpus.h"
#include "hlo/analysis/op_count.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/inference/verifier.h"
#include "hlo/passes/registry.h"
#include "hlo/read_module.h"
#include "hlo/rewrite/dead_code.h"
#include "hlo/text/parser.h"

namespace hone::bench {
namespace {

using Meaning = PairResult::Meaning;

// Limit of one evaluation; whole training steps take some seconds.
constexpr absl::Duration kTimeLimit = absl::Minutes(2);

struct Task {
  std::string module;
  PassPair pair;
};

// All pairs of one pass.
struct Row {
  int pairs = 0;
  int at_most_xla = 0;
  int same = 0;
  int64_t ops_in = 0;
  int64_t ops_xla = 0;
  int64_t ops_ours = 0;
  std::map<Meaning, int> meanings;
  // The input on which ours leaves most relative to XLA's.
  const PairResult* worst = nullptr;

  void Add(const PairResult& result) {
    ++pairs;
    at_most_xla += result.ops_ours <= result.ops_xla ? 1 : 0;
    same += result.same ? 1 : 0;
    ops_in += result.ops_in;
    ops_xla += result.ops_xla;
    ops_ours += result.ops_ours;
    ++meanings[result.meaning];
    // Compares ours/xla without dividing.
    if (worst == nullptr ||
        result.ops_ours * worst->ops_xla > worst->ops_ours * result.ops_xla) {
      worst = &result;
    }
  }
};

absl::string_view MeaningName(Meaning meaning) {
  switch (meaning) {
    case Meaning::kEqual:
      return "equal";
    case Meaning::kNotRunnable:
      return "not runnable";
    case Meaning::kUnequal:
      return "unequal";
  }
  return "";
}

bool HavePass(const std::string& id) { return hlo::FindPass(id).ok(); }

absl::StatusOr<hlo::Module> Parse(absl::string_view text) {
  HONE_ASSIGN_OR_RETURN(hlo::Module module, hlo::ParseHloText(text));
  HONE_RETURN_IF_ERROR(hlo::VerifyModule(module));
  return module;
}

// Dumps leave out the values of large constants. Small numbers take their
// place, as the pass under test sees nothing else and indices stay in bounds.
void FillElidedConstants(hlo::Module& module) {
  for (const hlo::ComputationId id : module.ComputationIds()) {
    for (hlo::InstructionId i : module.computation(id).LiveInstructions()) {
      const hlo::LiteralPtr& literal = module.computation(id)[i].literal();
      if (literal == nullptr || !literal->is_elided()) continue;
      hlo::Literal filled(literal->shape_ptr());
      for (int64_t k = 0; k < filled.num_elements(); ++k) {
        filled.SetInt(k, k * 5 % 7);
      }
      module.mutable_computation(id).mutable_instruction(i).set_literal(
          std::make_shared<const hlo::Literal>(std::move(filled)));
    }
  }
}

absl::Status JudgeMeaning(const hlo::Module& before, const hlo::Module& after,
                          PairResult& result) {
  hlo::EquivalenceOptions options;
  options.evaluate.time_limit = kTimeLimit;
  const absl::StatusOr<hlo::EquivalenceReport> report =
      hlo::CheckEquivalent(before, after, options);
  if (report.ok()) {
    result.meaning = report->equal ? Meaning::kEqual : Meaning::kUnequal;
    result.explanation = report->explanation;
    return absl::OkStatus();
  }
  if (!absl::IsUnimplemented(report.status()) &&
      !absl::IsDeadlineExceeded(report.status()) &&
      !absl::IsResourceExhausted(report.status())) {
    return report.status();
  }
  result.meaning = Meaning::kNotRunnable;
  result.explanation = std::string(report.status().message());
  return absl::OkStatus();
}

int64_t CountLiveOps(hlo::Module module) {
  for (const hlo::ComputationId id : module.ComputationIds()) {
    hlo::RemoveDeadInstructions(module, id);
  }
  return hlo::CountOps(module);
}

// Every pair of the dumps in `directory`; `contents` keeps their text.
absl::StatusOr<std::vector<Task>> ReadTasks(const std::string& directory,
                                            const std::string& only,
                                            std::deque<std::string>& contents) {
  namespace fs = std::filesystem;
  constexpr absl::string_view kSuffix = ".passes.zst";
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (absl::EndsWith(entry.path().native(), kSuffix)) {
      files.push_back(entry.path());
    }
  }
  if (files.empty()) {
    return absl::NotFoundError(absl::StrCat(
        directory, ": no *", kSuffix, " file, expected dumps (--dumps DIR)"));
  }
  std::sort(files.begin(), files.end());
  std::vector<Task> tasks;
  for (const fs::path& file : files) {
    HONE_ASSIGN_OR_RETURN(std::string bytes, hlo::ReadFileBytes(file));
    contents.push_back(std::move(bytes));
    const absl::StatusOr<std::vector<PassState>> states =
        ParsePassDump(contents.back());
    if (!states.ok()) {
      return absl::Status(
          states.status().code(),
          absl::StrCat(file.native(), ": ", states.status().message()));
    }
    const std::string name = file.filename();
    for (PassPair& pair : FindPassPairs(*states)) {
      if (!only.empty() && pair.pass != only) continue;
      tasks.push_back(
          {std::string(absl::StripSuffix(name, kSuffix)), std::move(pair)});
    }
  }
  if (tasks.empty()) {
    return absl::NotFoundError(absl::StrCat(
        "--only '", only, "': no run of that pass in ", directory));
  }
  return tasks;
}

void PrintRow(const std::string& pass, const Row& row, std::ostream& out) {
  const auto count = [&](Meaning meaning) {
    const auto found = row.meanings.find(meaning);
    return found == row.meanings.end() ? 0 : found->second;
  };
  out << absl::StrFormat("%-30s %5d", pass, row.pairs);
  if (!HavePass(pass)) {
    out << "  no pass of that name\n";
    return;
  }
  out << absl::StrFormat(
      " %5d %5d %8d %8d %8d %5d %5d %5d  %s %d/%d\n", row.at_most_xla, row.same,
      row.ops_in, row.ops_xla, row.ops_ours, count(Meaning::kEqual),
      count(Meaning::kNotRunnable), count(Meaning::kUnequal),
      absl::StrCat(row.worst->module, "/", row.worst->state.substr(0, 4)),
      row.worst->ops_ours, row.worst->ops_xla);
}

nlohmann::ordered_json ToJson(const PairResult& result) {
  nlohmann::ordered_json json = {
      {"module", result.module},     {"state", result.state},
      {"ops_in", result.ops_in},     {"ops_xla", result.ops_xla},
      {"ops_ours", result.ops_ours}, {"meaning", MeaningName(result.meaning)}};
  if (!result.explanation.empty()) json["explanation"] = result.explanation;
  return json;
}

}  // namespace

absl::StatusOr<PairResult> JudgePassPair(const hlo::Pass& pass,
                                         const std::string& module,
                                         const PassPair& pair,
                                         bool counts_only) {
  HONE_ASSIGN_OR_RETURN(hlo::Module before, Parse(pair.before));
  FillElidedConstants(before);
  HONE_ASSIGN_OR_RETURN(const hlo::Module theirs, Parse(pair.after));
  hlo::Module ours = before;
  HONE_ASSIGN_OR_RETURN(const bool changed, pass.Run(ours));
  PairResult result;
  result.module = module;
  result.state = pair.state;
  result.ops_in = hlo::CountOps(before);
  result.ops_xla = hlo::CountOps(theirs);
  result.ops_ours = hlo::CountOps(ours);
  result.same = CountLiveOps(ours) == CountLiveOps(theirs);
  if (changed) HONE_RETURN_IF_ERROR(hlo::VerifyModule(ours));
  if (changed && !counts_only) {
    HONE_RETURN_IF_ERROR(JudgeMeaning(before, ours, result));
  }
  return result;
}

absl::StatusOr<nlohmann::ordered_json> RunPassFidelityBench(
    const PassFidelityOptions& options, std::ostream& out) {
  std::deque<std::string> contents;
  HONE_ASSIGN_OR_RETURN(const std::vector<Task> tasks,
                        ReadTasks(options.dumps, options.only, contents));
  absl::Mutex mu;
  std::vector<PairResult> results(tasks.size());
  absl::Status failure;
  {
    ThreadPool pool(std::max(1u, std::thread::hardware_concurrency()));
    for (size_t i = 0; i < tasks.size(); ++i) {
      const Task& task = tasks[i];
      const auto pass = hlo::FindPass(task.pair.pass);
      if (!pass.ok()) continue;
      pool.Schedule([&, i, pass = *pass, counts_only = options.counts_only] {
        absl::StatusOr<PairResult> result =
            JudgePassPair(*pass, task.module, task.pair, counts_only);
        absl::MutexLock lock(&mu);
        if (result.ok()) {
          results[i] = *std::move(result);
        } else if (failure.ok()) {
          failure = absl::Status(result.status().code(),
                                 absl::StrCat(task.module, "/", task.pair.state,
                                              ": ", result.status().message()));
        }
      });
    }
  }
  HONE_RETURN_IF_ERROR(failure);

  std::map<std::string, Row> rows;
  for (size_t i = 0; i < tasks.size(); ++i) {
    rows[tasks[i].pair.pass].Add(results[i]);
  }
  out << absl::StrFormat("%-30s %5s %5s %5s %8s %8s %8s %5s %5s %5s  %s\n",
                         "pass", "pairs", "<=xla", "same", "ops in", "xla",
                         "ours", "equal", "n/a", "diff", "worst ours/xla");
  nlohmann::ordered_json passes = nlohmann::ordered_json::array();
  int unequal = 0;
  for (const auto& [pass, row] : rows) {
    PrintRow(pass, row, out);
    nlohmann::ordered_json json = {
        {"pass", pass}, {"implemented", HavePass(pass)}, {"pairs", row.pairs}};
    if (HavePass(pass)) {
      json["at_most_xla"] = row.at_most_xla;
      json["same"] = row.same;
      json["ops_in"] = row.ops_in;
      json["ops_xla"] = row.ops_xla;
      json["ops_ours"] = row.ops_ours;
      json["worst"] = ToJson(*row.worst);
      for (Meaning meaning :
           {Meaning::kEqual, Meaning::kNotRunnable, Meaning::kUnequal}) {
        const auto found = row.meanings.find(meaning);
        json[std::string(MeaningName(meaning))] =
            found == row.meanings.end() ? 0 : found->second;
      }
      unequal += json["unequal"].get<int>();
    }
    passes.push_back(std::move(json));
  }
  nlohmann::ordered_json findings = nlohmann::ordered_json::array();
  for (const PairResult& result : results) {
    if (result.ops_ours <= result.ops_xla &&
        result.meaning == Meaning::kEqual) {
      continue;
    }
    out << absl::StrFormat(
        "%s/%s: in %d, XLA %d, ours %d, %s%s%s\n", result.module, result.state,
        result.ops_in, result.ops_xla, result.ops_ours,
        MeaningName(result.meaning), result.explanation.empty() ? "" : ": ",
        result.explanation);
    findings.push_back(ToJson(result));
  }
  return nlohmann::ordered_json{{"bench", "pass-fidelity"},
                                {"machine", DescribeMachine()},
                                {"passes", passes},
                                {"unequal", unequal},
                                {"findings", findings}};
}

}  // namespace hone::bench
