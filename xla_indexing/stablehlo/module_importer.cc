#include "xla_indexing/stablehlo/module_importer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/SaveAndRestore.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "xla_indexing/base/diagnostic.h"
#include "xla_indexing/hlo/devices/device_lists.h"
#include "xla_indexing/hlo/model/equality.h"
#include "xla_indexing/hlo/text/parts/lexer.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/stablehlo/importer.h"
#include "xla_indexing/stablehlo/types_and_attributes.h"

namespace xla_indexing {
namespace internal {
namespace {

constexpr int kMaxLocations = 64;

absl::string_view View(llvm::StringRef text) { return {text.data(), text.size()}; }
std::string NameOf(mlir::Operation& op) { return op.getName().getStringRef().str(); }
bool Is(mlir::Operation& op, llvm::StringRef name) { return op.getName().getStringRef() == name; }

bool IsConstant(mlir::Operation* op) {
  return op != nullptr && op->getNumOperands() == 0 && op->getName().stripDialect() == "constant";
}

bool HasBody(mlir::Operation& op) { return op.getNumRegions() == 1 && !op.getRegion(0).empty(); }

std::string Quoted(absl::string_view text) { return absl::StrCat("\"", absl::CEscape(text), "\""); }

// Where an operation comes from: the outermost name, and the first place.
struct OpOrigin {
  llvm::StringRef name;
  llvm::StringRef file;
  unsigned line = 0;
};

OpOrigin OriginOf(mlir::Location location) {
  OpOrigin origin;
  mlir::LocationAttr at = location;
  for (int i = 0; i < kMaxLocations && at; ++i) {
    if (auto named = mlir::dyn_cast<mlir::NameLoc>(at)) {
      if (origin.name.empty()) origin.name = named.getName();
      at = named.getChildLoc();
    } else if (auto call = mlir::dyn_cast<mlir::CallSiteLoc>(at)) {
      at = call.getCallee();
    } else if (auto fused = mlir::dyn_cast<mlir::FusedLoc>(at)) {
      if (fused.getLocations().empty()) break;
      at = fused.getLocations().front();
    } else {
      // The first line of a range.
      auto place = mlir::dyn_cast<mlir::FileLineColLoc>(at);
      if (place) origin = {origin.name, place.getFilename(), place.getLine()};
      break;
    }
  }
  return origin;
}

std::string FunctionName(mlir::Operation& function) {
  auto name = function.getAttrOfType<mlir::StringAttr>("sym_name");
  return name ? name.str() : "";
}

// What has places for captured scalars.
bool TakesScalars(RegionForm form) {
  return form == RegionForm::kReducer || form == RegionForm::kSort || form == RegionForm::kMap;
}

// The names of the functions that an operation calls.
llvm::SmallVector<mlir::StringAttr> CalleesOf(mlir::Operation& op) {
  llvm::SmallVector<mlir::StringAttr> callees;
  const llvm::StringRef kind = op.getName().stripDialect();
  if (kind != "call" && kind != "composite" && kind != "custom_call") return callees;
  for (const char* name : {"callee", "decomposition", "called_computations"}) {
    const mlir::Attribute value = op.getAttr(name);
    auto list = mlir::dyn_cast_or_null<mlir::ArrayAttr>(value);
    for (const mlir::Attribute one : list ? list.getValue() : llvm::ArrayRef(value)) {
      auto symbol = mlir::dyn_cast_or_null<mlir::FlatSymbolRefAttr>(one);
      if (symbol) callees.push_back(symbol.getAttr());
    }
  }
  return callees;
}

// The attributes of the arguments of a function.
llvm::ArrayRef<mlir::Attribute> ArgumentAttributes(mlir::Operation& function) {
  auto all = function.getAttrOfType<mlir::ArrayAttr>("arg_attrs");
  return all ? all.getValue() : llvm::ArrayRef<mlir::Attribute>();
}

}  // namespace

std::string HloNameOf(absl::string_view text) {
  std::string name(text);
  for (char& c : name) {
    if (!Lexer::IsNameCharacter(c)) c = '_';
  }
  if (name.empty() || !Lexer::IsNameStart(name[0])) name.insert(0, "_");
  return name;
}

absl::string_view WordOf(mlir::Location location) {
  const absl::string_view name = View(OriginOf(location).name);
  return name.substr(std::min(name.size(), name.find_last_of('/') + 1));
}

Shape TupleShapeOf(const ImportedOperands& elements) {
  std::vector<Shape> shapes;
  for (const HloInstruction* element : elements) shapes.push_back(element->shape());
  return Shape::Tuple(std::move(shapes));
}

bool IsInBraces(Lexer& lexer) {
  absl::string_view unused;
  return lexer.ReadBraces(&unused) && lexer.AtEnd();
}

void ModuleImporter::FailWith(mlir::Operation& op, const std::string& message) {
  const std::string text = absl::StrCat("'", NameOf(op), "': ", message);
  if (source_ != nullptr) {
    const auto offset = static_cast<size_t>(std::max<int64_t>(OffsetOf(op), 0));
    status_ = absl::InvalidArgumentError(
        FormatDiagnostic(source_->filename, source_->text, offset, text));
    return;
  }
  std::string place;
  llvm::raw_string_ostream stream(place);
  op.getLoc().print(stream);
  status_ = absl::InvalidArgumentError(absl::StrCat(place, ": error: ", text));
}

int64_t ModuleImporter::OffsetOf(mlir::Operation& op) const {
  const auto* definition = state_ == nullptr ? nullptr : state_->getOpDef(&op);
  return definition == nullptr ? HloInstruction::kNoSourceOffset
                               : definition->loc.Start.getPointer() - source_->text.data();
}

absl::string_view ModuleImporter::TextOf(mlir::Value value) const {
  llvm::SMRange place;
  if (state_ == nullptr || !value) return {};
  if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(value)) {
    const auto* block = state_->getBlockDef(argument.getOwner());
    if (block != nullptr && argument.getArgNumber() < block->arguments.size()) {
      place = block->arguments[argument.getArgNumber()].loc;
    }
  } else if (const auto* op = state_->getOpDef(value.getDefiningOp());
             op != nullptr && !op->resultGroups.empty()) {
    place = op->resultGroups.front().definition.loc;
  }
  if (!place.isValid()) return {};
  const char* const begin = place.Start.getPointer();
  return absl::StripPrefix({begin, static_cast<size_t>(place.End.getPointer() - begin)}, "%");
}

absl::string_view ModuleImporter::TextOf(mlir::Operation& op) const {
  return op.getNumResults() == 0 ? absl::string_view() : TextOf(op.getResult(0));
}

const HloInstruction* ModuleImporter::ValueOf(mlir::Operation& user, mlir::Value value) {
  if (failed()) return nullptr;
  const auto found = scope_->values.find(value);
  if (found != scope_->values.end()) return found->second;
  mlir::Operation* definition = value.getDefiningOp();
  // A constant of a region around this one, or one of the region that this one is moved out of.
  if (IsConstant(definition) &&
      (definition->getBlock() != user.getBlock() || moved_.contains(&user))) {
    ImportOp(*this, *definition);
    return failed() ? nullptr : scope_->values.lookup(value);
  }
  Fail(user, "an operand is not defined before this operation, or in a place that it cannot use");
  return nullptr;
}

Shape ModuleImporter::ShapeOf(mlir::Operation& op, mlir::Type type) {
  const auto [found, is_new] = shapes_.try_emplace(type);
  if (is_new) {
    absl::StatusOr<Shape> shape = ShapeOfType(type);
    if (!shape.ok()) Fail(op, shape.status().message());
    if (shape.ok()) found->second = *std::move(shape);
  }
  return found->second;
}

std::vector<Shape> ModuleImporter::ResultShapes(mlir::Operation& op) {
  std::vector<Shape> shapes;
  for (const mlir::Type type : op.getResultTypes()) shapes.push_back(ShapeOf(op, type));
  return shapes;
}

Shape ModuleImporter::ResultShape(mlir::Operation& op) {
  if (op.getNumResults() == 1) return ShapeOf(op, op.getResult(0).getType());
  return Shape::Tuple(ResultShapes(op));
}

const HloComputation* ModuleImporter::FunctionNamed(mlir::Operation& user, mlir::Attribute symbol) {
  auto name = mlir::dyn_cast_or_null<mlir::FlatSymbolRefAttr>(symbol);
  mlir::Operation* const function = name ? functions_.lookup(name.getAttr()) : nullptr;
  const auto made = regions_.find(function);
  if (made != regions_.end()) return made->second.computations[0];
  Fail(user, "there is no function @", name ? name.getValue().str() : "", " with a body");
  return nullptr;
}

std::string ModuleImporter::UniqueName(const std::string& name) {
  std::string unique = name;
  while (scope_->computation->FindInstruction(unique) != nullptr) {
    unique = absl::StrCat(name, ".", ++scope_->name_counts[name]);
  }
  return unique;
}

std::string ModuleImporter::UniqueComputationName(absl::string_view name) {
  const std::string base = HloNameOf(name);
  std::string unique = base;
  while (module_->FindComputation(unique) != nullptr) {
    unique = absl::StrCat(base, ".", ++computation_name_counts_[base]);
  }
  return unique;
}

void ModuleImporter::SetMetadata(mlir::Location location, HloInstruction* instruction) {
  const OpOrigin origin = OriginOf(location);
  std::vector<std::string> words;
  if (!origin.name.empty()) words.push_back("op_name=" + Quoted(View(origin.name)));
  // The place of an operation without a location is that of its text.
  if (!origin.file.empty() && (source_ == nullptr || View(origin.file) != source_->filename)) {
    words.push_back(
        absl::StrCat("source_file=", Quoted(View(origin.file)), " source_line=", origin.line));
  }
  if (words.empty()) return;
  instruction->SetTextAttribute("metadata", absl::StrCat("{", absl::StrJoin(words, " "), "}"));
}

// HLO's shardings as they are; Shardy's as XLA hands them on.
void ModuleImporter::AddShardings(mlir::Operation& op, mlir::DictionaryAttr attributes,
                                  HloInstruction* instruction) {
  std::vector<std::string> frontend;
  if (auto given = attributes.getAs<mlir::DictionaryAttr>("mhlo.frontend_attributes")) {
    for (const mlir::NamedAttribute& entry : given) {
      frontend.push_back(absl::StrCat(HloNameOf(View(entry.getName())), "=",
                                      Quoted(AttributeText(entry.getValue()))));
    }
  }
  if (const mlir::Attribute sharding = attributes.get("mhlo.sharding")) {
    const std::string text = AttributeText(sharding);
    Lexer lexer(text);
    if (!IsInBraces(lexer) || !CheckSharding(lexer, text)) {
      return Fail(op, "mhlo.sharding '", text, "' is none of HLO",
                  lexer.error_message().empty() ? "" : ": ", lexer.error_message());
    }
    instruction->SetTextAttribute("sharding", text);
  }
  if (const mlir::Attribute sharding = attributes.get("sdy.sharding")) {
    frontend.push_back(absl::StrCat("xla.sdy.sharding=", Quoted(ShardyText("sharding", sharding))));
  }
  if (frontend.empty()) return;
  instruction->SetTextAttribute("frontend_attributes",
                                absl::StrCat("{", absl::StrJoin(frontend, ","), "}"));
}

HloInstruction* ModuleImporter::AddNamed(mlir::Operation& op, HloOpcode opcode,
                                         const std::string& name, const ImportedOperands& operands,
                                         const Shape& shape, ImportedAttributes attributes,
                                         bool is_main) {
  HloInstruction* made =
      scope_->computation->AddInstruction(opcode, UniqueName(name), shape, operands);
  made->SetSourceOffset(OffsetOf(op));
  for (const auto& [key, value] : attributes) made->SetAttribute(key, value);
  unfinished_.push_back({&op, made, is_main});
  return made;
}

void ModuleImporter::FinishInstructions() {
  for (const Unfinished& one : unfinished_) {
    SetMetadata(one.op->getLoc(), one.instruction);
    if (one.is_main) AddShardings(*one.op, one.op->getDiscardableAttrDictionary(), one.instruction);
  }
  unfinished_.clear();
}

const HloComputation* ModuleImporter::ScalarFunction(mlir::Operation& op) {
  std::vector<Shape> shapes;
  std::string key = NameOf(op);
  llvm::SmallVector<mlir::Type> types(op.getOperandTypes());
  llvm::append_range(types, op.getResultTypes());
  for (const mlir::Type type : types) {
    const Shape shape = ShapeOf(op, type);
    if (!shape.IsArray()) Fail(op, "an array is expected, not ", shape.ToString());
    if (failed()) return nullptr;
    shapes.push_back(Shape::Scalar(shape.element_type()));
    absl::StrAppend(&key, " ", shapes.back().ToString());
  }
  const HloComputation*& known = scalar_functions_[key];
  if (known != nullptr) return known;
  HloComputation* made = module_->AddComputation(UniqueComputationName(NameOf(op)));
  ImportedOperands parameters;
  for (unsigned i = 0; i < op.getNumOperands(); ++i) {
    parameters.push_back(made->AddParameter(i, absl::StrCat("x", i), shapes[i]));
  }
  made->AddInstruction(HloOpcode::kCustomCall, "function", shapes.back(), parameters)
      ->SetAttribute(AttributeKey::kCustomCallTarget, absl::string_view(NameOf(op)));
  return known = made;
}

// What the region uses of the values around it, constants apart, in the order of their first use.
std::vector<mlir::Value> ModuleImporter::CapturesOf(mlir::Region& region) {
  llvm::SetVector<mlir::Value> captures;
  region.walk([&](mlir::Operation* inner) {
    if (moved_.contains(inner)) return;
    for (mlir::Value operand : inner->getOperands()) {
      mlir::Operation* const definition = operand.getDefiningOp();
      const bool is_outside = !region.isAncestor(operand.getParentRegion());
      if ((is_outside && !IsConstant(definition)) || moved_.contains(definition)) {
        captures.insert(operand);
      }
    }
  });
  return {captures.begin(), captures.end()};
}

// Finds what a region computes of nothing but constants and values around it. Where HLO takes
// scalars only, that is made outside, so that an array of which the region picks elements at known
// places need not come in.
void ModuleImporter::FindMoved(mlir::Region& region) {
  if (!region.hasOneBlock()) return;
  for (mlir::Operation& inner : region.front()) {
    bool has_captured = false, has_own = false;
    for (mlir::Value operand : inner.getOperands()) {
      mlir::Operation* const definition = operand.getDefiningOp();
      if (IsConstant(definition)) continue;
      const bool is_captured =
          moved_.contains(definition) || !region.isAncestor(operand.getParentRegion());
      (is_captured ? has_captured : has_own) = true;
    }
    if (has_captured && !has_own && CanMove(inner)) moved_.insert(&inner);
  }
}

void ModuleImporter::ImportMoved(mlir::Operation& op) {
  for (mlir::Region& region : op.getRegions()) {
    for (mlir::Operation& inner : region.getOps()) {
      if (failed()) return;
      if (!moved_.contains(&inner) || scope_->values.contains(inner.getResult(0))) continue;
      ImportOp(*this, inner);
    }
  }
}

std::string ModuleImporter::ParameterName(mlir::Value value) {
  const absl::string_view text = TextOf(value);
  if (!text.empty()) {
    return absl::ascii_isdigit(text[0]) ? absl::StrCat("v", text) : HloNameOf(text);
  }
  auto argument = mlir::dyn_cast_or_null<mlir::BlockArgument>(value);
  return argument ? absl::StrCat("arg", argument.getArgNumber()) : "captured";
}

// A captured scalar is as good as accumulator as it is as element: one of the two is bound to it.
void ModuleImporter::AddParameters(mlir::Operation& op, mlir::Region& region, RegionForm form,
                                   absl::Span<const mlir::Value> captures) {
  std::vector<std::pair<mlir::Type, mlir::Value>> parameters;
  const unsigned own = region.getNumArguments();
  for (const mlir::BlockArgument argument : region.getArguments()) {
    if (form == RegionForm::kReducer && argument.getArgNumber() == own / 2) {
      for (const mlir::Value value : captures) parameters.emplace_back(value.getType(), value);
    }
    parameters.emplace_back(argument.getType(), argument);
  }
  for (const mlir::Value value : captures) {
    const bool is_bound = form != RegionForm::kReducer || own == 0;
    parameters.emplace_back(value.getType(), is_bound ? value : mlir::Value());
    if (form == RegionForm::kSort) parameters.emplace_back(value.getType(), nullptr);
  }
  HloInstruction* state = nullptr;
  if (form == RegionForm::kWhile || form == RegionForm::kBranches) {
    std::vector<Shape> shapes;
    shapes.reserve(parameters.size());
    for (const auto& [type, value] : parameters) shapes.push_back(ShapeOf(op, type));
    state = scope_->computation->AddParameter(0, "state", Shape::Tuple(std::move(shapes)));
    state->SetSourceOffset(OffsetOf(op));
  }
  const llvm::ArrayRef<mlir::Attribute> attributes = ArgumentAttributes(op);
  for (size_t i = 0; i < parameters.size(); ++i) {
    const auto& [type, value] = parameters[i];
    const auto number = static_cast<int64_t>(i);
    const Shape shape = ShapeOf(op, type);
    HloInstruction* made = nullptr;
    if (state != nullptr) {
      made = AddNamed(op, HloOpcode::kGetTupleElement, ParameterName(value), {state}, shape,
                      {{AttributeKey::kIndex, number}});
    } else {
      made = scope_->computation->AddParameter(number, UniqueName(ParameterName(value)), shape);
      made->SetSourceOffset(OffsetOf(op));
      if (Is(op, "func.func")) SetMetadata(value.getLoc(), made);
    }
    if (value) scope_->values[value] = made;
    auto given = i < attributes.size() ? mlir::dyn_cast<mlir::DictionaryAttr>(attributes[i])
                                       : mlir::DictionaryAttr();
    if (given) AddShardings(op, given, made);
  }
}

const HloComputation* ModuleImporter::ImportRegion(mlir::Operation& op, mlir::Region& region,
                                                   absl::string_view name, RegionForm form,
                                                   absl::Span<const mlir::Value> captures) {
  if (failed()) return nullptr;
  if (!region.hasOneBlock() || region.front().empty()) {
    Fail(op, "a region of one block is expected");
    return nullptr;
  }
  if (++depth_ > kMaxParseDepth) Fail(op, "regions are nested more than ", kMaxParseDepth, " deep");
  for (mlir::Operation& inner : region.front()) {
    if (!failed()) ImportRegionsOf(inner);
  }
  --depth_;
  if (failed()) return nullptr;
  Scope scope;
  scope.computation = module_->AddComputation(UniqueComputationName(name));
  const llvm::SaveAndRestore within(scope_, &scope);
  AddParameters(op, region, form, captures);
  FinishInstructions();
  mlir::Operation& end = region.front().back();
  for (mlir::Operation& inner : region.front()) {
    if (&inner != &end && !moved_.contains(&inner) && !failed()) ImportOp(*this, inner);
  }
  if (end.getName().stripDialect() != "return") Fail(op, "a body ends with a return");
  // What is captured stays in the state of a loop, and among the results of what works on several
  // arrays.
  ImportedOperands results;
  for (const mlir::Value value : end.getOperands()) results.push_back(ValueOf(end, value));
  const bool is_state = form == RegionForm::kWhile && region.getRegionNumber() == 1;
  if (is_state || form == RegionForm::kReducer) {
    for (const mlir::Value value : captures) results.push_back(ValueOf(end, value));
  }
  if (failed()) return nullptr;
  if (results.size() != 1 || is_state) {
    results = {AddNamed(end, HloOpcode::kTuple, "tuple", results, TupleShapeOf(results), {})};
  }
  scope.computation->SetRoot(results[0]);
  FinishInstructions();
  return scope.computation;
}

// The computations that the regions of an operation become, before the computation that it stands
// in.
void ModuleImporter::ImportRegionsOf(mlir::Operation& op) {
  const RegionForm form = FormOf(op);
  if (form == RegionForm::kFunction) regions_[&op].computations.push_back(ScalarFunction(op));
  if (op.getNumRegions() == 0) return;
  ImportedRegions made;
  llvm::SetVector<mlir::Value> together;
  const auto is_scalar = [&](mlir::Value value) { return ShapeOf(op, value.getType()).IsScalar(); };
  for (mlir::Region& region : op.getRegions()) {
    made.captures.push_back(CapturesOf(region));
    if (TakesScalars(form) && !absl::c_all_of(made.captures.back(), is_scalar)) {
      FindMoved(region);
      made.captures.back() = CapturesOf(region);
    }
    together.insert(made.captures.back().begin(), made.captures.back().end());
  }
  if (form != RegionForm::kBranches) {
    for (auto& captures : made.captures) captures = {together.begin(), together.end()};
  }
  made.fit = form == RegionForm::kPlain
                 ? together.empty()
                 : !TakesScalars(form) || absl::c_all_of(together, is_scalar);
  for (mlir::Region& region : op.getRegions()) {
    if (form == RegionForm::kNone || !made.fit || failed()) break;
    const unsigned number = region.getRegionNumber();
    const absl::string_view kind = form != RegionForm::kWhile ? "_region"
                                   : number == 0              ? "_cond"
                                                              : "_body";
    made.computations.push_back(ImportRegion(op, region,
                                             absl::StrCat(op.getName().stripDialect().str(), kind),
                                             form, made.captures[number]));
  }
  regions_[&op] = std::move(made);
}

// Depth first. A function that is entered and not made calls the one that is being entered.
void ModuleImporter::ImportFunctions() {
  enum class State : uint8_t { kNew, kEntered, kMade };
  llvm::DenseMap<mlir::Operation*, State> states;
  std::vector<mlir::Operation*> stack;
  for (const auto& [name, function] : llvm::reverse(functions_)) stack.push_back(function);
  while (!stack.empty() && !failed()) {
    mlir::Operation& function = *stack.back();
    State& state = states[&function];
    if (state != State::kNew) {
      stack.pop_back();
      if (std::exchange(state, State::kMade) == State::kMade) continue;
      const HloComputation* made = ImportRegion(function, function.getRegion(0),
                                                FunctionName(function), RegionForm::kPlain, {});
      regions_[&function].computations.push_back(made);
      continue;
    }
    state = State::kEntered;
    std::vector<mlir::Operation*> callees;
    function.walk([&](mlir::Operation* op) {
      for (const mlir::StringAttr name : CalleesOf(*op)) {
        if (mlir::Operation* callee = functions_.lookup(name)) callees.push_back(callee);
      }
    });
    for (mlir::Operation* callee : llvm::reverse(callees)) {
      if (states.lookup(callee) == State::kEntered) {
        Fail(*callee, "function @", FunctionName(*callee), " calls itself");
      }
      stack.push_back(callee);
    }
  }
}

void ModuleImporter::ImportHeader(mlir::Operation& module) {
  auto name = module.getAttrOfType<mlir::StringAttr>("sym_name");
  module_ = std::make_unique<HloModule>(name ? HloNameOf(View(name.getValue())) : "module");
  module_->SetSource(source_);
  const std::pair<llvm::StringRef, absl::string_view> counts[] = {
      {"mhlo.num_replicas", "replica_count"}, {"mhlo.num_partitions", "num_partitions"}};
  for (const auto& [from, to] : counts) {
    auto count = module.getAttrOfType<mlir::IntegerAttr>(from);
    if (count && count.getValue().sgt(1)) {
      module_->SetAttribute(to, absl::StrCat(count.getValue().getSExtValue()));
    }
  }
  // A parameter that is a symbol, or the flag of the module that was exported.
  const auto flag = module.getAttrOfType<mlir::BoolAttr>("jax.uses_shape_polymorphism");
  has_symbols_of_jax_ = flag && flag.getValue();
  std::vector<std::string> meshes;
  for (mlir::Operation& op : module.getRegion(0).front()) {
    for (const mlir::Attribute of : ArgumentAttributes(op)) {
      auto own = mlir::dyn_cast<mlir::DictionaryAttr>(of);
      has_symbols_of_jax_ |= own && own.contains("jax.global_constant");
    }
    if (!Is(op, "sdy.mesh")) continue;
    meshes.push_back(
        absl::StrCat(HloNameOf(FunctionName(op)), " = ", ShardyText("mesh", op.getAttr("mesh"))));
  }
  if (meshes.empty()) return;
  const std::string text = absl::StrCat("{xla.sdy.meshes={", absl::StrJoin(meshes, ", "), "}}");
  Lexer lexer(text);
  if (IsInBraces(lexer)) module_->SetAttribute("frontend_attributes", text);
}

// The arguments whose buffers the results may take: `tf.aliasing_output` names the result.
void ModuleImporter::ImportAliases(mlir::Operation& entry) {
  const unsigned results = entry.getRegion(0).front().back().getNumOperands();
  std::vector<std::string> aliases, donors;
  for (const auto& [i, of] : llvm::enumerate(ArgumentAttributes(entry))) {
    auto attributes = mlir::dyn_cast<mlir::DictionaryAttr>(of);
    if (!attributes) continue;
    if (auto output = attributes.getAs<mlir::IntegerAttr>("tf.aliasing_output")) {
      if (output.getValue().uge(results)) {
        return Fail(entry, "tf.aliasing_output of argument ", i, ": there are ", results,
                    " results");
      }
      const std::string index = results == 1 ? "" : absl::StrCat(output.getValue().getZExtValue());
      aliases.push_back(absl::StrCat("{", index, "}: (", i, ", {}, may-alias)"));
    }
    auto donor = attributes.getAs<mlir::BoolAttr>("jax.buffer_donor");
    if (donor && donor.getValue()) donors.push_back(absl::StrCat("(", i, ", {})"));
  }
  const std::pair<absl::string_view, const std::vector<std::string>&> headers[] = {
      {"input_output_alias", aliases}, {"buffer_donor", donors}};
  for (const auto& [key, entries] : headers) {
    if (entries.empty()) continue;
    module_->SetAttribute(key, absl::StrCat("{ ", absl::StrJoin(entries, ", "), " }"));
  }
}

absl::StatusOr<std::unique_ptr<HloModule>> ModuleImporter::Import(mlir::Operation& module) {
  if (!Is(module, "builtin.module") || !HasBody(module)) {
    Fail(module, "a module with functions is expected");
    return status_;
  }
  ImportHeader(module);
  mlir::Operation* entry = nullptr;
  for (mlir::Operation& function : module.getRegion(0).front()) {
    if (!Is(function, "func.func") || !HasBody(function)) continue;
    const std::string name = FunctionName(function);
    const auto key = function.getAttrOfType<mlir::StringAttr>("sym_name");
    if (!functions_.insert({key, &function}).second) Fail(function, "@", name, " is defined twice");
    auto visibility = function.getAttrOfType<mlir::StringAttr>("sym_visibility");
    const bool is_public = !visibility || visibility.getValue() != "private";
    if (name == "main" || (is_public && (entry == nullptr || FunctionName(*entry) != "main"))) {
      entry = &function;
    }
  }
  ImportFunctions();
  if (!failed() && module_->computations().empty()) Fail(module, "it has no function with a body");
  if (!failed() && entry != nullptr) ImportAliases(*entry);
  if (failed()) return status_;
  if (entry != nullptr) module_->SetEntry(RegionsOf(*entry).computations[0]);
  return std::move(module_);
}

}  // namespace internal

absl::StatusOr<std::unique_ptr<HloModule>> ImportStableHlo(mlir::Operation* module) {
  return internal::ModuleImporter().Import(*module);
}

}  // namespace xla_indexing
