#include "tests/reference/judge/tile_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/ADT/STLExtras.h"
#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double Maximum(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? kNaN : std::max(a, b);
}
double Minimum(double a, double b) { return -Maximum(-a, -b); }

absl::Status NotEvaluated(const HloInstruction& instruction) {
  return absl::UnimplementedError(
      absl::StrCat(instruction.name(), ": ", instruction.opcode_name(), " is not evaluated"));
}

absl::StatusOr<double> ConstantAt(const HloInstruction& constant, int64_t position) {
  const Literal& literal = *constant.literal();
  const ElementType type = constant.shape().element_type();
  const uint64_t bits = literal.BitsAt(position);
  if (type == ElementType::kF32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  if (type == ElementType::kF64) return std::bit_cast<double>(bits);
  if (const std::optional<int64_t> integer = literal.IntegerAt(position)) {
    return static_cast<double>(*integer);
  }
  return NotEvaluated(constant);
}

double CompareFloats(absl::string_view direction, double a, double b) {
  if (direction == "EQ") return a == b ? 1 : 0;
  if (direction == "NE") return a != b ? 1 : 0;
  if (direction == "LT") return a < b ? 1 : 0;
  if (direction == "LE") return a <= b ? 1 : 0;
  if (direction == "GT") return a > b ? 1 : 0;
  return a >= b ? 1 : 0;
}

std::optional<double> UnaryValue(HloOpcode opcode, double x) {
  switch (opcode) {
    case HloOpcode::kNegate:
      return -x;
    case HloOpcode::kExponential:
      return std::exp(x);
    case HloOpcode::kTanh:
      return std::tanh(x);
    case HloOpcode::kRsqrt:
      return 1 / std::sqrt(x);
    // What moves elements, and conversions.
    case HloOpcode::kBroadcast:
    case HloOpcode::kReshape:
    case HloOpcode::kTranspose:
    case HloOpcode::kCopy:
    case HloOpcode::kBitcast:
    case HloOpcode::kSlice:
    case HloOpcode::kReverse:
    case HloOpcode::kConcatenate:
    case HloOpcode::kPad:
    case HloOpcode::kConvert:
      return x;
    default:
      return std::nullopt;
  }
}

std::optional<double> BinaryValue(HloOpcode opcode, double a, double b) {
  switch (opcode) {
    case HloOpcode::kAdd:
      return a + b;
    case HloOpcode::kSubtract:
      return a - b;
    case HloOpcode::kMultiply:
      return a * b;
    case HloOpcode::kDivide:
      return a / b;
    case HloOpcode::kMaximum:
      return Maximum(a, b);
    case HloOpcode::kMinimum:
      return Minimum(a, b);
    default:
      return std::nullopt;
  }
}

// The value of an element that is no contraction's, of the first values that operands have for it.
// One operand of a pad or a concatenate has a value, the others have none.
absl::StatusOr<double> ElementValue(const HloInstruction& instruction, const Index& index,
                                    const std::vector<std::optional<double>>& operands) {
  const HloOpcode opcode = instruction.opcode();
  if (opcode == HloOpcode::kConstant) {
    return ConstantAt(instruction, PositionOf(instruction.shape().dimensions(), index));
  }
  if (opcode == HloOpcode::kIota) {
    return static_cast<double>(index[instruction.dimensions().front()]);
  }
  for (const std::optional<double>& operand : operands) {
    if (!operand) continue;
    if (const std::optional<double> value = UnaryValue(opcode, *operand)) return *value;
    break;
  }
  if (llvm::is_contained(operands, std::nullopt)) return NotEvaluated(instruction);
  if (operands.size() == 2) {
    if (opcode == HloOpcode::kCompare) {
      return CompareFloats(instruction.comparison_direction(), *operands[0], *operands[1]);
    }
    const std::optional<double> value = BinaryValue(opcode, *operands[0], *operands[1]);
    if (value) return *value;
  }
  if (opcode == HloOpcode::kSelect) return *operands[0] != 0 ? *operands[1] : *operands[2];
  return NotEvaluated(instruction);
}

bool IsReduction(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kReduce ||
         instruction.opcode() == HloOpcode::kReduceWindow;
}

class Untiled {
 public:
  Untiled(const NumberedComputation& numbered, const std::vector<FloatArray>& arguments)
      : numbered_(numbered), arguments_(arguments) {}

  absl::StatusOr<FloatArray> Run(const HloComputation& computation) {
    for (const HloInstruction* instruction : computation.instructions()) {
      if (!instruction->shape().IsArray()) return NotEvaluated(*instruction);
      FloatArray& value = values_[instruction];
      if (instruction->opcode() == HloOpcode::kParameter) {
        value = arguments_[instruction->parameter_number()];
        continue;
      }
      const int64_t count = *instruction->shape().ElementCount();
      for (int64_t position = 0; position < count; ++position) {
        const absl::StatusOr<double> element = ElementAt(*instruction, position);
        if (!element.ok()) return element.status();
        value.push_back(*element);
      }
    }
    return values_[computation.root_instruction()];
  }

 private:
  double ValueOf(const HloInstruction& user, const ElementRead& read) const {
    return values_.at(user.operand(read.operand))[read.position];
  }

  absl::StatusOr<double> ElementAt(const HloInstruction& instruction, int64_t position) const {
    const std::vector<ElementRead>& reads = numbered_.Reads(instruction, 0, position);
    const HloOpcode opcode = instruction.opcode();
    if (IsReduction(instruction) || opcode == HloOpcode::kDot ||
        opcode == HloOpcode::kConvolution) {
      double sum = reads.empty() ? 0 : ValueOf(instruction, reads.front());
      const HloInstruction* root =
          IsReduction(instruction) ? instruction.to_apply()->root_instruction() : nullptr;
      for (const ContractionStep& step : numbered_.Steps(instruction, 0, position)) {
        if (step.reads.empty()) continue;
        double value = 1;
        for (const ElementRead& read : step.reads) value *= ValueOf(instruction, read);
        const std::optional<double> next =
            BinaryValue(root == nullptr ? HloOpcode::kAdd : root->opcode(), sum, value);
        if (!next) return NotEvaluated(instruction);
        sum = *next;
      }
      return sum;
    }
    std::vector<std::optional<double>> operands(instruction.operand_count());
    for (const ElementRead& read : reads) operands[read.operand] = ValueOf(instruction, read);
    return ElementValue(instruction, IndexAt(instruction.shape().dimensions(), position), operands);
  }

  const NumberedComputation& numbered_;
  const std::vector<FloatArray>& arguments_;
  absl::flat_hash_map<const HloInstruction*, FloatArray> values_;
};

// A graph of tiles, run.
class Tiled {
 public:
  Tiled(const TileGraph& graph, const std::vector<FloatArray>& arguments)
      : graph_(graph),
        arguments_(arguments),
        indices_(graph.space().num_dims(), 0),
        values_(graph.nodes().size()),
        is_running_(graph.regions().size(), false) {}

  absl::StatusOr<TiledValue> Run() {
    const TileNode& root = graph_.nodes()[graph_.stores().front().node];
    result_.root.assign(*root.array->shape.ElementCount(), kNaN);
    for (size_t i = 0; i < graph_.regions().size(); ++i) {
      if (graph_.regions()[i].parent >= 0) continue;
      if (absl::Status status = RunRegion(static_cast<int>(i)); !status.ok()) return status;
    }
    return std::move(result_);
  }

 private:
  using TileValues = std::map<std::vector<int64_t>, double>;

  absl::Status RunRegion(int number) {
    const TileRegion& region = graph_.regions()[number];
    absl::Status status = absl::OkStatus();
    is_running_[number] = true;
    ForEachIndex(region.trip_counts, [&](const Index& index) {
      if (!status.ok()) return;
      for (size_t i = 0; i < index.size(); ++i) indices_[region.dims[i]] = index[i];
      for (const TileRescale& rescale : region.rescales) before_[rescale.by] = values_[rescale.by];
      status = RunSteps(region);
    });
    for (const int dim : region.dims) indices_[dim] = 0;
    is_running_[number] = false;
    return status;
  }

  absl::Status RunSteps(const TileRegion& region) {
    bool has_accumulations = false;
    bool has_inner_loops = false;
    for (const TileRegion::Step& step : region.steps) {
      absl::Status status = absl::OkStatus();
      if (step.is_region) {
        has_inner_loops =
            has_inner_loops || graph_.regions()[step.index].accumulators == region.accumulators;
        status = RunLoop(step.index);
      } else if (step.is_accumulation) {
        has_accumulations = true;
        status = Accumulate(region, step.index);
      } else {
        status = RunNode(step.index);
      }
      if (!status.ok()) return status;
    }
    if (has_accumulations || has_inner_loops) return absl::OkStatus();
    for (const int node : region.accumulators) {
      if (absl::Status status = Accumulate(region, node); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status RunLoop(int number) {
    const TileRegion& loop = graph_.regions()[number];
    for (const int node : loop.accumulators) {
      if (graph_.nodes()[node].loop != number) continue;
      if (absl::Status status = Begin(node); !status.ok()) return status;
    }
    if (absl::Status status = RunRegion(number); !status.ok()) return status;
    // What is left to do when all are complete: sums of rows that had nothing but -inf, then divisors.
    for (const auto kind : {TileRescale::Kind::kMaximum, TileRescale::Kind::kDivisor}) {
      for (const TileRescale& rescale : loop.rescales) {
        if (rescale.kind != kind) continue;
        for (auto& [element, value] : values_[rescale.accumulator]) {
          const absl::StatusOr<double> by = ValueBy(rescale, values_[rescale.by], element);
          if (!by.ok()) return by.status();
          if (kind == TileRescale::Kind::kDivisor) {
            value /= *by;
          } else if (*by == -kInfinity) {
            value = kNaN;
          }
        }
      }
    }
    return absl::OkStatus();
  }

  // The elements of a node's tile at the present indices; nullopt if nothing of it is read.
  absl::StatusOr<std::vector<std::vector<int64_t>>> ElementsOf(const TileNode& node) const {
    std::vector<std::vector<int64_t>> elements;
    const MaskedTile& tile = graph_.tile(node);
    if (!tile.runtimes.empty() || node.array->is_of_tuple) return NotEvaluated(*node.instruction);
    bool is_read = false;
    for (const int number : node.domains) {
      // Some values of range variables, at the present indices.
      IndexingMap domain = graph_.domains()[number];
      for (int i = 0; i < domain.num_dims(); ++i) {
        Interval& bounds = domain.mutable_dim(i).bounds;
        bounds = bounds.Intersect(Interval::Point(indices_[i]));
      }
      absl::Status status =
          domain.ForEachPoint(1 << 16, [&](llvm::ArrayRef<int64_t>, llvm::ArrayRef<int64_t>,
                                           llvm::ArrayRef<int64_t>) { is_read = true; });
      if (!status.ok()) return status;
    }
    if (!is_read) return elements;
    const auto offsets = tile.offsets.Evaluate(indices_, {});
    if (!offsets.ok()) return offsets.status();
    ForEachIndex(tile.sizes, [&](const Index& step) {
      std::vector<int64_t> element;
      for (size_t i = 0; i < step.size(); ++i) {
        element.push_back((*offsets)[i] + step[i] * tile.strides[i]);
        if (!tile.bounds[i].Contains(element.back())) return;
      }
      elements.push_back(std::move(element));
    });
    return elements;
  }

  int64_t PositionOfElement(const TileNode& node, const std::vector<int64_t>& element) const {
    return PositionOf(node.array->shape.dimensions(), Index(element.begin(), element.end()));
  }
  void AddBytes(const TileNode& node, size_t elements) {
    result_.bytes +=
        static_cast<int64_t>(elements) * BitWidth(node.array->shape.element_type()) / 8;
  }

  // What an element of a node reads of an operand at a step; nullopt if its maps name nothing.
  absl::StatusOr<std::optional<double>> Read(int number, int64_t operand,
                                             const std::vector<int64_t>& point) const {
    const TileNode& node = graph_.nodes()[number];
    for (const IndexingEntry& entry : *node.reads) {
      if (entry.operand != operand) continue;
      for (const OperandIndexing& indexing : entry.indexing) {
        const IndexingMap& map = indexing.map();
        if (map.num_symbols() > 0) return NotEvaluated(*node.instruction);
        const absl::StatusOr<bool> contains = map.Contains(point, {});
        if (!contains.ok()) return contains.status();
        if (!*contains) continue;
        const auto read = map.Evaluate(point, {});
        if (!read.ok()) return read.status();
        return Find(number, operand, {read->begin(), read->end()});
      }
    }
    return std::nullopt;
  }

  absl::StatusOr<std::optional<double>> Find(int number, int64_t operand,
                                             const std::vector<int64_t>& element) const {
    for (const TileNode::Operand& candidate : graph_.nodes()[number].operands) {
      if (candidate.operand != operand) continue;
      const auto found = values_[candidate.node].find(element);
      if (found == values_[candidate.node].end()) continue;
      return IsOpenMaximum(candidate.node) && found->second == -kInfinity ? 0 : found->second;
    }
    return absl::InternalError(absl::StrCat(graph_.nodes()[number].array->name, ": element (",
                                            absl::StrJoin(element, ", "), ") of operand ", operand,
                                            " is not there"));
  }

  // Whether this is a maximum that sums are multiplied by in a loop that runs.
  bool IsOpenMaximum(int node) const {
    const int loop = graph_.nodes()[node].loop;
    return loop >= 0 && is_running_[loop] &&
           llvm::any_of(graph_.regions()[loop].rescales, [&](const TileRescale& rescale) {
             return rescale.by == node && rescale.kind == TileRescale::Kind::kMaximum;
           });
  }

  static absl::StatusOr<double> ValueBy(const TileRescale& rescale, const TileValues& values,
                                        const std::vector<int64_t>& element) {
    const auto of = rescale.elements.Evaluate(element, {});
    if (!of.ok()) return of.status();
    const auto found = values.find({of->begin(), of->end()});
    if (found == values.end()) return absl::InternalError("a rescaling value is not there");
    return found->second;
  }

  // The accumulator of an element before all steps.
  absl::StatusOr<double> FirstOf(int number, const std::vector<int64_t>& element) const {
    const TileNode& node = graph_.nodes()[number];
    if (!IsReduction(*node.instruction)) return 0;
    std::vector<int64_t> point = element;
    point.resize(element.size() + node.combined_dims.size(), 0);
    const absl::StatusOr<std::optional<double>> first = Read(number, 1, point);
    if (!first.ok()) return first.status();
    return first->value_or(kNaN);
  }

  absl::Status Begin(int number) {
    const auto elements = ElementsOf(graph_.nodes()[number]);
    if (!elements.ok()) return elements.status();
    values_[number].clear();
    for (const std::vector<int64_t>& element : *elements) {
      const absl::StatusOr<double> first = FirstOf(number, element);
      if (!first.ok()) return first.status();
      values_[number][element] = *first;
    }
    return absl::OkStatus();
  }

  absl::Status Accumulate(const TileRegion& region, int number) {
    for (const TileRescale& rescale : region.rescales) {
      if (rescale.accumulator != number || rescale.kind != TileRescale::Kind::kMaximum) continue;
      for (auto& [element, value] : values_[number]) {
        const absl::StatusOr<double> before = ValueBy(rescale, before_[rescale.by], element);
        const absl::StatusOr<double> now = ValueBy(rescale, values_[rescale.by], element);
        if (!before.ok() || !now.ok()) return before.ok() ? now.status() : before.status();
        value *= std::exp(*before - (*now == -kInfinity ? 0 : *now));
      }
    }
    for (auto& [element, value] : values_[number]) {
      if (absl::Status status = AddSteps(number, element, &value); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // Combines the steps of the present tiles.
  absl::Status AddSteps(int number, const std::vector<int64_t>& element, double* value) const {
    const TileNode& node = graph_.nodes()[number];
    if (!node.combiner) return NotEvaluated(*node.instruction);
    std::vector<int64_t> sizes;
    std::vector<int64_t> begins;
    for (const int dim : node.combined_dims) {
      begins.push_back(dim < 0 ? 0 : indices_[dim] * graph_.sizes()[dim]);
      const int64_t left = dim < 0 ? 1 : graph_.space().dims()[dim].size - begins.back();
      sizes.push_back(dim < 0 ? 1 : std::min(graph_.sizes()[dim], left));
    }
    const int64_t num_factors = IsReduction(*node.instruction) ? 1 : 2;
    absl::Status status = absl::OkStatus();
    ForEachIndex(sizes, [&](const Index& step) {
      std::vector<int64_t> point = element;
      for (size_t i = 0; i < step.size(); ++i) point.push_back(begins[i] + step[i]);
      double product = 1;
      for (int64_t operand = 0; operand < num_factors && status.ok(); ++operand) {
        const absl::StatusOr<std::optional<double>> read = Read(number, operand, point);
        if (!read.ok()) status = read.status();
        // A window's step that is in the padding.
        if (!read.ok() || !*read) return;
        product *= **read;
      }
      const std::optional<double> next = BinaryValue(node.combiner->opcode, *value, product);
      if (!next) status = NotEvaluated(*node.instruction);
      if (next && status.ok()) *value = *next;
    });
    return status;
  }

  absl::StatusOr<double> ElementAt(int number, const std::vector<int64_t>& element) const {
    const TileNode& node = graph_.nodes()[number];
    const HloInstruction& instruction = *node.instruction;
    if (instruction.opcode() == HloOpcode::kParameter) {
      return arguments_[instruction.parameter_number()][PositionOfElement(node, element)];
    }
    if (node.IsContraction()) {
      absl::StatusOr<double> value = FirstOf(number, element);
      if (!value.ok()) return value.status();
      if (absl::Status status = AddSteps(number, element, &*value); !status.ok()) return status;
      return value;
    }
    if (node.passes_on) {
      const absl::StatusOr<std::optional<double>> read =
          Read(number, node.operands.front().operand, element);
      if (!read.ok()) return read.status();
      return read->value_or(kNaN);
    }
    std::vector<std::optional<double>> operands;
    for (int64_t i = 0; i < instruction.operand_count(); ++i) {
      const absl::StatusOr<std::optional<double>> read = Read(number, i, element);
      if (!read.ok()) return read.status();
      operands.push_back(*read);
    }
    return ElementValue(instruction, Index(element.begin(), element.end()), operands);
  }

  absl::Status RunNode(int number) {
    const TileNode& node = graph_.nodes()[number];
    if (node.loop < 0) {
      const auto elements = ElementsOf(node);
      if (!elements.ok()) return elements.status();
      values_[number].clear();
      for (const std::vector<int64_t>& element : *elements) {
        const absl::StatusOr<double> value = ElementAt(number, element);
        if (!value.ok()) return value.status();
        values_[number][element] = *value;
      }
    }
    if (node.instruction->opcode() == HloOpcode::kParameter) AddBytes(node, values_[number].size());
    for (const TileStore& store : graph_.stores()) {
      if (store.node != number) continue;
      AddBytes(node, values_[number].size());
      for (const auto& [element, value] : values_[number]) {
        result_.root[PositionOfElement(node, element)] = value;
      }
    }
    return absl::OkStatus();
  }

  const TileGraph& graph_;
  const std::vector<FloatArray>& arguments_;
  std::vector<int64_t> indices_;
  std::vector<TileValues> values_;    // by node
  std::map<int, TileValues> before_;  // of maxima, before the present step
  std::vector<bool> is_running_;      // by region
  TiledValue result_;
};

}  // namespace

absl::StatusOr<FloatArray> UntiledValue(const HloComputation& computation,
                                        const NumberedComputation& numbered,
                                        const std::vector<FloatArray>& arguments) {
  return Untiled(numbered, arguments).Run(computation);
}

absl::StatusOr<TiledValue> ValueOfTiles(const TileGraph& graph,
                                        const std::vector<FloatArray>& arguments) {
  return Tiled(graph, arguments).Run();
}

}  // namespace xla_indexing::reference
