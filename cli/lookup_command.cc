// hone lookup: the cached result, or why there is none.

#include <iostream>
#include <memory>

#include "absl/strings/str_format.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/read_subject.h"
#include "cli/record_json.h"
#include "cli/task_flags.h"

#include "base/hash.h"
#include "base/status_macros.h"
#include "hlo/read_module.h"
#include "tuning/registry.h"

namespace hone::cli {
namespace {

struct Options {
  std::string file;
  std::string task = "pass_order";
  std::string target;
  TaskFlags flags;
  bool explain = false;
};

// Longer values of components are shortened in text: space versions of over
// 1000 characters are common.
constexpr size_t kLongestValue = 80;
constexpr size_t kShownPart = 24;

// Returns the beginning of a long value, with a hash by which two of them can
// be told apart.
std::string Shortened(const std::string& value) {
  if (value.size() <= kLongestValue) return value;
  return absl::StrFormat("%s… (%d characters, SHA-256 %s…)",
                         value.substr(0, kShownPart), value.size(),
                         Sha256Hex(value).substr(0, 12));
}

nlohmann::ordered_json ToJson(
    const hone::v1::ExplainLookupResponse& explanation) {
  nlohmann::ordered_json components = nlohmann::ordered_json::array();
  for (const auto& component : explanation.components()) {
    components.push_back({{"name", component.name()},
                          {"asked", component.asked()},
                          {"found", component.found()},
                          {"matches", component.matches()}});
  }
  return {{"summary", explanation.summary()}, {"components", components}};
}

absl::StatusOr<int> Run(const Options& given, const Context& context) {
  Options options = given;
  HONE_RETURN_IF_ERROR(TakeHardware(options.target, options.flags));
  HONE_ASSIGN_OR_RETURN(const std::string bytes,
                        hlo::ReadFileBytes(options.file));
  const std::string note =
      TakeDefaultHardware({options.task}, bytes, options.file, options.flags);
  // The daemon's error would look like a miss.
  HONE_ASSIGN_OR_RETURN(const tuning::Task* const task,
                        tuning::FindTask(options.task));
  HONE_ASSIGN_OR_RETURN(const tuning::TaskOptions parsed,
                        ParseTaskFlags(options.flags));
  hone::v1::LookupRequest request;
  HONE_RETURN_IF_ERROR(
      SetOptions(options.task, options.flags, *request.mutable_options()));
  HONE_ASSIGN_OR_RETURN(const tuning::Subject subject,
                        ReadSubject(bytes, options.file, *task, parsed));
  std::cerr << note;
  request.set_module_fingerprint(subject.Fingerprint());
  request.set_task(options.task);
  request.set_target(options.target);
  Client client(context);
  const absl::StatusOr<hone::v1::LookupResponse> found = client.Lookup(request);
  if (!found.ok() && !absl::IsNotFound(found.status())) return found.status();
  nlohmann::ordered_json document = {{"hit", found.ok()}};
  if (found.ok()) {
    document["record"] = RecordToJson(found->record());
    if (!context.json) {
      std::cout << "hit: " << RecordToText(found->record()) << "\n";
    }
  } else if (!context.json) {
    std::cout << "miss: " << found.status().message() << "\n";
  }
  if (options.explain) {
    HONE_ASSIGN_OR_RETURN(const hone::v1::ExplainLookupResponse explanation,
                          client.ExplainLookup(request));
    document["explanation"] = ToJson(explanation);
    if (!context.json) {
      std::cout << explanation.summary() << "\n";
      for (const auto& component : explanation.components()) {
        std::cout << absl::StrFormat(
            "  %-18s %s %s%s\n", component.name(),
            component.matches() ? "=" : "≠", Shortened(component.asked()),
            component.matches() || component.found().empty()
                ? ""
                : absl::StrFormat(" (nearest has %s)",
                                  Shortened(component.found())));
      }
    }
  }
  if (context.json) PrintJson(document);
  return found.ok() ? kDone : kAnswerIsNo;
}

}  // namespace

void AddLookupCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command = AddCommand(
      app, context, "lookup", "Show the cached result, or why there is none");
  AddSubjectArgument(*command, "FILE", options->file);
  command->add_option("--task", options->task, "Decision")
      ->capture_default_str();
  command->add_option("--target", options->target,
                      "Target; default: the task's own");
  AddTaskFlags(*command, options->flags);
  command->add_flag("--explain", options->explain,
                    "Compare the key component by component");
  command->callback([options, &context] {
    RunCommand(context, [&] { return Run(*options, context); });
  });
}

}  // namespace hone::cli
