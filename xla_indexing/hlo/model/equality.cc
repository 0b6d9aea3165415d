#include "xla_indexing/hlo/model/equality.h"

#include <cstdint>
#include <string>
#include <variant>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/types/attribute.h"

namespace xla_indexing {
namespace {

// Compares two values of one kind. Instructions and computations belong to different modules: they
// are the same if they stand in the same places.
struct SameValue {
  const AttributeValue& other;

  template <typename T>
  bool operator()(const T& value) const {
    return value == std::get<T>(other);
  }
  template <typename T>
  bool operator()(const T* value) const {
    return *value == *std::get<const T*>(other);
  }
  bool operator()(const HloComputation* value) const {
    return Same(value, std::get<const HloComputation*>(other));
  }
  bool operator()(absl::Span<const HloComputation* const> values) const {
    return SameAll(values, std::get<absl::Span<const HloComputation* const>>(other));
  }
  bool operator()(absl::Span<const HloInstruction* const> values) const {
    return SameAll(values, std::get<absl::Span<const HloInstruction* const>>(other));
  }

  static bool Same(const HloComputation* a, const HloComputation* b) {
    return a->index_in_module() == b->index_in_module() && a->name() == b->name();
  }
  static bool Same(const HloInstruction* a, const HloInstruction* b) {
    return a->index_in_computation() == b->index_in_computation() && a->name() == b->name();
  }
  template <typename T>
  static bool SameAll(absl::Span<const T* const> a, absl::Span<const T* const> b) {
    return absl::c_equal(a, b, [](const T* x, const T* y) { return Same(x, y); });
  }
};

// The same, whatever is called.
struct SameValueButCalls {
  const AttributeValue& other;

  template <typename T>
  bool operator()(const T& value) const {
    return SameValue{other}(value);
  }
  bool operator()(const HloComputation* /*value*/) const { return true; }
  bool operator()(absl::Span<const HloComputation* const> values) const {
    return values.size() == std::get<absl::Span<const HloComputation* const>>(other).size();
  }
};

class Comparison {
 public:
  explicit Comparison(std::string* difference) : difference_(difference) {}

  bool Modules(const HloModule& a, const HloModule& b) {
    if (!Text("module", "names", a.name(), b.name())) return false;
    if (!Count(absl::StrCat("module ", a.name()), "header attributes", a.attributes().size(),
               b.attributes().size())) {
      return false;
    }
    for (size_t i = 0; i < a.attributes().size(); ++i) {
      const ModuleAttribute& x = a.attributes()[i];
      const ModuleAttribute& y = b.attributes()[i];
      if (!Text("header", "attribute names", x.name, y.name) ||
          !Text("header", absl::StrCat("values of ", x.name), x.text, y.text)) {
        return false;
      }
    }
    if (!Text("module", "stack frame tables", a.stack_frame_tables(), b.stack_frame_tables()) ||
        !Count(absl::StrCat("module ", a.name()), "computations", a.computations().size(),
               b.computations().size())) {
      return false;
    }
    for (size_t i = 0; i < a.computations().size(); ++i) {
      if (!Computations(*a.computations()[i], *b.computations()[i])) return false;
    }
    if (a.entry_computation() == nullptr) return true;
    return Text("module", "entry computations", a.entry_computation()->name(),
                b.entry_computation()->name());
  }

 private:
  bool Computations(const HloComputation& a, const HloComputation& b) {
    const std::string where = absl::StrCat("computation ", a.name());
    if (!Text(where, "names", a.name(), b.name()) ||
        !Text(where, "execution threads", a.execution_thread(), b.execution_thread()) ||
        !Count(where, "instructions", a.instruction_count(), b.instruction_count())) {
      return false;
    }
    for (int64_t i = 0; i < a.instruction_count(); ++i) {
      if (!Instructions(*a.instructions()[i], *b.instructions()[i])) return false;
    }
    if (a.root_instruction() == nullptr) return true;
    return Text(where, "roots", a.root_instruction()->name(), b.root_instruction()->name());
  }

  bool Instructions(const HloInstruction& a, const HloInstruction& b) {
    const std::string where = absl::StrCat("instruction ", a.name());
    if (!Text(where, "names", a.name(), b.name()) ||
        !Text(where, "opcodes", a.opcode_name(), b.opcode_name())) {
      return false;
    }
    if (a.shape() != b.shape()) {
      return Text(where, "shapes", a.shape().ToString(), b.shape().ToString());
    }
    if (!SameValue::SameAll(a.operands(), b.operands())) return Differ(where, "operands differ");
    if (!Count(where, "attributes", a.attributes().size(), b.attributes().size())) return false;
    for (size_t i = 0; i < a.attributes().size(); ++i) {
      const Attribute& x = a.attributes()[i];
      const Attribute& y = b.attributes()[i];
      if (!Text(where, "attributes", x.name, y.name)) return false;
      if (x.key != y.key || x.value.index() != y.value.index() ||
          !std::visit(SameValue{y.value}, x.value)) {
        // A constant's value and a parameter's number have no name.
        return Differ(where, x.name.empty()
                                 ? "what stands in the parentheses differs"
                                 : absl::StrCat("values of attribute ", x.name, " differ"));
      }
    }
    return true;
  }

  bool Text(absl::string_view where, absl::string_view what, absl::string_view a,
            absl::string_view b) {
    if (a == b) return true;
    return Differ(where, absl::StrCat(what, " differ: '", a, "' and '", b, "'"));
  }

  bool Count(absl::string_view where, absl::string_view what, int64_t a, int64_t b) {
    if (a == b) return true;
    return Differ(where, absl::StrCat("numbers of ", what, " differ: ", a, " and ", b));
  }

  bool Differ(absl::string_view where, absl::string_view what) {
    if (difference_ != nullptr) *difference_ = absl::StrCat(where, ": ", what);
    return false;
  }

  std::string* difference_;
};

}  // namespace

bool SameOperation(const HloInstruction& a, const HloInstruction& b) {
  if (a.opcode() != b.opcode() || !EqualIgnoringLayout(a.shape(), b.shape())) return false;
  const auto counts = [](const Attribute& attribute) {
    return attribute.key != AttributeKey::kMetadata && attribute.key != AttributeKey::kSharding &&
           attribute.key != AttributeKey::kFrontendAttributes &&
           attribute.key != AttributeKey::kControlPredecessors;
  };
  const auto has = [](const HloInstruction& instruction, const Attribute& attribute) {
    return absl::c_any_of(instruction.attributes(), [&](const Attribute& own) {
      return own.key == attribute.key && own.name == attribute.name &&
             own.value.index() == attribute.value.index() &&
             std::visit(SameValueButCalls{own.value}, attribute.value);
    });
  };
  return absl::c_count_if(a.attributes(), counts) == absl::c_count_if(b.attributes(), counts) &&
         absl::c_all_of(a.attributes(), [&](const Attribute& attribute) {
           return !counts(attribute) || has(b, attribute);
         });
}

bool ModulesEqual(const HloModule& a, const HloModule& b, std::string* difference) {
  return Comparison(difference).Modules(a, b);
}

}  // namespace xla_indexing
