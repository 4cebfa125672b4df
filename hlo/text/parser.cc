#include "hlo/text/parser.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "hlo/text/computation.h"
#include "hlo/text/lexer.h"
#include "hlo/text/shape.h"

namespace hone::hlo {
namespace {

// Reads what surrounds the computations of a module.
class ModuleReader {
 public:
  ModuleReader(absl::string_view text, const ReadLimits& limits)
      : lexer_(text, &error_),
        shapes_(limits.max_depth),
        computations_(lexer_, error_, shapes_, module_, limits) {}

  // False after an error, which is then in error().
  bool Read() {
    if (!ReadHeader() || !ReadStackFrameTables()) return false;
    do {
      if (!computations_.Read()) return false;
    } while (!lexer_.AtEnd());
    if (!computations_.Finish()) return false;
    if (!has_entry_layout_) FillEntryLayout();
    return true;
  }

  const TextError& error() const { return error_; }
  Module TakeModule() { return std::move(module_); }

 private:
  bool ReadHeader() {
    absl::string_view name;
    if (!lexer_.Expect("HloModule") ||
        !lexer_.Name(name, "the name of the module")) {
      return false;
    }
    module_.set_name(std::string(name));
    while (lexer_.Take(',')) {
      if (!ReadHeaderAttribute()) return false;
    }
    return true;
  }

  bool ReadHeaderAttribute() {
    const char* start = lexer_.Position();
    const absl::string_view name = lexer_.Word();
    if (name.empty()) return lexer_.FailExpected("the name of an attribute");
    if (!lexer_.Expect('=')) return false;
    if (name == "is_scheduled") {
      bool value = false;
      if (!lexer_.Bool(value)) return false;
      module_.set_is_scheduled(value);
      return true;
    }
    if (name == "entry_computation_layout") {
      if (has_entry_layout_) {
        return lexer_.Fail(start,
                           "entry_computation_layout again, expected it once");
      }
      has_entry_layout_ = true;
      return ReadEntryLayout();
    }
    absl::string_view value;
    if (!lexer_.AttributeValue(value)) return false;
    if (!header_names_.insert(name).second) {
      return lexer_.Fail(start, absl::StrCat(name, " again, expected it once"));
    }
    module_.add_header(std::string(name), std::string(value));
    return true;
  }

  // `{(f32[2]{0}, s32[])->f32[]}`
  bool ReadEntryLayout() {
    std::vector<ShapePtr> parameters;
    ShapePtr result;
    if (!lexer_.Expect('{') || !lexer_.Expect('(')) return false;
    if (!lexer_.Take(')')) {
      do {
        if (!shapes_.Read(lexer_, parameters.emplace_back())) return false;
      } while (lexer_.Take(','));
      if (!lexer_.Expect(')')) return false;
    }
    if (!lexer_.Expect("->") || !shapes_.Read(lexer_, result)) return false;
    module_.set_entry_shapes(std::move(parameters), std::move(result));
    return lexer_.Expect('}');
  }

  // FileNames, FunctionNames, FileLocations and StackFrames: lines of a number
  // and a string or braces.
  bool ReadStackFrameTables() {
    const char* start = lexer_.Position();
    const char* end = start;
    while (true) {
      const char* section = lexer_.Position();
      const absl::string_view word = lexer_.Word();
      const bool is_table = word == "FileNames" || word == "FunctionNames" ||
                            word == "FileLocations" || word == "StackFrames";
      if (!is_table || lexer_.Peek() == '{' || lexer_.Peek() == '(') {
        lexer_.set_position(section);
        break;
      }
      end = section + word.size();
      while (absl::ascii_isdigit(static_cast<unsigned char>(lexer_.Peek()))) {
        int64_t number = 0;
        absl::string_view value;
        if (!lexer_.Integer(number) || !lexer_.AttributeValue(value)) {
          return false;
        }
        end = lexer_.token_end();
      }
    }
    module_.set_stack_frame_tables(std::string(start, end));
    return true;
  }

  void FillEntryLayout() {
    const Computation& entry = module_.entry_computation();
    std::vector<ShapePtr> parameters;
    for (InstructionId id : entry.parameters()) {
      parameters.push_back(entry[id].shape_ptr());
    }
    module_.set_entry_shapes(std::move(parameters),
                             entry[entry.root()].shape_ptr());
  }

  TextError error_;
  TextLexer lexer_;
  ShapeReader shapes_;
  Module module_;
  ComputationReader computations_;
  bool has_entry_layout_ = false;
  absl::flat_hash_set<absl::string_view> header_names_;
};

// Text shorter than this is read before its instructions are counted.
constexpr size_t kWorthCounting = size_t{4} << 20;

// Returns the place where the instruction `max_instructions` + 1 gets its
// value, or null. Takes a fraction of the time of parsing, as every instruction
// has a " = ". (So may strings; no program has that many of them.)
const char* InstructionBeyond(absl::string_view text,
                              int64_t max_instructions) {
  if (text.size() < kWorthCounting) return nullptr;
  int64_t count = 0;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at + 1 < end; ++at) {
    at = static_cast<const char*>(
        std::memchr(at, '=', static_cast<size_t>(end - at)));
    if (at == nullptr || at + 1 == end) break;
    if (at[1] == ' ' && at != text.data() && at[-1] == ' ' &&
        ++count > max_instructions) {
      return at;
    }
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<Module> ParseHloText(absl::string_view text,
                                    absl::string_view file_name,
                                    const ReadLimits& limits) {
  absl::ConsumePrefix(&text, kByteOrderMark);
  if (const char* at = InstructionBeyond(text, limits.max_instructions)) {
    return absl::InvalidArgumentError(FormatTextError(
        text, file_name,
        {at, absl::StrCat("too many instructions, expected at most ",
                          limits.max_instructions)}));
  }
  ModuleReader reader(text, limits);
  if (!reader.Read()) {
    return absl::InvalidArgumentError(
        FormatTextError(text, file_name, reader.error()));
  }
  return reader.TakeModule();
}

}  // namespace hone::hlo
