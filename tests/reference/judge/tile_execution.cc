#include "tests/reference/judge/tile_execution.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/ADT/STLExtras.h"
#include "tests/testing/random.h"
#include "xla_indexing/gpu/machine/element_work.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/query/utilization/utilization.h"

namespace xla_indexing::reference {
namespace {

uint64_t Mix(uint64_t a, uint64_t b) { return MixBits(a ^ MixBits(b + 0x51ed270b)); }

// A position, from an index as a definition gives it; none outside the array.
std::optional<int64_t> PositionInside(const Shape& shape, const Index& index) {
  if (!IsInside(shape.dimensions(), index)) return std::nullopt;
  return PositionOf(shape.dimensions(), index);
}

std::vector<ContractionStep> DotSteps(const HloInstruction& dot, const Index& out) {
  const DotDimensionNumbers numbers = dot.dot_dimension_numbers();
  const Shape* shapes[] = {&dot.operand(0)->shape(), &dot.operand(1)->shape()};
  const absl::Span<const int64_t> batch[] = {numbers.lhs_batch_dims, numbers.rhs_batch_dims};
  const absl::Span<const int64_t> contracting[] = {numbers.lhs_contracting_dims,
                                                   numbers.rhs_contracting_dims};
  Index operand[2];
  size_t next = batch[0].size();
  for (int side = 0; side < 2; ++side) {
    operand[side].resize(shapes[side]->rank());
    for (size_t i = 0; i < batch[side].size(); ++i) operand[side][batch[side][i]] = out[i];
    for (int64_t dim = 0; dim < shapes[side]->rank(); ++dim) {
      if (llvm::is_contained(batch[side], dim) || llvm::is_contained(contracting[side], dim)) {
        continue;
      }
      operand[side][dim] = out[next++];
    }
  }
  std::vector<int64_t> sizes;
  for (const int64_t dim : contracting[0]) sizes.push_back(shapes[0]->dimension(dim));
  std::vector<ContractionStep> steps;
  ForEachIndex(sizes, [&](const Index& loops) {
    ContractionStep& step = steps.emplace_back();
    step.loops.assign(loops.begin(), loops.end());
    for (int side = 0; side < 2; ++side) {
      for (size_t i = 0; i < loops.size(); ++i) operand[side][contracting[side][i]] = loops[i];
      step.reads.push_back({side, 0, PositionOf(shapes[side]->dimensions(), operand[side])});
    }
  });
  return steps;
}

std::vector<ContractionStep> ReduceSteps(const HloInstruction& reduce, const Index& out) {
  std::vector<int64_t> dims(reduce.dimensions().begin(), reduce.dimensions().end());
  llvm::sort(dims);
  const Shape& shape = reduce.operand(0)->shape();
  std::vector<int64_t> sizes;
  for (const int64_t dim : dims) sizes.push_back(shape.dimension(dim));
  std::vector<ContractionStep> steps;
  ForEachIndex(sizes, [&](const Index& loops) {
    Index index;
    size_t next = 0;
    size_t loop = 0;
    for (int64_t dim = 0; dim < shape.rank(); ++dim) {
      index.push_back(llvm::is_contained(dims, dim) ? loops[loop++] : out[next++]);
    }
    ContractionStep& step = steps.emplace_back();
    step.loops.assign(loops.begin(), loops.end());
    for (int64_t i = 0; i < reduce.operand_count() / 2; ++i) {
      step.reads.push_back({i, 0, PositionOf(shape.dimensions(), index)});
    }
  });
  return steps;
}

// The index that an element of a window at a place meets; none for padding and holes.
std::optional<int64_t> OnWindow(const WindowDimension& window, int64_t place, int64_t in_window,
                                int64_t size) {
  const int64_t padded =
      place * window.stride + in_window * window.window_dilation - window.padding_low;
  if (padded < 0 || padded % window.base_dilation != 0) return std::nullopt;
  const int64_t index = padded / window.base_dilation;
  return index < size ? std::optional(index) : std::nullopt;
}

absl::Span<const WindowDimension> WindowDims(const HloInstruction& instruction) {
  const Window* window = instruction.window();
  return window == nullptr ? absl::Span<const WindowDimension>()
                           : absl::MakeConstSpan(window->dimensions);
}

std::vector<ContractionStep> ReduceWindowSteps(const HloInstruction& reduce, const Index& out) {
  const Shape& shape = reduce.operand(0)->shape();
  const absl::Span<const WindowDimension> windows = WindowDims(reduce);
  std::vector<int64_t> sizes;
  for (const WindowDimension& window : windows) sizes.push_back(window.size);
  std::vector<ContractionStep> steps;
  ForEachIndex(sizes, [&](const Index& in_window) {
    ContractionStep& step = steps.emplace_back();
    step.loops.assign(in_window.begin(), in_window.end());
    Index index;
    for (size_t k = 0; k < windows.size(); ++k) {
      const std::optional<int64_t> i =
          OnWindow(windows[k], out[k], in_window[k], shape.dimension(static_cast<int64_t>(k)));
      if (!i) return;
      index.push_back(*i);
    }
    for (int64_t i = 0; i < reduce.operand_count() / 2; ++i) {
      step.reads.push_back({i, 0, PositionOf(shape.dimensions(), index)});
    }
  });
  return steps;
}

std::vector<ContractionStep> ConvolutionSteps(const HloInstruction& convolution, const Index& out) {
  const ConvolutionDimensionNumbers& dims = *convolution.convolution_dimension_numbers();
  const Shape& input = convolution.operand(0)->shape();
  const Shape& kernel = convolution.operand(1)->shape();
  const int64_t feature_groups = convolution.feature_group_count();
  const int64_t batch_groups = convolution.batch_group_count();
  const int64_t out_features = kernel.dimension(dims.kernel_output_feature);
  const int64_t feature = out[dims.output_feature];
  const int64_t group = feature / (out_features / (feature_groups * batch_groups));
  const int64_t features_of_group = input.dimension(dims.input_feature) / feature_groups;
  const int64_t batch_of_group = input.dimension(dims.input_batch) / batch_groups;
  const absl::Span<const WindowDimension> windows = WindowDims(convolution);
  std::vector<int64_t> sizes = {kernel.dimension(dims.kernel_input_feature)};
  for (const int64_t dim : dims.kernel_spatial) sizes.push_back(kernel.dimension(dim));
  std::vector<ContractionStep> steps;
  ForEachIndex(sizes, [&](const Index& loops) {
    ContractionStep& step = steps.emplace_back();
    step.loops.assign(loops.begin(), loops.end());
    Index from(input.rank());
    Index with(kernel.rank());
    from[dims.input_batch] =
        out[dims.output_batch] + (batch_groups > 1 ? group * batch_of_group : 0);
    from[dims.input_feature] = loops[0] + (feature_groups > 1 ? group * features_of_group : 0);
    with[dims.kernel_input_feature] = loops[0];
    with[dims.kernel_output_feature] = feature;
    for (size_t k = 0; k < windows.size(); ++k) {
      const std::optional<int64_t> i =
          OnWindow(windows[k], out[dims.output_spatial[k]], loops[k + 1],
                   input.dimension(dims.input_spatial[k]));
      if (!i) return;
      from[dims.input_spatial[k]] = *i;
      with[dims.kernel_spatial[k]] =
          windows[k].window_reversal ? windows[k].size - 1 - loops[k + 1] : loops[k + 1];
    }
    step.reads = {{0, 0, PositionOf(input.dimensions(), from)},
                  {1, 0, PositionOf(kernel.dimensions(), with)}};
  });
  return steps;
}

bool HasSteps(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kDot:
    case HloOpcode::kConvolution:
    case HloOpcode::kReduce:
    case HloOpcode::kReduceWindow:
      return true;
    default:
      return false;
  }
}

// Whether an operand is read step by step.
bool IsOfSteps(const HloInstruction& instruction, int64_t operand) {
  switch (instruction.opcode()) {
    case HloOpcode::kDot:
    case HloOpcode::kConvolution:
      return true;
    case HloOpcode::kReduce:
    case HloOpcode::kReduceWindow:
      return operand < instruction.operand_count() / 2;
    default:
      return false;
  }
}

}  // namespace

uint64_t NumberedComputation::OfRead(const ElementRead& read, uint64_t number) {
  return Mix(Mix(static_cast<uint64_t>(read.operand) << 8 | static_cast<uint64_t>(read.leaf),
                 static_cast<uint64_t>(read.position)),
             number);
}

uint64_t NumberedComputation::Combine(const HloInstruction& instruction, int64_t leaf,
                                      uint64_t steps, uint64_t reads) {
  return Mix(Mix(static_cast<uint64_t>(instruction.index_in_computation()) << 8 |
                     static_cast<uint64_t>(leaf),
                 steps),
             reads);
}

const std::vector<ElementRead>& NumberedComputation::Reads(const HloInstruction& instruction,
                                                           int64_t leaf, int64_t position) const {
  return reads_.at(&instruction)[leaf][position];
}

std::vector<ContractionStep> NumberedComputation::Steps(const HloInstruction& instruction,
                                                        int64_t leaf, int64_t position) const {
  if (!HasSteps(instruction)) return {};
  const Index out = IndexAt(instruction.shape().Leaf(leaf).dimensions(), position);
  switch (instruction.opcode()) {
    case HloOpcode::kDot:
      return DotSteps(instruction, out);
    case HloOpcode::kConvolution:
      return ConvolutionSteps(instruction, out);
    case HloOpcode::kReduce:
      return ReduceSteps(instruction, out);
    default:
      return ReduceWindowSteps(instruction, out);
  }
}

uint64_t NumberedComputation::Number(const HloInstruction& instruction, int64_t leaf,
                                     int64_t position) const {
  return numbers_.at(&instruction)[leaf][position];
}

absl::StatusOr<std::unique_ptr<NumberedComputation>> NumberedComputation::Create(
    const HloComputation& computation, uint64_t seed) {
  std::unique_ptr<NumberedComputation> numbered(new NumberedComputation());
  const std::vector<Value> arguments = RandomArguments(computation, seed);
  absl::StatusOr<Execution> execution = Execute(computation, Pointers(arguments), seed);
  if (!execution.ok()) return execution.status();
  numbered->execution_ = *std::move(execution);
  absl::StatusOr<Dependence> of_parameters =
      DependenceOfComputation(computation, Pointers(arguments), seed);
  if (!of_parameters.ok()) return of_parameters.status();
  numbered->of_parameters_ = *std::move(of_parameters);
  for (const HloInstruction* instruction : computation.instructions()) {
    ReadsOfLeaves& reads = numbered->reads_[instruction];
    std::vector<std::vector<uint64_t>>& numbers = numbered->numbers_[instruction];
    for (int64_t leaf = 0; leaf < instruction->shape().LeafCount(); ++leaf) {
      const Shape& shape = instruction->shape().Leaf(leaf);
      const int64_t count = shape.IsArray() ? *shape.ElementCount() : 0;
      reads.emplace_back(count);
      numbers.emplace_back(count);
    }
    const bool is_parameter = instruction->opcode() == HloOpcode::kParameter;
    if (!is_parameter) {
      const absl::StatusOr<Dependence> dependence =
          DependenceOfInstruction(*instruction, numbered->execution_);
      if (!dependence.ok()) return dependence.status();
      for (const auto& [pair, relation] : *dependence) {
        if (IsOfSteps(*instruction, pair.operand)) continue;
        for (const auto& [out, in] : relation) {
          reads[pair.output_leaf][out].push_back({pair.operand, pair.operand_leaf, in});
        }
      }
    }
    const auto number_of = [&](const ElementRead& read) {
      return OfRead(
          read, numbered->Number(*instruction->operand(read.operand), read.leaf, read.position));
    };
    for (size_t leaf = 0; leaf < numbers.size(); ++leaf) {
      for (size_t i = 0; i < numbers[leaf].size(); ++i) {
        const auto of_leaf = static_cast<int64_t>(leaf);
        uint64_t of_steps = 0;
        for (const ContractionStep& step :
             numbered->Steps(*instruction, of_leaf, static_cast<int64_t>(i))) {
          uint64_t product = 1;
          for (const ElementRead& read : step.reads) product = Mix(product, number_of(read));
          of_steps += product;
        }
        uint64_t of_reads = is_parameter ? i : 0;
        for (const ElementRead& read : reads[leaf][i]) of_reads += number_of(read);
        // An operation that passes leaves on keeps their numbers.
        if (instruction->opcode() == HloOpcode::kTuple ||
            instruction->opcode() == HloOpcode::kGetTupleElement) {
          const ElementRead& read = reads[leaf][i].front();
          numbers[leaf][i] =
              numbered->Number(*instruction->operand(read.operand), read.leaf, read.position);
          continue;
        }
        numbers[leaf][i] = Combine(*instruction, of_leaf, of_steps, of_reads);
      }
    }
  }
  return numbered;
}

namespace {

class TileRun {
 public:
  TileRun(const NumberedComputation& computation, const HloInstruction& root,
          const TiledComputation& tiled, const TileGraph& graph)
      : computation_(computation),
        root_(root),
        graph_(graph),
        indices_(graph.space().num_dims(), 0),
        states_(graph.nodes().size()),
        executions_(graph.nodes().size(), 0),
        elements_(graph.nodes().size(), 0),
        requests_(graph.nodes().size()) {
    for (const TiledComputation::Read& read : tiled.reads()) {
      if (tiled.tiles()[read.tile].indexing.IsExact()) continue;
      read_more_or_less_.insert({read.instruction, read.leaf});
    }
  }

  absl::Status Run();

 private:
  // The elements of a node's tile at the present indices, by position; none that could not be
  // computed.
  struct State {
    std::map<int64_t, std::optional<uint64_t>> numbers;
    // The sums of a contraction's steps, how many there were, and what else was read.
    std::map<int64_t, uint64_t> sums;
    std::map<int64_t, int64_t> counts;
    std::map<int64_t, std::set<ElementRead>> seen;
    // The elements that were read since.
    std::set<int64_t> used;
  };

  absl::Status RunRegion(int region);
  absl::Status RunSteps(int region);
  absl::Status Begin(int node);
  absl::Status Accumulate(int node);
  // The steps of an element in the present tiles, from what the graph says of them.
  absl::StatusOr<std::vector<ContractionStep>> StepsHere(const TileNode& node,
                                                         int64_t position) const;
  absl::Status Finish(int node);
  absl::Status Store(int node);
  absl::Status EndProgram();
  // Whether this is the innermost of a contraction's loops.
  bool IsInnermost(int region) const;
  absl::StatusOr<std::vector<int64_t>> RuntimesOf(const TileNode& node) const;
  // Whether something of a node is read at the present indices, whatever those of inner loops.
  absl::StatusOr<bool> IsRead(int node, const std::vector<int64_t>& runtimes);
  absl::StatusOr<std::vector<int64_t>> ElementsOf(const TileNode& node,
                                                  const std::vector<int64_t>& runtimes) const;
  // Adds the requests of the warps of a program for a node's tile.
  absl::Status AddRequests(int node, const std::vector<int64_t>& runtimes);
  std::optional<uint64_t> NumberOf(const TileNode& node, const ElementRead& read);
  // Whether a node is read where there is some index of a loop within its region, or some other number.
  bool IsReadForSome(const TileNode& node) const;
  // Whether everything in an exact load was read.
  absl::Status CheckUse(int node) const;
  absl::Status CheckCounts() const;
  std::string Where(const TileNode& node) const {
    return absl::StrCat(node.instruction->name(), " at (", absl::StrJoin(indices_, ", "), ")");
  }

  const NumberedComputation& computation_;
  const HloInstruction& root_;
  const TileGraph& graph_;
  std::vector<int64_t> indices_;
  std::vector<State> states_;
  // The elements that are stored, by leaf of the root, and those that this program stores.
  std::map<int64_t, std::set<int64_t>> stored_;
  std::map<int64_t, std::set<int64_t>> stored_here_;
  // What this program has loaded, by node: its elements in all loads.
  std::map<int, std::set<int64_t>> loaded_here_;
  // Leaves of which some read is through a map that is not exact.
  std::set<std::pair<const HloInstruction*, int64_t>> read_more_or_less_;
  // How often each node was executed, and with how many elements in all.
  std::vector<int64_t> executions_;
  std::vector<int64_t> elements_;
  // The sectors and lines of the requests for each node's tiles.
  struct Requests {
    int64_t sectors = 0;
    int64_t lines = 0;
  };
  std::vector<Requests> requests_;
  // By node and runtime variables: the indices of the regions around at which it is read.
  std::map<std::pair<int, std::vector<int64_t>>, std::set<std::vector<int64_t>>> where_read_;
};

absl::StatusOr<std::vector<int64_t>> TileRun::RuntimesOf(const TileNode& node) const {
  const MaskedTile& tile = graph_.tile(node);
  std::vector<int64_t> runtimes;
  for (const TileRuntime& runtime : tile.runtimes) {
    const auto element = runtime.element.Evaluate(indices_, runtimes);
    if (!element.ok()) return element.status();
    const Array& array = computation_.execution().ValueOf(runtime.instruction)[runtime.leaf];
    const Index index(element->begin(), element->end());
    int64_t value = 0;
    if (IsInside(array.sizes(), index)) {
      const Integer number = array.at(index).value.value_or(0);
      value = static_cast<int64_t>(std::clamp<Integer>(number, INT64_MIN, INT64_MAX));
    }
    runtimes.push_back(runtime.value.Apply(value));
  }
  return runtimes;
}

absl::StatusOr<bool> TileRun::IsRead(int number, const std::vector<int64_t>& runtimes) {
  const TileNode& node = graph_.nodes()[number];
  std::vector<int> around;
  for (int region = node.region; region >= 0; region = graph_.regions()[region].parent) {
    const std::vector<int>& dims = graph_.regions()[region].dims;
    around.insert(around.end(), dims.begin(), dims.end());
  }
  const auto of_regions = [&](llvm::ArrayRef<int64_t> indices) {
    std::vector<int64_t> own;
    for (const int dim : around) own.push_back(indices[dim]);
    return own;
  };
  const auto [entry, is_new] = where_read_.try_emplace({number, runtimes});
  std::set<std::vector<int64_t>>& where = entry->second;
  for (size_t i = 0; i < node.domains.size() && is_new; ++i) {
    IndexingMap domain = graph_.domains()[node.domains[i]];
    for (size_t rt = 0; rt < runtimes.size(); ++rt) {
      Interval& values = domain.mutable_runtime(static_cast<int>(rt)).bounds;
      values = values.Intersect(Interval::Point(runtimes[rt]));
    }
    absl::Status status = domain.ForEachPoint(
        1 << 22, [&](llvm::ArrayRef<int64_t> indices, llvm::ArrayRef<int64_t>,
                     llvm::ArrayRef<int64_t>) { where.insert(of_regions(indices)); });
    if (!status.ok()) return status;
  }
  return where.contains(of_regions(indices_));
}

absl::StatusOr<std::vector<int64_t>> TileRun::ElementsOf(
    const TileNode& node, const std::vector<int64_t>& runtimes) const {
  const MaskedTile& tile = graph_.tile(node);
  const auto offsets = tile.offsets.Evaluate(indices_, runtimes);
  if (!offsets.ok()) return offsets.status();
  const auto moved = tile.runtime_offsets.Evaluate(indices_, runtimes);
  if (!moved.ok()) return moved.status();
  const Shape& shape = node.instruction->shape().Leaf(node.leaf);
  std::vector<int64_t> elements;
  ForEachIndex(tile.sizes, [&](const Index& step) {
    Index index;
    for (size_t i = 0; i < step.size(); ++i) {
      index.push_back((*offsets)[i] + step[i] * tile.strides[i]);
      if (!tile.bounds[i].Contains(index.back())) return;
      if (!tile.moved_bounds[i].Contains(index.back() - (*moved)[i])) return;
    }
    const std::optional<int64_t> position = PositionInside(shape, index);
    elements.push_back(position.value_or(-1));
  });
  if (llvm::is_contained(elements, -1)) {
    return absl::InternalError(absl::StrCat(Where(node), ": the bounds are outside of the array"));
  }
  return elements;
}

std::optional<uint64_t> TileRun::NumberOf(const TileNode& node, const ElementRead& read) {
  std::optional<uint64_t> number;
  for (const TileNode::Operand& operand : node.operands) {
    // Tuples pass leaves on: the operand of the graph may be further up.
    if (operand.operand != read.operand || operand.leaf != read.leaf) continue;
    State& state = states_[operand.node];
    const auto found = state.numbers.find(read.position);
    if (found == state.numbers.end() || !found->second) continue;
    // Several tiles may have it.
    state.used.insert(read.position);
    number = found->second;
  }
  return number;
}

absl::Status TileRun::Begin(int node) {
  if (absl::Status status = CheckUse(node); !status.ok()) return status;
  State& state = states_[node];
  state = State();
  const absl::StatusOr<std::vector<int64_t>> runtimes = RuntimesOf(graph_.nodes()[node]);
  if (!runtimes.ok()) return runtimes.status();
  const absl::StatusOr<bool> is_read = IsRead(node, *runtimes);
  if (!is_read.ok()) return is_read.status();
  if (!*is_read) return absl::OkStatus();
  const absl::StatusOr<std::vector<int64_t>> elements = ElementsOf(graph_.nodes()[node], *runtimes);
  if (!elements.ok()) return elements.status();
  for (const int64_t element : *elements) state.numbers[element] = std::nullopt;
  ++executions_[node];
  elements_[node] += static_cast<int64_t>(elements->size());
  const bool is_load = graph_.nodes()[node].instruction->opcode() == HloOpcode::kParameter;
  if (is_load) loaded_here_[node].insert(elements->begin(), elements->end());
  return AddRequests(node, *runtimes);
}

// Small, so that tiles of the reference's arrays have several requests, sectors and lines.
const TileCostOptions& SmallRequests() {
  static const TileCostOptions* const kOptions = [] {
    auto* options = new TileCostOptions();
    options->num_threads = 64;
    options->sector_bytes = 16;
    options->line_bytes = 64;
    return options;
  }();
  return *kOptions;
}

absl::Status TileRun::AddRequests(int number, const std::vector<int64_t>& runtimes) {
  const TileNode& node = graph_.nodes()[number];
  const MaskedTile& tile = graph_.tile(node);
  const TileCostOptions& options = SmallRequests();
  const Shape& shape = node.instruction->shape().Leaf(node.leaf);
  const auto offsets = tile.offsets.Evaluate(indices_, runtimes);
  if (!offsets.ok()) return offsets.status();
  const auto moved = tile.runtime_offsets.Evaluate(indices_, runtimes);
  if (!moved.ok()) return moved.status();
  int64_t total = 1;
  for (const int64_t size : tile.sizes) total *= size;
  std::vector<int64_t> order;  // of the dimensions of several elements, the fastest first
  for (const int64_t dim : shape.LayoutOrRowMajor().minor_to_major) {
    if (tile.sizes[dim] > 1) order.push_back(dim);
  }
  const int64_t bits = std::max<int64_t>(StorageBitWidth(shape.element_type()), 1);
  int64_t width = 1;
  if (!order.empty() && tile.strides[order[0]] == 1) {
    for (int64_t next = 2; next * bits <= 8 * options.vector_bytes; next *= 2) {
      const bool divides =
          tile.sizes[order[0]] % next == 0 && shape.dimension(order[0]) % next == 0;
      if (!divides || total < next * options.num_threads) break;
      width = next;
    }
  }
  std::map<int64_t, std::pair<std::set<int64_t>, std::set<int64_t>>> by_request;
  ForEachIndex(tile.sizes, [&](const Index& step) {
    int64_t place = 0;
    int64_t places = 1;
    for (const int64_t dim : order) {
      place += step[dim] * places;
      places *= tile.sizes[dim];
    }
    int64_t element = 0;
    int64_t elements = 1;
    for (const int64_t dim : shape.LayoutOrRowMajor().minor_to_major) {
      const int64_t index = (*offsets)[dim] + step[dim] * tile.strides[dim];
      if (!tile.bounds[dim].Contains(index)) return;
      if (!tile.moved_bounds[dim].Contains(index - (*moved)[dim])) return;
      element += index * elements;
      elements *= shape.dimension(dim);
    }
    // The warps of a program ask one after the other, round by round.
    auto& [sectors, lines] = by_request[place / width / options.warp_size];
    for (int64_t bit = element * bits; bit < (element + 1) * bits; ++bit) {
      sectors.insert(bit / 8 / options.sector_bytes);
      lines.insert(bit / 8 / options.line_bytes);
    }
  });
  for (const auto& [request, touched] : by_request) {
    requests_[number].sectors += static_cast<int64_t>(touched.first.size());
    requests_[number].lines += static_cast<int64_t>(touched.second.size());
  }
  return absl::OkStatus();
}

absl::Status TileRun::CheckUse(int number) const {
  const TileNode& node = graph_.nodes()[number];
  const State& state = states_[number];
  if (!node.is_exact || node.instruction->opcode() != HloOpcode::kParameter ||
      state.used.size() == state.numbers.size()) {
    return absl::OkStatus();
  }
  return absl::InternalError(absl::StrCat(Where(node), ": of ", state.numbers.size(),
                                          " elements of an exact load before, ", state.used.size(),
                                          " were read"));
}

bool TileRun::IsReadForSome(const TileNode& node) const {
  std::set<int> around;
  for (int region = node.region; region >= 0; region = graph_.regions()[region].parent) {
    around.insert(graph_.regions()[region].dims.begin(), graph_.regions()[region].dims.end());
  }
  const IndexingMap& domain = graph_.domains()[node.domains[0]];
  return domain.num_ranges() > 0 ||
         llvm::any_of(domain.constraints(), [&](const Constraint& constraint) {
           for (int dim = 0; dim < domain.num_dims(); ++dim) {
             if (constraint.expr.isFunctionOfDim(dim) && !around.contains(dim)) return true;
           }
           return false;
         });
}

absl::Status TileRun::CheckCounts() const {
  bool has_runtimes = false;
  int64_t bytes = 0;
  int64_t loads = 0;
  int64_t stores = 0;
  const auto add_bytes = [&](int node) {
    const Shape& shape = graph_.nodes()[node].instruction->shape().Leaf(graph_.nodes()[node].leaf);
    bytes += BytesOf(Interval::Point(elements_[node]), shape).upper();
  };
  for (size_t i = 0; i < graph_.nodes().size(); ++i) {
    const TileNode& node = graph_.nodes()[i];
    const bool has_own_runtimes = !graph_.tile(node).runtimes.empty();
    has_runtimes = has_runtimes || has_own_runtimes;
    for (const auto& [said, counted] : {std::pair(graph_.NumExecutions(node), executions_[i]),
                                        std::pair(graph_.NumElements(node), elements_[i])}) {
      if (said.Contains(counted) && (said.IsPoint() || has_own_runtimes)) continue;
      return absl::InternalError(absl::StrCat(node.instruction->name(), ": ", executions_[i],
                                              " tiles of ", elements_[i], " elements in all, not ",
                                              graph_.NumExecutions(node).ToString(), " and ",
                                              graph_.NumElements(node).ToString()));
    }
    if (node.instruction->opcode() != HloOpcode::kParameter) continue;
    loads += executions_[i];
    add_bytes(static_cast<int>(i));
  }
  for (const TileStore& store : graph_.stores()) {
    stores += executions_[store.node];
    add_bytes(store.node);
  }
  const TileCost cost = graph_.Cost(SmallRequests());
  for (const TileAccess& access : cost.accesses) {
    const TileNode& node = graph_.nodes()[access.node];
    const Requests& counted = requests_[access.node];
    const bool may_be_bounds =
        !graph_.tile(node).runtimes.empty() || node.domains.size() > 1 || IsReadForSome(node);
    const bool is_right = access.sectors.Contains(counted.sectors) &&
                          access.lines.Contains(counted.lines) &&
                          (may_be_bounds || access.sectors.IsPoint());
    if (is_right) continue;
    return absl::InternalError(absl::StrCat(
        node.instruction->name(), ": ", counted.sectors, " sectors and ", counted.lines,
        " lines, not ", access.sectors.ToString(), " and ", access.lines.ToString()));
  }
  int64_t computed = 0;
  for (size_t i = 0; i < graph_.nodes().size(); ++i) {
    const TileNode& node = graph_.nodes()[i];
    if (!WorkPerElement(*node.instruction, node.leaf).IsNone()) computed += elements_[i];
  }
  if (has_runtimes ? computed > cost.elements : computed != cost.elements) {
    return absl::InternalError(
        absl::StrCat(computed, " elements are computed, not ", cost.elements));
  }
  const bool are_equal =
      loads == cost.num_loads && stores == cost.num_stores && bytes == cost.moved_bytes;
  const bool are_within =
      loads <= cost.num_loads && stores <= cost.num_stores && bytes <= cost.moved_bytes;
  if (cost.is_exact ? are_equal : are_within && has_runtimes) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(
      loads, " loads, ", stores, " stores, ", bytes, " bytes; said are ", cost.num_loads, ", ",
      cost.num_stores, " and ", cost.moved_bytes, cost.is_exact ? ", exactly" : " at most"));
}

absl::StatusOr<std::vector<ContractionStep>> TileRun::StepsHere(const TileNode& node,
                                                                int64_t position) const {
  std::vector<ContractionStep> steps;
  if (!HasSteps(*node.instruction)) return steps;
  std::vector<int64_t> begins;
  std::vector<int64_t> sizes;
  for (const int dim : node.combined_dims) {
    begins.push_back(dim < 0 ? 0 : indices_[dim] * graph_.sizes()[dim]);
    sizes.push_back(
        dim < 0 ? 1
                : std::min(graph_.sizes()[dim], graph_.space().dims()[dim].size - begins.back()));
  }
  const Index element = IndexAt(node.array->shape.dimensions(), position);
  absl::Status status = absl::OkStatus();
  ForEachIndex(sizes, [&](const Index& step) {
    std::vector<int64_t> point(element.begin(), element.end());
    for (size_t i = 0; i < step.size(); ++i) point.push_back(begins[i] + step[i]);
    std::vector<ElementRead> reads;
    int64_t num_operands = 0;
    for (int64_t operand = 0; operand < node.instruction->operand_count(); ++operand) {
      num_operands += IsOfSteps(*node.instruction, operand) ? 1 : 0;
    }
    for (const IndexingEntry& entry : *node.reads) {
      if (entry.output_leaf != node.leaf || !IsOfSteps(*node.instruction, entry.operand)) continue;
      const Shape& shape = node.instruction->operand(entry.operand)->shape();
      for (const OperandIndexing& indexing : entry.indexing) {
        const absl::StatusOr<bool> is_read = indexing.map().Contains(point, {});
        if (!is_read.ok()) status = is_read.status();
        if (!is_read.ok() || !*is_read) continue;
        const auto index = indexing.map().Evaluate(point, {});
        if (!index.ok()) status = index.status();
        if (!index.ok()) continue;
        reads.push_back({entry.operand, 0,
                         PositionOf(shape.dimensions(), Index(index->begin(), index->end()))});
      }
    }
    // What meets padding is not read.
    if (static_cast<int64_t>(reads.size()) < num_operands) reads.clear();
    steps.push_back({{point.begin() + static_cast<ptrdiff_t>(element.size()), point.end()}, reads});
  });
  if (!status.ok()) return status;
  return steps;
}

absl::Status TileRun::Accumulate(int number) {
  const TileNode& node = graph_.nodes()[number];
  State& state = states_[number];
  for (const auto& [position, unused] : state.numbers) {
    const absl::StatusOr<std::vector<ContractionStep>> steps = StepsHere(node, position);
    if (!steps.ok()) return steps.status();
    for (const ContractionStep& step : *steps) {
      uint64_t product = 1;
      bool is_known = true;
      for (const ElementRead& read : step.reads) {
        const std::optional<uint64_t> value = NumberOf(node, read);
        is_known = is_known && value;
        if (value) product = Mix(product, NumberedComputation::OfRead(read, *value));
      }
      if (!is_known) continue;
      state.sums[position] += product;
      ++state.counts[position];
    }
    for (const ElementRead& read : computation_.Reads(*node.instruction, node.leaf, position)) {
      const std::optional<uint64_t> value = NumberOf(node, read);
      if (!value || !state.seen[position].insert(read).second) continue;
      // The operands that are read beside the steps are added up separately.
      state.sums[-1 - position] += NumberedComputation::OfRead(read, *value);
    }
  }
  return absl::OkStatus();
}

absl::Status TileRun::Finish(int number) {
  const TileNode& node = graph_.nodes()[number];
  State& state = states_[number];
  const HloInstruction& instruction = *node.instruction;
  for (auto& [position, result] : state.numbers) {
    if (instruction.opcode() == HloOpcode::kParameter) {
      result = computation_.Number(instruction, node.leaf, position);
      continue;
    }
    const size_t steps = computation_.Steps(instruction, node.leaf, position).size();
    const size_t reads = computation_.Reads(instruction, node.leaf, position).size();
    if (static_cast<size_t>(state.counts[position]) > steps) {
      return absl::InternalError(absl::StrCat(Where(node), ": element ", position, " combines ",
                                              state.counts[position], " steps instead of ", steps));
    }
    if (static_cast<size_t>(state.counts[position]) != steps ||
        state.seen[position].size() != reads) {
      if (!node.is_exact) continue;
      return absl::InternalError(absl::StrCat(Where(node), ": element ", position,
                                              " of an exact tile cannot be computed"));
    }
    result = NumberedComputation::Combine(instruction, node.leaf, state.sums[position],
                                          state.sums[-1 - position]);
    if (*result == computation_.Number(instruction, node.leaf, position)) continue;
    return absl::InternalError(
        absl::StrCat(Where(node), ": element ", position, " has another value"));
  }
  return Store(number);
}

absl::Status TileRun::Store(int number) {
  for (const TileStore& store : graph_.stores()) {
    if (store.node != number) continue;
    const int64_t leaf = graph_.space().roots()[store.root].leaf;
    for (const auto& [position, value] : states_[number].numbers) {
      states_[number].used.insert(position);
      if (!value) {
        return absl::InternalError(absl::StrCat(Where(graph_.nodes()[number]), ": element ",
                                                position, " is stored and not computed"));
      }
      stored_[leaf].insert(position);
      stored_here_[leaf].insert(position);
    }
  }
  return absl::OkStatus();
}

absl::Status TileRun::EndProgram() {
  std::map<std::pair<int64_t, int64_t>, std::set<int64_t>> needed;
  for (const auto& [pair, relation] : computation_.of_parameters()) {
    const std::set<int64_t>& stored = stored_here_[pair.output_leaf];
    for (const auto& [out, in] : relation) {
      if (stored.contains(out)) needed[{pair.operand, pair.operand_leaf}].insert(in);
    }
  }
  std::map<std::pair<int64_t, int64_t>, std::set<int64_t>> loaded;
  for (const auto& [number, elements] : loaded_here_) {
    const TileNode& node = graph_.nodes()[number];
    const std::pair<int64_t, int64_t> key(node.instruction->parameter_number(), node.leaf);
    loaded[key].insert(elements.begin(), elements.end());
    const auto is_needed = [&](int64_t element) { return needed[key].contains(element); };
    if (node.is_exact && !llvm::all_of(elements, is_needed)) {
      return absl::InternalError(
          absl::StrCat(Where(node), ": something is loaded exactly and not needed"));
    }
    // Runtime variables that are not one value in a tile may be any.
    const bool is_open = llvm::any_of(node.domains, [&](int domain) {
      return llvm::any_of(graph_.domains()[domain].runtimes(),
                          [](const Variable& runtime) { return runtime.bounds.IsAll(); });
    });
    if (is_open || read_more_or_less_.contains({node.instruction, node.leaf}) ||
        llvm::any_of(elements, is_needed)) {
      continue;
    }
    return absl::InternalError(absl::StrCat(Where(node), ": nothing of it is needed"));
  }
  for (const auto& [key, elements] : needed) {
    for (const int64_t element : elements) {
      if (loaded[key].contains(element)) continue;
      return absl::InternalError(absl::StrCat("parameter ", key.first, ", leaf ", key.second,
                                              ": element ", element, " is read and not loaded at (",
                                              absl::StrJoin(indices_, ", "), ")"));
    }
  }
  stored_here_.clear();
  loaded_here_.clear();
  return absl::OkStatus();
}

bool TileRun::IsInnermost(int region) const {
  return llvm::none_of(graph_.regions(), [&](const TileRegion& other) {
    return other.parent == region && other.accumulators == graph_.regions()[region].accumulators;
  });
}

absl::Status TileRun::RunSteps(int region) {
  for (const TileRegion::Step& step : graph_.regions()[region].steps) {
    if (step.is_region) {
      for (const int node : graph_.regions()[step.index].accumulators) {
        if (graph_.nodes()[node].loop != step.index) continue;
        absl::Status status = Begin(node);
        if (!status.ok()) return status;
      }
      absl::Status status = RunRegion(step.index);
      if (!status.ok()) return status;
      continue;
    }
    const TileNode& node = graph_.nodes()[step.index];
    if (node.loop < 0) {
      absl::Status status = Begin(step.index);
      if (!status.ok()) return status;
      status = Accumulate(step.index);
      if (!status.ok()) return status;
    }
    absl::Status status = Finish(step.index);
    if (!status.ok()) return status;
  }
  if (IsInnermost(region)) {
    for (const int node : graph_.regions()[region].accumulators) {
      if (absl::Status status = Accumulate(node); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::Status TileRun::RunRegion(int number) {
  const TileRegion& region = graph_.regions()[number];
  absl::Status status = absl::OkStatus();
  ForEachIndex(region.trip_counts, [&](const Index& index) {
    if (!status.ok()) return;
    for (size_t i = 0; i < index.size(); ++i) indices_[region.dims[i]] = index[i];
    status = RunSteps(number);
    if (status.ok() && region.kind == TileRegion::Kind::kGrid) status = EndProgram();
  });
  for (const int dim : region.dims) indices_[dim] = 0;
  return status;
}

absl::Status TileRun::Run() {
  for (size_t i = 0; i < graph_.regions().size(); ++i) {
    if (graph_.regions()[i].parent >= 0) continue;
    absl::Status status = RunRegion(static_cast<int>(i));
    if (!status.ok()) return status;
  }
  for (size_t i = 0; i < states_.size(); ++i) {
    if (absl::Status status = CheckUse(static_cast<int>(i)); !status.ok()) return status;
  }
  if (absl::Status status = CheckCounts(); !status.ok()) return status;
  for (const TilingRoot& tiled : graph_.space().roots()) {
    const int64_t count = *root_.shape().Leaf(tiled.leaf).ElementCount();
    if (static_cast<int64_t>(stored_[tiled.leaf].size()) == count) continue;
    return absl::InternalError(absl::StrCat("leaf ", tiled.leaf, ": ", stored_[tiled.leaf].size(),
                                            " of ", count, " elements are stored"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ExecuteTiles(const NumberedComputation& computation, const HloInstruction& root,
                          const TiledComputation& tiled, const TileGraph& graph) {
  return TileRun(computation, root, tiled, graph).Run();
}

}  // namespace xla_indexing::reference
