#include "bench/cost_model/kernel_text.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hone::bench {
namespace {

std::string ShapeText(const std::string& type, const Extents& extents) {
  return absl::StrCat(type, "[", absl::StrJoin(extents, ","), "]");
}

std::string ListText(const Extents& list) {
  return absl::StrCat("{", absl::StrJoin(list, ","), "}");
}

// The value that leaves others as they are.
absl::string_view IdentityText(absl::string_view combine) {
  if (combine == "add") return "0";
  if (combine == "multiply") return "1";
  return combine == "maximum" ? "-inf" : "inf";
}

std::string NamesText(absl::Span<const KernelText::Value> values) {
  return absl::StrJoin(values, ", ", [](std::string* out, const auto& value) {
    absl::StrAppend(out, value.name);
  });
}

}  // namespace

std::string JoinExtents(absl::Span<const int64_t> extents) {
  return absl::StrJoin(extents, "x");
}

KernelText::Value KernelText::Add(Extents extents, const std::string& type,
                                  absl::string_view definition) {
  Value value{absl::StrCat("v", values_++), std::move(extents), type};
  last_line_ = body_.size();
  absl::StrAppend(&body_, "  ", value.name, " = ",
                  ShapeText(type, value.extents), " ", definition, "\n");
  return value;
}

KernelText::Value KernelText::Parameter(Extents extents,
                                        const std::string& type) {
  return Add(std::move(extents), type,
             absl::StrCat("parameter(", parameters_++, ")"));
}

KernelText::Value KernelText::Constant(absl::string_view literal) {
  return Add({}, type_, absl::StrCat("constant(", literal, ")"));
}

KernelText::Value KernelText::Apply(absl::string_view opcode, Extents extents,
                                    absl::Span<const Value> operands,
                                    absl::string_view attributes) {
  return Add(std::move(extents), operands[0].type,
             absl::StrCat(opcode, "(", NamesText(operands), ")",
                          attributes.empty() ? "" : ", ", attributes));
}

KernelText::Value KernelText::Map(absl::string_view opcode,
                                  absl::Span<const Value> operands) {
  return Apply(opcode, operands[0].extents, operands);
}

KernelText::Value KernelText::Broadcast(const Value& value, Extents extents,
                                        const Extents& along) {
  return Apply("broadcast", std::move(extents), {value},
               absl::StrCat("dimensions=", ListText(along)));
}

KernelText::Value KernelText::Convert(const Value& value,
                                      const std::string& type) {
  return Add(value.extents, type, absl::StrCat("convert(", value.name, ")"));
}

std::string KernelText::Combiner(absl::string_view combine,
                                 const std::string& type) {
  std::string name = absl::StrCat(combine, "_", type);
  if (!absl::c_linear_search(combiners_, name)) {
    combiners_.push_back(name);
    absl::StrAppend(
        &regions_, name, " {\n  a = ", type, "[] parameter(0)\n  b = ", type,
        "[] parameter(1)\n  ROOT c = ", type, "[] ", combine, "(a, b)\n}\n\n");
  }
  return name;
}

KernelText::Value KernelText::Reduce(absl::string_view combine,
                                     const Value& value, const Extents& over) {
  Extents extents;
  for (size_t d = 0; d < value.extents.size(); ++d) {
    if (!absl::c_linear_search(over, static_cast<int64_t>(d))) {
      extents.push_back(value.extents[d]);
    }
  }
  const Value identity = Add(
      {}, value.type, absl::StrCat("constant(", IdentityText(combine), ")"));
  return Apply("reduce", std::move(extents), {value, identity},
               absl::StrCat("dimensions=", ListText(over),
                            ", to_apply=", Combiner(combine, value.type)));
}

KernelText::Value KernelText::ReduceWindow(absl::string_view combine,
                                           const Value& value, Extents extents,
                                           absl::string_view window) {
  const Value identity = Add(
      {}, value.type, absl::StrCat("constant(", IdentityText(combine), ")"));
  return Apply("reduce-window", std::move(extents), {value, identity},
               absl::StrCat("window={", window,
                            "}, to_apply=", Combiner(combine, value.type)));
}

KernelText::Value KernelText::BroadcastBack(const Value& reduced,
                                            const Extents& extents,
                                            const Extents& over) {
  Extents along;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (!absl::c_linear_search(over, static_cast<int64_t>(d))) {
      along.push_back(static_cast<int64_t>(d));
    }
  }
  return Broadcast(reduced, extents, along);
}

std::string KernelText::Finish() const {
  std::string body = body_;
  body.insert(last_line_, "  ROOT");
  // "  ROOT  v7 = …"
  body.erase(last_line_ + 6, 1);
  return absl::StrCat("HloModule kernel\n\n", regions_, "ENTRY main {\n", body,
                      "}\n");
}

std::string KernelText::Finish(absl::Span<const Value> results) const {
  const std::string shapes =
      absl::StrJoin(results, ", ", [](std::string* out, const Value& value) {
        absl::StrAppend(out, ShapeText(value.type, value.extents));
      });
  return absl::StrCat("HloModule kernel\n\n", regions_, "ENTRY main {\n", body_,
                      "  ROOT results = (", shapes, ") tuple(",
                      NamesText(results), ")\n}\n");
}

}  // namespace hone::bench
