#include "tests/support/corpus.h"

#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

#include "hlo/read_module.h"

namespace hone::testing {
namespace {

std::vector<CorpusModule> ReadAll() {
  std::vector<CorpusModule> modules;
  std::ifstream file(HONE_SOURCE_DIR "/bench/data/corpus/manifest.json");
  const auto manifest =
      nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  EXPECT_TRUE(manifest.is_array());
  for (const auto& item : manifest) {
    CorpusModule entry;
    entry.name = item.value("name", "");
    entry.ops = item.value("ops", int64_t{0});
    entry.xla_ops = item.value("xla_ops", int64_t{0});
    absl::StatusOr<std::string> text =
        hlo::ReadFileBytes(CorpusPath(entry.name));
    EXPECT_TRUE(text.ok()) << text.status();
    if (!text.ok()) continue;
    entry.text = *std::move(text);
    modules.push_back(std::move(entry));
  }
  return modules;
}

}  // namespace

const std::vector<CorpusModule>& CorpusModules() {
  static const auto* const modules = new std::vector<CorpusModule>(ReadAll());
  return *modules;
}

std::string CorpusPath(const std::string& name) {
  return absl::StrCat(HONE_SOURCE_DIR "/bench/data/corpus/", name, ".hlo.zst");
}

}  // namespace hone::testing
