// Measures a store of many records against an empty one.
//
// Usage: hone_store_scale RECORDS [DIRECTORY]
// Fills DIRECTORY (default: a temporary one) unless it has a store of that many
// records already, and prints the times of opening,
// hits, misses and Stats, in microseconds unless it says otherwise.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "base/clock.h"
#include "base/rng.h"
#include "base/temporary_directory.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/storage/fill_store.h"

namespace hone::storage {
namespace {

double MicrosecondsOf(const std::function<void()>& body) {
  const absl::Duration start = SystemClock().Monotonic();
  body();
  return absl::ToDoubleMicroseconds(SystemClock().Monotonic() - start);
}

void Report(const std::string& what, const std::function<void()>& body) {
  constexpr int kCalls = 20'000;
  std::vector<double> times;
  for (int i = 0; i < kCalls; ++i) times.push_back(MicrosecondsOf(body));
  std::sort(times.begin(), times.end());
  std::cout << absl::StrFormat("%-28s p50 %7.1f  p99 %7.1f\n", what,
                               times[kCalls / 2], times[kCalls * 99 / 100]);
}

int Measure(const std::string& directory, int64_t records) {
  std::unique_ptr<SqliteStore> store;
  const double opening = MicrosecondsOf([&] {
    absl::StatusOr<std::unique_ptr<SqliteStore>> opened =
        SqliteStore::Create(directory);
    if (opened.ok()) {
      store = *std::move(opened);
    } else {
      std::cerr << opened.status() << "\n";
    }
  });
  if (store == nullptr) return 1;
  std::cout << records << " records: opening " << opening / 1000 << " ms\n";
  Rng rng(1);
  bool as_expected = true;
  if (records > 0) {
    Report("  hit", [&] {
      const auto index =
          static_cast<int64_t>(rng.Below(static_cast<uint64_t>(records)));
      as_expected &= store->Lookup(FilledKey(index)).ok();
    });
  }
  int64_t missing = records;
  Report("  miss, explained", [&] {
    const CacheKey key = FilledKey(++missing);
    as_expected &= !store->Lookup(key).ok();
    as_expected &= store->FindNearest(key).ok();
  });
  Report("  Stats", [&] {
    const absl::StatusOr<StoreStats> stats = store->Stats();
    as_expected &= stats.ok() && stats->records == records;
  });
  Report("  unfinished tunings", [&] {
    as_expected &=
        store
            ->ListTunings({TuningState::kPending, TuningState::kRunning}, 0, "")
            .ok();
  });
  if (!as_expected) std::cerr << "a call did not give what was expected\n";
  return as_expected ? 0 : 1;
}

int Main(int argc, char** argv) {
  int64_t records = 0;
  if (argc < 2 || argc > 3 || !absl::SimpleAtoi(argv[1], &records)) {
    std::cerr << "usage: hone_store_scale RECORDS [DIRECTORY]\n";
    return 2;
  }
  const TemporaryDirectory temporary;
  const std::string directory = argc == 3 ? argv[2] : temporary.path();
  const TemporaryDirectory empty;
  // One of each key's kind, so that hits and misses can be compared.
  if (Measure(empty.path(), 0) != 0) return 1;
  if (absl::Status status = FillStore(empty.path(), 24); !status.ok()) return 1;
  if (Measure(empty.path(), 24) != 0) return 1;
  if (!std::filesystem::exists(directory + "/hone.db")) {
    absl::Status status;
    const double filling =
        MicrosecondsOf([&] { status = FillStore(directory, records); });
    if (!status.ok()) {
      std::cerr << status << "\n";
      return 1;
    }
    std::cout << "filled in " << filling / 1e6 << " s\n";
  }
  return Measure(directory, records);
}

}  // namespace
}  // namespace hone::storage

int main(int argc, char** argv) { return hone::storage::Main(argc, argv); }
