#include "storage/sqlite/rows.h"

#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

#include "base/hash.h"
#include "base/status_macros.h"
#include "storage/contract.h"

namespace hone::storage::sqlite {
namespace {

// Between the machines of a record's column.
constexpr absl::string_view kMachineSeparator = ",";

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

// Samples as IEEE 754 doubles, little-endian, 8 bytes each.
std::string SampleBytes(absl::Span<const double> samples) {
  std::string bytes;
  for (const double sample : samples) {
    auto bits = std::bit_cast<uint64_t>(sample);
    for (int i = 0; i < 8; ++i, bits >>= 8) {
      bytes.push_back(static_cast<char>(bits & 0xff));
    }
  }
  return bytes;
}

// False if these are no samples.
bool ParseSamples(absl::string_view bytes, std::vector<double>& samples) {
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    uint64_t bits = 0;
    for (size_t i = 8; i-- > 0;) {
      bits = bits << 8 | static_cast<unsigned char>(bytes[i]);
    }
    samples.push_back(std::bit_cast<double>(bits));
  }
  return bytes.empty();
}

// Collects the columns of a row.
class Checksum {
 public:
  Checksum& Add(absl::string_view text) {
    absl::StrAppend(&bytes_, text.size(), ":", text);
    return *this;
  }
  Checksum& Add(int64_t value) {
    absl::StrAppend(&bytes_, value, ";");
    return *this;
  }
  // SQLite keeps neither the bits of a NaN (it becomes NULL) nor the sign of
  // zero.
  Checksum& Add(double value) {
    if (std::isnan(value)) return Add("NaN");
    return Add(std::bit_cast<int64_t>(value == 0 ? 0.0 : value));
  }
  Checksum& Add(const std::optional<double>& value) {
    return Add(value.value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  Checksum& Add(const CacheKey& key) {
    return Add(key.module_fingerprint)
        .Add(key.target)
        .Add(key.task)
        .Add(key.task_options)
        .Add(key.space_version);
  }
  int64_t Value() const { return std::bit_cast<int64_t>(FastHash(bytes_).low); }

 private:
  std::string bytes_;
};

// The sequence number is left out: it is not known before the insertion, and
// nothing is decided by it but order.
int64_t ChecksumOf(const Tuning& tuning) {
  Checksum checksum;
  checksum.Add(tuning.id)
      .Add(tuning.key)
      .Add(tuning.module_name)
      .Add(tuning.module_digest)
      .Add(tuning.optimizer)
      .Add(std::bit_cast<int64_t>(tuning.seed))
      .Add(tuning.budget.trials)
      .Add(absl::ToInt64Nanoseconds(tuning.budget.time))
      .Add(TuningStateName(tuning.state))
      .Add(tuning.error)
      .Add(tuning.trials)
      .Add(tuning.default_cost)
      .Add(tuning.best_cost)
      .Add(absl::ToUnixNanos(tuning.created))
      .Add(absl::ToUnixNanos(tuning.updated));
  // Tunings without this limit have the checksum of older schemas.
  if (tuning.budget.evaluations != kUnlimited) {
    checksum.Add(tuning.budget.evaluations);
  }
  return checksum.Value();
}

int64_t ChecksumOf(const Record& record) {
  Checksum checksum;
  checksum.Add(record.key)
      .Add(record.module_name)
      .Add(record.unit)
      .Add(record.default_cost)
      .Add(record.best_cost)
      .Add(record.decision)
      .Add(record.tuned_module_digest)
      .Add(record.optimizer)
      .Add(std::bit_cast<int64_t>(record.seed))
      .Add(record.trials)
      .Add(record.seconds)
      .Add(record.verification.method)
      .Add(record.verification.max_rel_error)
      .Add(record.tuning_id)
      .Add(record.producer)
      .Add(absl::ToUnixNanos(record.created));
  // Records that nobody measured have the checksum of older schemas.
  for (const std::string& machine : record.verification.measured_by) {
    checksum.Add(machine);
  }
  return checksum.Value();
}

int64_t ChecksumOf(const space::Trial& trial) {
  const space::Measurement& measurement = trial.measurement;
  return Checksum()
      .Add(trial.id)
      .Add(PlainBytes(trial.candidate.choices))
      .Add(space::OutcomeName(measurement.outcome))
      .Add(measurement.cost)
      .Add(measurement.message)
      .Add(SampleBytes(measurement.samples))
      .Add(measurement.violation)
      .Value();
}

// The checksum of rows with JSON.
int64_t OldChecksumOf(const space::Trial& trial) {
  Checksum checksum;
  checksum.Add(trial.id);
  for (int32_t choice : trial.candidate.choices) {
    checksum.Add(static_cast<int64_t>(choice));
  }
  checksum.Add(space::OutcomeName(trial.measurement.outcome))
      .Add(trial.measurement.cost)
      .Add(trial.measurement.message);
  for (double sample : trial.measurement.samples) checksum.Add(sample);
  return checksum.Value();
}

std::optional<double> OptionalReal(const Statement& row, int column) {
  if (row.IsNull(column)) return std::nullopt;
  return row.Real(column);
}

std::optional<absl::string_view> NullIfEmpty(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return text;
}

// Returns the id of the row that stands for the key without its module.
absl::StatusOr<int64_t> FindOrAddContext(Database& database,
                                         const CacheKey& key) {
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      database.Prepare("SELECT id FROM context WHERE target = ?1 AND task = ?2"
                       " AND task_options = ?3 AND space_version = ?4"));
  query.Bind(key.target, key.task, key.task_options, key.space_version);
  HONE_ASSIGN_OR_RETURN(const bool found, query.Step());
  if (found) return query.Int(0);
  HONE_ASSIGN_OR_RETURN(
      Statement insert,
      database.Prepare("INSERT INTO context (target, task, task_options, "
                       "space_version, newest) VALUES (?1, ?2, ?3, ?4, 0)"
                       " RETURNING id"));
  insert.Bind(key.target, key.task, key.task_options, key.space_version);
  HONE_RETURN_IF_ERROR(insert.Step().status());
  return insert.Int(0);
}

// Makes the record findable by its machines.
absl::Status InsertMeasurements(Database& database, const Record& record,
                                int64_t sequence) {
  for (const std::string& machine : record.verification.measured_by) {
    HONE_ASSIGN_OR_RETURN(
        Statement insert,
        database.Prepare("INSERT OR IGNORE INTO measurement (machine, record)"
                         " VALUES (?1, ?2)"));
    HONE_RETURN_IF_ERROR(insert.Bind(machine, sequence).Run());
  }
  return absl::OkStatus();
}

// "[1,2,3]" to values; false when it is anything else.
template <typename T, typename Parse>
bool ParseArray(absl::string_view text, std::vector<T>& values, Parse parse) {
  if (!absl::ConsumePrefix(&text, "[") || !absl::ConsumeSuffix(&text, "]")) {
    return false;
  }
  if (text.empty()) return true;
  for (absl::string_view item : absl::StrSplit(text, ',')) {
    if (!parse(item, &values.emplace_back())) return false;
  }
  return true;
}

#define HONE_TRIAL_COLUMNS                                     \
  "id, candidate, outcome, cost, samples, message, checksum, " \
  "candidate_bytes, sample_bytes, violation"

// Reads JSON, as rows of older schemas have it.
bool ParseOldTrial(const Statement& row, space::Trial& trial) {
  return ParseArray(row.Text(1), trial.candidate.choices,
                    [](absl::string_view item, int32_t* value) {
                      return absl::SimpleAtoi(item, value);
                    }) &&
         (row.IsNull(4) ||
          ParseArray(row.Text(4), trial.measurement.samples,
                     [](absl::string_view item, double* value) {
                       return absl::SimpleAtod(item, value);
                     }));
}

// Reads the row of HONE_TRIAL_COLUMNS that follows those that `coder` knows.
absl::StatusOr<space::Trial> ReadTrial(const Statement& row,
                                       CandidateCoder& coder) {
  space::Trial trial;
  trial.id = row.Int(0);
  const std::optional<space::Outcome> outcome =
      space::ParseOutcome(row.Text(2));
  trial.measurement.outcome = outcome.value_or(space::Outcome::kInvalid);
  trial.measurement.cost = row.Real(3);
  trial.measurement.message = row.Text(5);
  const bool is_old = row.IsNull(7);
  if (is_old) {
    coder.Skip();
    if (!ParseOldTrial(row, trial)) return row.CorruptRow("trial");
  } else {
    absl::StatusOr<space::Candidate> candidate = coder.Decode(row.Text(7));
    if (!candidate.ok() ||
        !ParseSamples(row.Text(8), trial.measurement.samples)) {
      return row.CorruptRow("trial");
    }
    trial.candidate = *std::move(candidate);
    trial.measurement.violation = row.Real(9);
  }
  if (!outcome ||
      row.Int(6) != (is_old ? OldChecksumOf(trial) : ChecksumOf(trial))) {
    return row.CorruptRow("trial");
  }
  return trial;
}

}  // namespace

absl::StatusOr<Row<Tuning>> ReadTuning(const Statement& row) {
  int column = 0;
  const auto text = [&] { return row.Text(column++); };
  const auto integer = [&] { return row.Int(column++); };
  Row<Tuning> result;
  Tuning& tuning = result.value;
  result.sequence = integer();
  tuning.id = text();
  const std::string key_digest = text();
  tuning.key = {text(), text(), text(), text(), text()};
  tuning.module_name = text();
  tuning.module_digest = text();
  tuning.optimizer = text();
  tuning.seed = std::bit_cast<uint64_t>(integer());
  tuning.budget.trials = integer();
  tuning.budget.time = row.IsNull(column) ? absl::InfiniteDuration()
                                          : absl::Nanoseconds(row.Int(column));
  ++column;
  const std::optional<TuningState> state = ParseTuningState(text());
  tuning.state = state.value_or(TuningState::kFailed);
  tuning.error = text();
  tuning.trials = integer();
  tuning.default_cost = OptionalReal(row, column++);
  tuning.best_cost = OptionalReal(row, column++);
  tuning.created = absl::FromUnixNanos(integer());
  tuning.updated = absl::FromUnixNanos(integer());
  const int64_t checksum = integer();
  if (!row.IsNull(column)) tuning.budget.evaluations = row.Int(column);
  if (checksum != ChecksumOf(tuning) || !state ||
      key_digest != tuning.key.Digest()) {
    return row.CorruptRow("tuning");
  }
  return result;
}

absl::StatusOr<Row<Record>> ReadRecord(const Statement& row) {
  int column = 0;
  const auto text = [&] { return row.Text(column++); };
  const auto integer = [&] { return row.Int(column++); };
  const auto real = [&] { return row.Real(column++); };
  Row<Record> result;
  Record& record = result.value;
  result.sequence = integer();
  const std::string key_digest = text();
  record.key = {text(), text(), text(), text(), text()};
  record.module_name = text();
  record.unit = text();
  record.default_cost = real();
  record.best_cost = real();
  record.decision = text();
  record.tuned_module_digest = text();
  record.optimizer = text();
  record.seed = std::bit_cast<uint64_t>(integer());
  record.trials = integer();
  record.seconds = real();
  record.verification.method = text();
  record.verification.max_rel_error = real();
  record.tuning_id = text();
  record.producer = text();
  record.created = absl::FromUnixNanos(integer());
  const int64_t checksum = integer();
  record.verification.measured_by =
      absl::StrSplit(text(), kMachineSeparator, absl::SkipEmpty());
  if (checksum != ChecksumOf(record) || key_digest != record.key.Digest()) {
    return row.CorruptRow("record");
  }
  return result;
}

absl::Status ReadTrials(Database& database, const Row<Tuning>& tuning,
                        const std::function<void(space::Trial)>& visit) {
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      database.Prepare("SELECT " HONE_TRIAL_COLUMNS
                       " FROM trial WHERE tuning = ?1 ORDER BY id"));
  query.Bind(tuning.sequence);
  CandidateCoder coder;
  int64_t count = 0;
  while (true) {
    HONE_ASSIGN_OR_RETURN(const bool found, query.Step());
    if (!found) break;
    HONE_ASSIGN_OR_RETURN(space::Trial trial, ReadTrial(query, coder));
    // The checksum does not cover the tuning that a trial is of.
    if (trial.id != count) return query.CorruptRow("trial");
    ++count;
    visit(std::move(trial));
  }
  // More than the row says were appended since it was read.
  if (count < tuning.value.trials) return query.CorruptRow("trial");
  return absl::OkStatus();
}

absl::StatusOr<CandidateCoder> ResumeCoder(Database& database,
                                           int64_t tuning_sequence,
                                           int64_t last) {
  HONE_ASSIGN_OR_RETURN(
      Statement query,
      database.Prepare("SELECT candidate_bytes FROM trial WHERE tuning = ?1"
                       " AND id <= ?2 ORDER BY id DESC"));
  query.Bind(tuning_sequence, last);
  std::vector<std::string> edited;
  CandidateCoder coder;
  while (true) {
    HONE_ASSIGN_OR_RETURN(const bool found, query.Step());
    if (!found) return CandidateCoder();
    edited.push_back(query.Text(0));
    if (!CandidateCoder::IsEdited(edited.back())) break;
    if (edited.size() > CandidateCoder::kMaxEdited) return CandidateCoder();
  }
  for (; !edited.empty(); edited.pop_back()) {
    if (!coder.Decode(edited.back()).ok()) return CandidateCoder();
  }
  return coder;
}

absl::StatusOr<Row<Tuning>> FindTuning(Database& database,
                                       absl::string_view id) {
  HONE_ASSIGN_OR_RETURN(Statement query,
                        database.Prepare("SELECT " HONE_TUNING_COLUMNS
                                         " FROM tuning WHERE id = ?1"));
  HONE_ASSIGN_OR_RETURN(const bool found, query.Bind(id).Step());
  if (!found) return NoSuchTuning(id);
  HONE_ASSIGN_OR_RETURN(Row<Tuning> row, ReadTuning(query));
  // A damaged index leads to another row.
  if (row.value.id != id) return query.CorruptRow("tuning");
  return row;
}

absl::Status InsertTuning(Database& database, const Tuning& tuning) {
  HONE_ASSIGN_OR_RETURN(
      Statement insert,
      database.Prepare(
          "INSERT INTO tuning (" HONE_TUNING_COLUMNS
          ") VALUES (NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, "
          "?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)"));
  std::optional<int64_t> time_ns;
  if (tuning.budget.time != absl::InfiniteDuration()) {
    time_ns = absl::ToInt64Nanoseconds(tuning.budget.time);
  }
  std::optional<int64_t> evaluations;
  if (tuning.budget.evaluations != kUnlimited) {
    evaluations = tuning.budget.evaluations;
  }
  return insert
      .Bind(tuning.id, tuning.key.Digest(), tuning.key.module_fingerprint,
            tuning.key.target, tuning.key.task, tuning.key.task_options,
            tuning.key.space_version, tuning.module_name, tuning.module_digest,
            tuning.optimizer, std::bit_cast<int64_t>(tuning.seed),
            tuning.budget.trials, time_ns, TuningStateName(tuning.state),
            tuning.error, tuning.trials, tuning.default_cost, tuning.best_cost,
            absl::ToUnixNanos(tuning.created),
            absl::ToUnixNanos(tuning.updated), ChecksumOf(tuning), evaluations)
      .Run();
}

absl::Status UpdateTuning(Database& database, const Row<Tuning>& row) {
  const Tuning& tuning = row.value;
  HONE_ASSIGN_OR_RETURN(
      Statement update,
      database.Prepare(
          "UPDATE tuning SET state = ?2, error = ?3, trials = ?4, "
          "default_cost = ?5, best_cost = ?6, updated_ns = ?7, checksum = ?8 "
          "WHERE sequence = ?1"));
  return update
      .Bind(row.sequence, TuningStateName(tuning.state), tuning.error,
            tuning.trials, tuning.default_cost, tuning.best_cost,
            absl::ToUnixNanos(tuning.updated), ChecksumOf(tuning))
      .Run();
}

absl::Status InsertRecord(Database& database, const Record& record,
                          absl::Time used) {
  const std::string digest = record.key.Digest();
  // Not REPLACE, which fires no triggers for what it deletes.
  HONE_ASSIGN_OR_RETURN(
      Statement remove,
      database.Prepare("DELETE FROM record WHERE key_digest = ?1"));
  HONE_RETURN_IF_ERROR(remove.Bind(digest).Run());
  HONE_ASSIGN_OR_RETURN(const int64_t context,
                        FindOrAddContext(database, record.key));
  // The new sequence number makes a replacement the newest.
  HONE_ASSIGN_OR_RETURN(
      Statement insert,
      database.Prepare(
          "INSERT INTO record (" HONE_RECORD_COLUMNS ", context, used_ns"
          ") VALUES (NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, "
          "?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25)"
          " RETURNING sequence"));
  const std::string machines =
      absl::StrJoin(record.verification.measured_by, kMachineSeparator);
  insert.Bind(
      digest, record.key.module_fingerprint, record.key.target, record.key.task,
      record.key.task_options, record.key.space_version, record.module_name,
      record.unit, record.default_cost, record.best_cost, record.decision,
      record.tuned_module_digest, record.optimizer,
      std::bit_cast<int64_t>(record.seed), record.trials, record.seconds,
      record.verification.method, record.verification.max_rel_error,
      record.tuning_id, record.producer, absl::ToUnixNanos(record.created),
      ChecksumOf(record), machines, context, absl::ToUnixNanos(used));
  HONE_RETURN_IF_ERROR(insert.Step().status());
  return InsertMeasurements(database, record, insert.Int(0));
}

absl::Status InsertTrial(Database& database, int64_t tuning_sequence,
                         const space::Trial& trial, CandidateCoder& coder) {
  const space::Measurement& measurement = trial.measurement;
  HONE_ASSIGN_OR_RETURN(
      Statement insert,
      database.Prepare(
          "INSERT INTO trial (tuning, id, candidate, outcome, cost, message, "
          "checksum, violation, candidate_bytes, sample_bytes) "
          "VALUES (?1, ?2, '', ?3, ?4, ?5, ?6, ?7, ?8, ?9)"));
  insert.Bind(tuning_sequence, trial.id,
              space::OutcomeName(measurement.outcome), measurement.cost,
              NullIfEmpty(measurement.message), ChecksumOf(trial),
              measurement.violation);
  insert.BindBlob(8, coder.Encode(trial.candidate));
  if (!measurement.samples.empty()) {
    insert.BindBlob(9, SampleBytes(measurement.samples));
  }
  return insert.Run();
}

}  // namespace hone::storage::sqlite
