#ifndef HONE_STORAGE_CANDIDATE_CODER_H_
#define HONE_STORAGE_CANDIDATE_CODER_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "space/trial.h"

namespace hone::storage {

// Returns choices as variable-length integers: one byte each below 128.
std::string PlainBytes(absl::Span<const int32_t> choices);

// Encodes and decodes the candidates of a log, in order. A long candidate that
// resembles the one before is written as its edits, at most kMaxEdited times in
// a row, so that any candidate can be read from so many bytes before it. The
// rest is written in full, compressed where that is shorter.
// Threads: not thread-safe.
class CandidateCoder {
 public:
  // The most candidates that depend on another, in a row.
  static constexpr int kMaxEdited = 255;
  // Shorter candidates are always written in full.
  static constexpr size_t kMinEdited = 256;

  // Returns the bytes of the next candidate, never none.
  std::string Encode(const space::Candidate& candidate);
  // Errors: DataLoss for bytes that Encode did not return after the candidates
  // so far; another candidate before them can pass unnoticed.
  absl::StatusOr<space::Candidate> Decode(absl::string_view bytes);
  // Notes a candidate that is not encoded: the next one is written in full.
  void Skip();

  // Returns true if `bytes` are edits of the candidate before.
  static bool IsEdited(absl::string_view bytes);

 private:
  void Advance(const space::Candidate& candidate, bool is_edited);

  // The last candidate if the next may be its edits; empty otherwise.
  space::Candidate last_;
  int edited_ = 0;  // in a row
};

}  // namespace hone::storage

#endif  // HONE_STORAGE_CANDIDATE_CODER_H_
