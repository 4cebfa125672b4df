#ifndef HONE_TESTS_SUPPORT_CORPUS_H_
#define HONE_TESTS_SUPPORT_CORPUS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace hone::testing {

// A module of bench/data/corpus.
struct CorpusModule {
  std::string name;
  std::string text;
  int64_t ops = 0;
  int64_t xla_ops = 0;
};

// All of them, in the manifest's order; read once for each process. Empty (with
// a test failure) when they cannot be read.
const std::vector<CorpusModule>& CorpusModules();

// HONE_SOURCE_DIR/bench/data/corpus/NAME.hlo.zst
std::string CorpusPath(const std::string& name);

}  // namespace hone::testing

#endif  // HONE_TESTS_SUPPORT_CORPUS_H_
