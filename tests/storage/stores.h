#ifndef HONE_TESTS_STORAGE_STORES_H_
#define HONE_TESTS_STORAGE_STORES_H_

#include <functional>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/temporary_directory.h"
#include "storage/memory_store.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/storage/samples.h"
#include "tests/support/status_matchers.h"

namespace hone::storage {

// An implementation of Store, for tests that run on each.
struct Implementation {
  std::string name;
  std::function<std::unique_ptr<Store>(const std::string& directory)> make;
};

class StoreTest : public ::testing::TestWithParam<Implementation> {
 protected:
  StoreTest() : store_(GetParam().make(directory_.path())) {}

  void SetUp() override { ASSERT_NE(store_, nullptr); }

  void Create(const std::string& id, const std::string& module = "m0") {
    HONE_ASSERT_OK(store_->CreateTuning(SampleTuning(id, module)));
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Store> store_;
};

inline auto AllStores() {
  return ::testing::Values(
      Implementation{
          "Memory",
          [](const std::string&) { return std::make_unique<MemoryStore>(); }},
      Implementation{
          "Sqlite", [](const std::string& directory) -> std::unique_ptr<Store> {
            auto store = SqliteStore::Create(directory);
            EXPECT_THAT(store, hone::testing::IsOk());
            if (!store.ok()) return nullptr;
            return *std::move(store);
          }});
}

inline std::string NameOf(
    const ::testing::TestParamInfo<Implementation>& parameter) {
  return parameter.param.name;
}

}  // namespace hone::storage

#endif  // HONE_TESTS_STORAGE_STORES_H_
