// The importer (importer.h): functions and regions become computations.
//
// A computation comes before those that call it. So each body is gone through twice: first the
// regions of its operations become computations, then its own instructions are made by the rules
// for operations.
//
// The first error is kept; after it nothing is made any more.

#ifndef XLA_INDEXING_STABLEHLO_MODULE_IMPORTER_H_
#define XLA_INDEXING_STABLEHLO_MODULE_IMPORTER_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Region.h"
#include "mlir/IR/Value.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parts/lexer.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

// A name that HLO text may have: what cannot stand in one becomes '_'.
std::string HloNameOf(absl::string_view text);
// The last word of the outermost name of a location, `sin` of `jit(f)/sin`; empty if it has none.
absl::string_view WordOf(mlir::Location location);
// Whether a text is `{ .. }`.
bool IsInBraces(Lexer& lexer);

using ImportedOperands = std::vector<const HloInstruction*>;
// The shape of a tuple of these.
Shape TupleShapeOf(const ImportedOperands& elements);
using ImportedAttributes = std::initializer_list<std::pair<AttributeKey, AttributeValue>>;

// What the parameters of the computations are that the regions of an operation become.
enum class RegionForm : uint8_t {
  kNone,      // as little as there is: the operation is not known, or has none
  kPlain,     // the region's own; nothing but constants is captured
  kReducer,   // accumulators and elements: reduce, reduce_window, scatter
  kSort,      // pairs of elements
  kMap,       // elements
  kWhile,     // the state with all that is captured, as a tuple
  kBranches,  // what the branch captures, as a tuple
  kFunction,  // scalars; it has no region, and HLO no opcode for it
};

class ModuleImporter;

// Makes the instructions of one operation, which is no terminator (op_rules.cc).
void ImportOp(ModuleImporter& importer, mlir::Operation& op);
RegionForm FormOf(mlir::Operation& op);
// Whether it does nothing but compute its results, and may do so outside of the region that it
// stands in.
bool CanMove(mlir::Operation& op);

// What the regions of an operation became.
struct ImportedRegions {
  std::vector<const HloComputation*> computations;
  // The values that a region captures: each branch of a conditional its own, others all together.
  std::vector<std::vector<mlir::Value>> captures;
  // Whether HLO has a place for what they capture. Else there are no computations.
  bool fit = true;
};

class ModuleImporter {
 public:
  // Imports what was read from `source`, where `state` is the parser's about it; without them
  // nothing has a place.
  explicit ModuleImporter(std::shared_ptr<const SourceText> source = nullptr,
                          const mlir::AsmParserState* state = nullptr)
      : source_(std::move(source)), state_(state) {}

  absl::StatusOr<std::unique_ptr<HloModule>> Import(mlir::Operation& module);

  bool failed() const { return !status_.ok(); }
  template <typename... Parts>
  void Fail(mlir::Operation& op, const Parts&... parts) {
    if (!failed()) FailWith(op, absl::StrCat(parts...));
  }

  // For the rules. What a value is in the computation that is being made; null after an error.
  const HloInstruction* ValueOf(mlir::Operation& user, mlir::Value value);
  Shape ShapeOf(mlir::Operation& op, mlir::Type type);
  std::vector<Shape> ResultShapes(mlir::Operation& op);
  // That of all results: a tuple, unless there is one.
  Shape ResultShape(mlir::Operation& op);
  const ImportedRegions& RegionsOf(mlir::Operation& op) { return regions_[&op]; }
  // Whether JAX made the module, and its unbounded sizes are symbols.
  bool has_symbols_of_jax() const { return has_symbols_of_jax_; }
  const HloComputation* FunctionNamed(mlir::Operation& user, mlir::Attribute symbol);

  // What the text calls the operation's first result, `5` of `%5:2 = ..`; empty where there is none.
  absl::string_view TextOf(mlir::Operation& op) const;
  // Adds an instruction for the operation, its main one or a step to it. The name is made unique.
  HloInstruction* AddNamed(mlir::Operation& op, HloOpcode opcode, const std::string& name,
                           const ImportedOperands& operands, const Shape& shape,
                           ImportedAttributes attributes, bool is_main = false);
  // Gives what was added its metadata and shardings, which stand last.
  void FinishInstructions();
  void BindResult(mlir::OpResult result, const HloInstruction* made) {
    scope_->values[result] = made;
  }

  // Makes what the operation's regions compute of nothing but what they capture (FindMoved).
  void ImportMoved(mlir::Operation& op);

 private:
  struct Scope {
    HloComputation* computation = nullptr;
    llvm::DenseMap<mlir::Value, const HloInstruction*> values;
    absl::flat_hash_map<std::string, int64_t> name_counts;
  };

  void FailWith(mlir::Operation& op, const std::string& message);
  // The offset of an operation's name in the text.
  int64_t OffsetOf(mlir::Operation& op) const;
  absl::string_view TextOf(mlir::Value value) const;
  std::string UniqueName(const std::string& name);
  std::string UniqueComputationName(absl::string_view name);
  void SetMetadata(mlir::Location location, HloInstruction* instruction);
  void AddShardings(mlir::Operation& op, mlir::DictionaryAttr attributes,
                    HloInstruction* instruction);

  void ImportHeader(mlir::Operation& module);
  void ImportAliases(mlir::Operation& entry);
  // Imports the functions, each after those that it calls.
  void ImportFunctions();
  // The computation that a region, or the body of a function, becomes. Captured values are
  // parameters.
  const HloComputation* ImportRegion(mlir::Operation& op, mlir::Region& region,
                                     absl::string_view name, RegionForm form,
                                     absl::Span<const mlir::Value> captures);
  std::string ParameterName(mlir::Value value);
  void AddParameters(mlir::Operation& op, mlir::Region& region, RegionForm form,
                     absl::Span<const mlir::Value> captures);
  void ImportRegionsOf(mlir::Operation& op);
  // Makes the computation of a function of scalars: a custom call.
  const HloComputation* ScalarFunction(mlir::Operation& op);
  std::vector<mlir::Value> CapturesOf(mlir::Region& region);
  void FindMoved(mlir::Region& region);

  const std::shared_ptr<const SourceText> source_;
  const mlir::AsmParserState* const state_;
  std::unique_ptr<HloModule> module_;
  absl::Status status_;
  Scope* scope_ = nullptr;
  // What was added and is not finished, and whether it is the main instruction of its operation.
  struct Unfinished {
    mlir::Operation* op;
    HloInstruction* instruction;
    bool is_main;
  };
  std::vector<Unfinished> unfinished_;
  int depth_ = 0;
  bool has_symbols_of_jax_ = false;
  llvm::DenseMap<mlir::Operation*, ImportedRegions> regions_;
  llvm::DenseSet<mlir::Operation*> moved_;
  llvm::DenseMap<mlir::Type, Shape> shapes_;
  llvm::MapVector<mlir::StringAttr, mlir::Operation*> functions_;
  absl::flat_hash_map<std::string, const HloComputation*> scalar_functions_;
  absl::flat_hash_map<std::string, int64_t> computation_name_counts_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_STABLEHLO_MODULE_IMPORTER_H_
