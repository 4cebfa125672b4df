#include "bench/corpus.h"

#include <thread>

#include "absl/strings/str_cat.h"
#include <sys/utsname.h>

#include "base/processor.h"
#include "base/status_macros.h"
#include "bench/json_file.h"

namespace hone::bench {

absl::StatusOr<std::vector<CorpusEntry>> ReadCorpus(
    const std::string& directory, const std::string& only) {
  HONE_ASSIGN_OR_RETURN(const std::regex filter, ParseOnly(only));
  const std::string path = directory + "/manifest.json";
  HONE_ASSIGN_OR_RETURN(const auto manifest,
                        ReadJsonFile(path, "the corpus (--corpus DIR)"));
  if (!manifest.is_array()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": not a JSON array, expected one entry a module"));
  }
  std::vector<CorpusEntry> entries;
  for (const auto& item : manifest) {
    CorpusEntry entry;
    entry.name = item.value("name", "");
    entry.ops = item.value("ops", int64_t{0});
    entry.xla_ops = item.value("xla_ops", int64_t{0});
    if (entry.name.empty() || entry.ops <= 0 || entry.xla_ops <= 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": entry ", item.dump(), " lacks name, ops or xla_ops"));
    }
    entry.path = absl::StrCat(directory, "/", entry.name, ".hlo.zst");
    if (std::regex_search(entry.name, filter)) {
      entries.push_back(std::move(entry));
    }
  }
  if (entries.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--only '", only, "': no module of that name in ", path));
  }
  return entries;
}

absl::StatusOr<std::regex> ParseOnly(const std::string& only) {
  try {
    return std::regex(only);
  } catch (const std::regex_error& error) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--only '", only, "': not a regular expression: ", error.what()));
  }
}

std::string DescribeMachine() {
  const std::string cpu = ProcessorModel();
  utsname system{};
  uname(&system);
  return absl::StrCat(cpu.empty() ? "unknown CPU" : cpu, ", ",
                      std::thread::hardware_concurrency(), " threads, ",
                      system.sysname, " ", system.release,
                      ", g++ " __VERSION__);
}

}  // namespace hone::bench
