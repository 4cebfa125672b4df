#include "bench/cost_model/tpu_programs.h"

#include <regex>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include <nlohmann/json.hpp>

#include "base/status_macros.h"
#include "bench/corpus.h"
#include "bench/cost_model/random_kernels.h"
#include "bench/cost_model/random_tpu_kernels.h"
#include "bench/cost_model/split_name.h"
#include "bench/json_file.h"
#include "bench/partition/partition_graphs.h"
#include "hlo/passes/pipeline.h"
#include "hlo/read_module.h"
#include "hlo/text/parser.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

// The letters that a name begins with: "gpt2_12l.adam" is of "gpt2",
// "inception_v3.fwd" of "inception", "resnet18_b8.fwd" of "resnet".
std::string FamilyOf(absl::string_view name) {
  const std::string family(name.substr(0, name.find_first_of("_.")));
  // Sizes that are part of the word.
  if (family == "resnet18" || family == "resnet50") return "resnet";
  return family;
}

absl::Status AddFamilies(const Json& lists, const char* key,
                         const std::string& where,
                         absl::flat_hash_set<std::string>& families) {
  const auto list = lists.find(key);
  if (!lists.is_object() || list == lists.end() || !list->is_array()) {
    return absl::InvalidArgumentError(absl::StrCat(
        where, ": '", key, "' is no list, expected names of families"));
  }
  for (const Json& family : *list) {
    if (!family.is_string()) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": '", key, "' has a ", family.type_name(),
                       ", expected names of families"));
    }
    families.insert(family.get<std::string>());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<TpuProgram>> ReadTpuPrograms(
    const std::string& corpus, const std::string& partitions,
    const std::string& only) {
  HONE_ASSIGN_OR_RETURN(const std::regex matches, ParseOnly(only));
  HONE_ASSIGN_OR_RETURN(const std::vector<CorpusEntry> entries,
                        ReadCorpus(corpus, ""));
  HONE_ASSIGN_OR_RETURN(const std::vector<PartitionEntry> graphs,
                        ReadPartitionEntries(partitions, "", ""));
  std::vector<TpuProgram> programs;
  const auto add = [&](const std::string& name, std::string family,
                       const std::string& path) {
    if (std::regex_search(name, matches)) {
      programs.push_back({name, std::move(family), path});
    }
  };
  for (const CorpusEntry& entry : entries) {
    add(entry.name, FamilyOf(entry.name), entry.path);
  }
  for (const PartitionEntry& graph : graphs) {
    // Some are weighted graphs.
    if (absl::StrContains(graph.path, ".hlo")) {
      add(graph.name, graph.family, graph.path);
    }
  }
  if (programs.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no program matches '", only, "'"));
  }
  return programs;
}

std::vector<TpuProgram> RandomTpuPrograms(uint64_t seed, int64_t count) {
  std::vector<TpuProgram> programs;
  for (int64_t i = 0; i < count; ++i) {
    NamedKernel kernel = i % 3 == 0   ? DrawKernel(seed, i / 3)
                         : i % 3 == 1 ? DrawComposite(seed, i / 3)
                                      : DrawTpuKernel(seed, i / 3);
    programs.push_back({.name = std::move(kernel.name),
                        .family = std::move(kernel.family),
                        .path = "",
                        .text = std::move(kernel.module)});
  }
  return programs;
}

absl::StatusOr<hlo::Module> ReadTpuProgram(const TpuProgram& program) {
  HONE_ASSIGN_OR_RETURN(hlo::Module module,
                        program.path.empty()
                            ? hlo::ParseHloText(program.text)
                            : hlo::ReadModuleFile(program.path));
  HONE_RETURN_IF_ERROR(
      hlo::RunPipeline(module, "xla-gpu", {.skip_failing = true}).status());
  return module;
}

absl::StatusOr<FamilySplit> ReadFamilySplit(const std::string& split) {
  const auto [path, name] = ParseSplitName(split);
  HONE_ASSIGN_OR_RETURN(const Json splits,
                        ReadJsonFile(path, "lists of families by split"));
  const auto found = splits.find(name);
  if (!splits.is_object() || found == splits.end()) {
    std::vector<std::string> known;
    if (splits.is_object()) {
      for (const auto& [key, value] : splits.items()) known.push_back(key);
    }
    return absl::NotFoundError(
        absl::StrCat(path, ": no split '", name,
                     "', expected one of: ", absl::StrJoin(known, ", ")));
  }
  const std::string where = absl::StrCat(path, ": split '", name, "'");
  FamilySplit families;
  HONE_RETURN_IF_ERROR(
      AddFamilies(*found, "validation", where, families.validation));
  HONE_RETURN_IF_ERROR(AddFamilies(*found, "test", where, families.test));
  for (const std::string& family : families.test) {
    if (families.validation.contains(family)) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": '", family, "' is in both lists"));
    }
  }
  return families;
}

}  // namespace hone::bench
