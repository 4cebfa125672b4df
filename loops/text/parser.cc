#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "loops/analysis/verifier_internal.h"
#include "loops/text/constant.h"
#include "loops/text/expression.h"
#include "loops/text/lexer.h"
#include "loops/text/text.h"

namespace hone::loops {
namespace {

using hlo::Opcode;

constexpr size_t kMaxLoops = 100;

// Replaces comments by blanks, which preserves positions.
std::string WithoutComments(absl::string_view text) {
  std::string result(text);
  bool comment = false;
  for (char& c : result) {
    comment = c != '\n' && (comment || c == '#');
    if (comment) c = ' ';
  }
  return result;
}

std::string FormatError(absl::string_view text, const char* position,
                        absl::string_view message) {
  const absl::string_view before =
      text.substr(0, static_cast<size_t>(position - text.data()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  // npos + 1 is 0.
  const size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  return absl::StrCat(line, ":", column, ": ", message);
}

class Parser {
 public:
  // `text` is without comments.
  explicit Parser(absl::string_view text)
      : text_(text),
        lexer_(text, &error_),
        expressions_(lexer_, program_, names_) {}

  absl::StatusOr<Program> Parse() {
    if (!ReadKernel()) return ErrorAt(error_.position, error_.message);
    if (std::optional<Defect> defect = FindStructureDefect(program_)) {
      return ErrorAt(PositionOf(defect->path), defect->what);
    }
    if (std::optional<Defect> defect = FindBoundsDefect(program_)) {
      return ErrorAt(PositionOf(defect->path), defect->what);
    }
    return std::move(program_);
  }

 private:
  // An open loop.
  struct OpenLoop {
    Loop loop;
    Path path;
  };

  absl::Status ErrorAt(const char* position, absl::string_view message) {
    return absl::InvalidArgumentError(FormatError(text_, position, message));
  }

  const char* PositionOf(const Path& path) {
    const auto at =
        std::find_if(nodes_.begin(), nodes_.end(),
                     [&](const auto& node) { return node.first == path; });
    return at == nodes_.end() ? text_.data() : at->second;
  }

  bool ReadKernel() {
    lexer_.NextLine();
    if (!lexer_.TakeWord("kernel")) return lexer_.FailExpected("'kernel'");
    const char* start = lexer_.Position();
    const char* stop = start;
    while (!lexer_.AtLineEnd()) {
      stop = lexer_.Position() + 1;
      lexer_.set_position(stop);
    }
    program_.set_name(std::string(start, static_cast<size_t>(stop - start)));
    while (lexer_.NextLine()) {
      if (!ReadLine()) return false;
      if (!lexer_.ExpectLineEnd()) return false;
    }
    Close(0);
    return true;
  }

  bool ReadLine() {
    const char* start = lexer_.Position();
    size_t depth = 0;
    while (lexer_.Take("|")) ++depth;
    if (depth > open_.size()) {
      return lexer_.Fail(
          start, absl::StrCat("a line in ", depth, " loops, expected at most ",
                              open_.size(), " bars"));
    }
    Close(depth);
    const char* first = lexer_.Position();
    absl::string_view word;
    if (!lexer_.Name(word, "a declaration, a loop or a statement")) {
      return false;
    }
    // Buffers may have names that are keywords.
    if (lexer_.IsNext('[') || lexer_.IsNext('@')) {
      lexer_.set_position(first);
      return ReadStatement(first);
    }
    if (word == "for") return ReadLoop(first);
    if (word == "local") return ReadBuffer(first, Memory::kHeap);
    if (depth == 0) {
      if (word == "argument") return ReadBuffer(first, Memory::kArgument);
      if (word == "result") return ReadBuffer(first, Memory::kResult);
      if (word == "inout") return ReadBuffer(first, Memory::kInOut);
      if (word == "constant") return ReadBuffer(first, Memory::kConstant);
    }
    lexer_.set_position(first);
    return lexer_.FailExpected("a declaration, a loop or a statement");
  }

  std::vector<Node>& Body() {
    return open_.empty() ? program_.mutable_body() : open_.back().loop.body;
  }

  Path NextPath() {
    Path path = open_.empty() ? Path() : open_.back().path;
    path.push_back(static_cast<int32_t>(Body().size()));
    return path;
  }

  // Closes loops until `depth` are open.
  void Close(size_t depth) {
    while (open_.size() > depth) {
      auto loop = std::make_shared<const Loop>(std::move(open_.back().loop));
      open_.pop_back();
      names_.variables.pop_back();
      Body().emplace_back(std::move(loop));
    }
  }

  // `argument x f32[2,3]`, `constant c f32[2] {1, 2}`,
  // `local t f32[2,3] stack strides {4,1}`
  bool ReadBuffer(const char* start, Memory memory) {
    if (!Body().empty()) {
      return lexer_.Fail(start,
                         "a declaration after loops or statements, expected "
                         "it in front of them");
    }
    const char* at = lexer_.Position();
    Buffer buffer;
    buffer.memory = memory;
    absl::string_view name;
    if (!lexer_.Name(name, "the name of the buffer")) return false;
    buffer.name = std::string(name);
    if (!ReadShape(buffer)) return false;
    if (memory == Memory::kConstant &&
        !ReadValues(lexer_, hlo::Shape::Array(buffer.type, buffer.dimensions),
                    &error_, buffer.literal)) {
      return false;
    }
    if (memory == Memory::kArgument) buffer.number = arguments_++;
    if (buffer.IsOutput()) buffer.number = results_++;
    if (buffer.IsLocal() && !ReadPlace(buffer)) return false;
    const bool is_local = buffer.IsLocal();
    const BufferId id = program_.AddBuffer(std::move(buffer));
    if (!names_.buffers.emplace(name, id).second) {
      return lexer_.Fail(at, absl::StrCat("another buffer ", name,
                                          ", expected a name of its own"));
    }
    if (is_local) {
      (open_.empty() ? program_.mutable_locals() : open_.back().loop.locals)
          .push_back(id);
    }
    return true;
  }

  // `f32[2,3]`
  bool ReadShape(Buffer& buffer) {
    const char* start = lexer_.Position();
    const std::optional<hlo::ElementType> type =
        hlo::ParseElementType(lexer_.Word());
    if (!type || hlo::KindOf(*type) == hlo::ElementKind::kNone) {
      lexer_.set_position(start);
      return lexer_.FailExpected("an element type");
    }
    buffer.type = *type;
    if (!lexer_.Expect("[")) return false;
    if (!lexer_.Take("]")) {
      if (!ReadIntegers(buffer.dimensions) || !lexer_.Expect("]")) return false;
    }
    const absl::Status valid =
        hlo::ValidateShape(hlo::Shape(*type, buffer.dimensions));
    if (!valid.ok()) return lexer_.Fail(start, std::string(valid.message()));
    buffer.strides = DenseStrides(buffer.dimensions);
    return true;
  }

  bool ReadIntegers(hlo::DimensionVector& values) {
    do {
      values.push_back(0);
      if (!lexer_.Integer(values.back())) return false;
    } while (lexer_.Take(","));
    return true;
  }

  // `heap`, `stack` or `register`, and strides that are not dense.
  bool ReadPlace(Buffer& buffer) {
    if (lexer_.TakeWord("heap")) {
      buffer.memory = Memory::kHeap;
    } else if (lexer_.TakeWord("stack")) {
      buffer.memory = Memory::kStack;
    } else if (lexer_.TakeWord("register")) {
      buffer.memory = Memory::kRegister;
    } else {
      return lexer_.FailExpected("heap, stack or register");
    }
    if (!lexer_.TakeWord("strides")) return true;
    buffer.strides.clear();
    if (!lexer_.Expect("{")) return false;
    if (lexer_.Take("}")) return true;
    return ReadIntegers(buffer.strides) && lexer_.Expect("}");
  }

  // `prefetch 8`
  bool ReadPrefetch(Loop& loop) {
    const char* at = lexer_.Position();
    int64_t distance = 0;
    if (!lexer_.Integer(distance)) return false;
    if (distance < 1 || distance > kMaxPrefetch) {
      return lexer_.Fail(at, absl::StrCat("prefetch ", distance,
                                          ", expected 1 to ", kMaxPrefetch));
    }
    loop.prefetch = static_cast<int32_t>(distance);
    return true;
  }

  // `for i1 16 < 1000-16*i0 vector`
  bool ReadLoop(const char* start) {
    if (open_.size() == kMaxLoops) {
      return lexer_.Fail(start, absl::StrCat("loops are nested too deeply, "
                                             "expected at most ",
                                             kMaxLoops));
    }
    const char* at = lexer_.Position();
    absl::string_view name;
    if (!lexer_.Name(name, "the name of the variable")) return false;
    for (const Names::Variable& variable : names_.variables) {
      if (variable.name != name) continue;
      return lexer_.Fail(at, absl::StrCat("another variable ", name,
                                          ", expected a name of its own"));
    }
    OpenLoop opened;
    Loop& loop = opened.loop;
    if (!lexer_.Integer(loop.extent)) return false;
    if (lexer_.Take("<")) {
      loop.bound.emplace();
      if (!expressions_.ReadAffine(*loop.bound)) return false;
    }
    if (lexer_.TakeWord("unrolled")) {
      loop.mode = LoopMode::kUnrolled;
    } else if (lexer_.TakeWord("vector")) {
      loop.mode = LoopMode::kVector;
    } else if (lexer_.TakeWord("parallel")) {
      loop.mode = LoopMode::kParallel;
    } else if (lexer_.TakeWord("prefetch")) {
      if (!ReadPrefetch(loop)) return false;
    } else if (!lexer_.AtLineEnd()) {
      return lexer_.FailExpected(
          "unrolled, vector, parallel, prefetch or a new line");
    }
    loop.var = program_.NewVar();
    names_.variables.push_back({name, loop.var});
    opened.path = NextPath();
    nodes_.emplace_back(opened.path, start);
    open_.push_back(std::move(opened));
    return true;
  }

  // `y[i0] max= x[i0] if (p[i0]) nontemporal`
  bool ReadStatement(const char* start) {
    auto statement = std::make_shared<Statement>();
    if (!expressions_.ReadAccess(statement->target) ||
        !ReadAssignment(*statement) ||
        !expressions_.ReadExpression(statement->value)) {
      return false;
    }
    if (lexer_.TakeWord("if")) {
      if (!lexer_.Expect("(") ||
          !expressions_.ReadExpression(statement->predicate) ||
          !lexer_.Expect(")")) {
        return false;
      }
    }
    statement->non_temporal = lexer_.TakeWord("nontemporal");
    nodes_.emplace_back(NextPath(), start);
    Body().emplace_back(std::shared_ptr<const Statement>(std::move(statement)));
    return true;
  }

  bool ReadAssignment(Statement& statement) {
    static constexpr std::pair<absl::string_view, Opcode> kOperations[] = {
        {"+", Opcode::kAdd},       {"*", Opcode::kMultiply},
        {"max", Opcode::kMaximum}, {"min", Opcode::kMinimum},
        {"and", Opcode::kAnd},     {"or", Opcode::kOr},
        {"xor", Opcode::kXor},
    };
    for (const auto& [text, opcode] : kOperations) {
      if (!lexer_.Take(absl::StrCat(text, "="))) continue;
      statement.combine = opcode;
      return true;
    }
    return lexer_.Take("=") ||
           lexer_.FailExpected(
               "=, +=, *=, max=, min=, and=, or= or xor= and a value");
  }

  const absl::string_view text_;
  hlo::TextError error_;
  LineLexer lexer_;
  Program program_;
  Names names_;
  ExpressionReader expressions_;
  std::vector<OpenLoop> open_;
  int32_t arguments_ = 0;
  int32_t results_ = 0;
  std::vector<std::pair<Path, const char*>> nodes_;
};

}  // namespace

absl::StatusOr<Program> ParseProgram(absl::string_view text) {
  const std::string readable = WithoutComments(text);
  return Parser(readable).Parse();
}

}  // namespace hone::loops
