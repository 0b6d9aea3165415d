#include "xla_indexing/gpu/fusing/kernel_merger.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "xla_indexing/gpu/machine/element_work.h"
#include "xla_indexing/gpu/threads/emitter.h"
#include "xla_indexing/gpu/threads/emitter_hero.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing::internal {
namespace {

constexpr size_t kMaxArrays = 96;
constexpr double kMaxCode = 10'000;
constexpr double kMaxBranches = 10;
constexpr size_t kMaxReaders = 512;  // of a value that is fused into them
constexpr int64_t kMaxSteps = 30'000'000;
constexpr int64_t kTolerance = 1024;  // bytes
// An H100, in bytes and operations a nanosecond.
constexpr double kLaunch = 1000;
constexpr double kMemory = 3352;
constexpr double kCache = 2.5 * kMemory;
constexpr double kCacheBytes = 50e6;
constexpr double kCompute = 132 * 128 * 1.98;

// What a kernel reads of a written value, or of one in memory.
struct Read {
  int value = 0;
  double elements = 0;      // how many are read, all reads counted
  double places = 1;        // in the code where it is read
  bool in_order = false;    // element i of the result reads element i, in the order of memory
  bool is_updated = false;  // in place
};
using Reads = absl::InlinedVector<Read, 4>;  // by value

struct Kernel {
  Reads reads;
  double operations = 0;
  double code = 1;         // operations as they are written, those in several places as often
  double branches = 0;     // of that, those that choose between operands
  bool is_dot = false;     // a dot, perhaps with what is before and after it
  bool is_simple = false;  // nothing but operations that a kernel of a dot may do
  bool reduces = false;    // kSmallSum elements or more to one
  bool is_reduced =
      false;      // the result is the sums of a reduction emitter, or made of them in order
  int hero = -1;  // that reduce
  int64_t reduced_elements = 0;  // what it reduces
};

double OperationsOf(HloOpcode opcode) {
  const bool takes_long =
      IsTranscendental(opcode) || opcode == HloOpcode::kDivide || opcode == HloOpcode::kRemainder;
  return takes_long ? 30 : 3;
}

bool IsSimple(HloOpcode opcode) {
  return IsElementwise(opcode) || opcode == HloOpcode::kBroadcast ||
         opcode == HloOpcode::kReshape || opcode == HloOpcode::kTranspose;
}

// How many elements of an operand are read to compute all of a value.
double ElementsRead(const ValueGraph& graph, const Value& value, size_t operand) {
  const auto all = static_cast<double>(value.elements);
  const auto of_operand = static_cast<double>(graph.values[value.operands[operand]].elements);
  switch (value.opcode()) {
    case HloOpcode::kReduce:
      return operand < value.operands.size() / 2 ? of_operand : all;
    case HloOpcode::kReduceWindow: {
      if (operand >= value.operands.size() / 2) return all;
      double elements = all;
      if (const Window* window = value.instruction->window()) {
        for (const WindowDimension& dim : window->dimensions) {
          elements *= static_cast<double>(dim.size);
        }
      }
      return elements;
    }
    case HloOpcode::kPad:
      return operand > 0 ? 1 : std::min(all, of_operand);
    case HloOpcode::kDynamicUpdateSlice:
    case HloOpcode::kScatter:
      return operand == 0 ? 0 : of_operand;
    case HloOpcode::kConcatenate:
    case HloOpcode::kDot:
      return of_operand;
    case HloOpcode::kGather:
    case HloOpcode::kDynamicSlice:
      return operand == 0 ? all : of_operand;
    default:
      return all;
  }
}

// Reads of one array for two purposes: of the same elements where both are in order.
Read Both(const Read& a, const Read& b) {
  const bool are_same = a.in_order && b.in_order;
  Read both = a;
  both.elements = are_same ? std::max(a.elements, b.elements) : a.elements + b.elements;
  both.places = are_same ? std::max(a.places, b.places) : a.places + b.places;
  both.in_order = are_same;
  both.is_updated = a.is_updated || b.is_updated;
  return both;
}

// Kernels of several results. A node is a written value, or what is in memory; a group is a kernel.
class KernelGroups {
 public:
  KernelGroups(const ValueGraph& graph, const std::vector<Kernel>& kernels,
               const std::vector<bool>& is_written)
      : graph_(graph), values_(graph.values), kernels_(kernels), is_written_(is_written) {}

  std::vector<std::vector<int>> Join() {
    MakeGroups();
    for (const bool from_the_end : {false, true}) {
      FindLevels(from_the_end);
      JoinConsumers();
    }
    for (const bool from_the_end : {false, true}) {
      FindLevels(from_the_end);
      JoinSiblings();
    }
    std::vector<std::vector<int>> kernels;
    for (const Group& group : groups_) {
      if (group.results.empty() || !is_written_[group.results[0]]) continue;
      kernels.push_back(group.results);
      absl::c_sort(kernels.back());
    }
    return kernels;
  }

 private:
  // The sizes that threads go over, and what is reduced of them.
  struct Space {
    int64_t elements = -1;                   // -1: no emitter gives it several results
    const HloInstruction* reduce = nullptr;  // none: a loop

    bool IsLike(const Space& other) const {
      return elements >= 0 && elements == other.elements &&
             (reduce == nullptr || other.reduce == nullptr ||
              (reduce->operand(0)->shape().dimensions() ==
                   other.reduce->operand(0)->shape().dimensions() &&
               reduce->dimensions() == other.reduce->dimensions()));
    }
  };

  struct Group {
    std::vector<int> results;
    absl::InlinedVector<int, 4> reads;  // sorted
    double code = 0;
    double branches = 0;
    Space space;
    int level = 0;
  };

  void MakeGroups() {
    group_of_.assign(values_.size(), -1);
    for (size_t i = 0; i < values_.size(); ++i) {
      if (values_[i].role == ValueRole::kFree || (IsFusible(i) && !is_written_[i])) continue;
      group_of_[i] = static_cast<int>(groups_.size());
      Group& group = groups_.emplace_back();
      group.results = {static_cast<int>(i)};
      if (!IsFusible(i)) {
        for (const int operand : values_[i].operands) {
          if (const int read = graph_.Behind(operand); read >= 0) group.reads.push_back(read);
        }
        continue;
      }
      const Kernel& kernel = kernels_[i];
      for (const Read& read : kernel.reads) group.reads.push_back(read.value);
      group.code = kernel.code;
      group.branches = kernel.branches;
      group.space = SpaceOf(static_cast<int>(i), kernel);
    }
  }

  bool IsFusible(size_t i) const { return values_[i].role == ValueRole::kFusible; }

  Space SpaceOf(int result, const Kernel& kernel) const {
    const Value& value = values_[result];
    if (kernel.is_reduced) {
      const HloInstruction* reduce = values_[kernel.hero].instruction;
      return {values_[kernel.hero].instruction->shape().IsArray() ? kernel.reduced_elements : -1,
              reduce};
    }
    const bool has_several =
        value.shape().IsArray() && !kernel.is_dot && value.opcode() != HloOpcode::kScatter &&
        value.opcode() != HloOpcode::kDynamicUpdateSlice &&
        (kernel.code >= 2 || IsElementwise(value.opcode()) || TiledTransposeOf(*value.instruction));
    return {has_several ? value.elements : -1, nullptr};
  }

  // How many groups have to run before one, or after.
  void FindLevels(bool from_the_end) {
    std::vector<std::vector<int>> next(groups_.size());
    std::vector<int> open(groups_.size());
    for (size_t g = 0; g < groups_.size(); ++g) {
      groups_[g].level = 0;
      for (const int read : groups_[g].reads) {
        const auto [from, to] = from_the_end ? std::pair(static_cast<int>(g), group_of_[read])
                                             : std::pair(group_of_[read], static_cast<int>(g));
        if (from == to) continue;
        next[from].push_back(to);
        ++open[to];
      }
    }
    std::vector<int> ready;
    for (size_t g = 0; g < groups_.size(); ++g) {
      if (open[g] == 0) ready.push_back(static_cast<int>(g));
    }
    for (size_t i = 0; i < ready.size(); ++i) {
      for (const int g : next[ready[i]]) {
        groups_[g].level = std::max(groups_[g].level, groups_[ready[i]].level + 1);
        if (--open[g] == 0) ready.push_back(g);
      }
    }
  }

  bool CanJoin(const Group& a, const Group& b) const {
    return a.space.IsLike(b.space) &&
           a.results.size() + b.results.size() + a.reads.size() + b.reads.size() <= kMaxArrays &&
           a.code + b.code <= kMaxCode && a.branches + b.branches <= kMaxBranches;
  }

  void JoinInto(int from, int to) {
    Group& a = groups_[to];
    Group& b = groups_[from];
    a.results.insert(a.results.end(), b.results.begin(), b.results.end());
    for (const int result : b.results) group_of_[result] = to;
    a.reads.insert(a.reads.end(), b.reads.begin(), b.reads.end());
    absl::c_sort(a.reads);
    a.reads.erase(std::unique(a.reads.begin(), a.reads.end()), a.reads.end());
    a.code += b.code;
    a.branches += b.branches;
    if (a.space.reduce == nullptr) a.space = b.space;
    b = Group();
  }

  // The groups that read each value.
  std::vector<std::vector<int>> Readers() const {
    std::vector<std::vector<int>> readers(values_.size());
    for (size_t g = 0; g < groups_.size(); ++g) {
      for (const int read : groups_[g].reads) readers[read].push_back(static_cast<int>(g));
    }
    return readers;
  }

  // Joins a kernel with one that reads its result element by element right after it. Two pairs that wait
  // for one another would be a circle: the second of one for the first of the other, and so on.
  void JoinConsumers() {
    const std::vector<std::vector<int>> readers = Readers();
    std::vector<bool> is_first(groups_.size());
    std::vector<bool> is_second(groups_.size());
    std::vector<std::pair<int, int>> pairs;
    for (size_t i = 0; i < values_.size(); ++i) {
      if (!is_written_[i]) continue;
      const int g = group_of_[i];
      if (is_first[g] || is_second[g] || groups_[g].space.reduce != nullptr) continue;
      const bool leads_on = absl::c_any_of(groups_[g].results, [&](int result) {
        return absl::c_any_of(readers[result], [&](int reader) { return is_second[reader]; });
      });
      for (const int reader : readers[i]) {
        if (is_first[reader] || is_second[reader] || !CanFollow(static_cast<int>(i), reader)) {
          continue;
        }
        const bool waits = absl::c_any_of(groups_[reader].reads,
                                          [&](int read) { return is_first[group_of_[read]]; });
        if (waits && leads_on) continue;
        is_first[g] = is_second[reader] = true;
        pairs.push_back({reader, g});
        break;
      }
    }
    for (const auto& [second, first] : pairs) JoinInto(second, first);
  }

  bool CanFollow(int value, int reader) const {
    const Group& first = groups_[group_of_[value]];
    const Group& second = groups_[reader];
    if (std::abs(second.level - first.level) != 1 || !CanJoin(first, second)) return false;
    return absl::c_all_of(second.results, [&](int result) {
      const Reads& reads = kernels_[result].reads;
      const auto read = absl::c_find_if(reads, [&](const Read& r) { return r.value == value; });
      return read == reads.end() || read->elements <= static_cast<double>(values_[value].elements);
    });
  }

  void JoinSiblings() {
    constexpr size_t kMaxTried = 8;
    const std::vector<std::vector<int>> readers = Readers();
    for (size_t i = 0; i < values_.size(); ++i) {
      if (readers[i].size() < 2 || values_[i].elements < 2) continue;
      std::map<std::pair<int, int64_t>, std::vector<int>> open;  // by level and elements
      absl::flat_hash_set<int> seen;
      for (const int reader : readers[i]) {
        const int g = groups_[reader].results.empty() ? -1 : reader;
        if (g < 0 || groups_[g].space.elements < 0 || !seen.insert(g).second) continue;
        const Group& group = groups_[g];
        std::vector<int>& like = open[{group.level, group.space.elements}];
        const auto first = like.size() > kMaxTried ? like.end() - kMaxTried : like.begin();
        const auto other = std::find_if(first, like.end(),
                                        [&](int known) { return CanJoin(groups_[known], group); });
        if (other == like.end()) {
          like.push_back(g);
        } else {
          JoinInto(g, *other);
        }
      }
    }
  }

  const ValueGraph& graph_;
  const std::vector<Value>& values_;
  const std::vector<Kernel>& kernels_;
  const std::vector<bool>& is_written_;
  std::vector<Group> groups_;
  std::vector<int> group_of_;  // by value; -1 where it is in no place
};

class Merger {
 public:
  explicit Merger(const ValueGraph& graph)
      : graph_(graph),
        values_(graph.values),
        kernels_(values_.size()),
        readers_(values_.size()),
        is_written_(values_.size()),
        stays_(values_.size()),
        versions_(values_.size()) {}

  MergedKernels Run() && {
    MakeKernels();
    FuseDots();
    FuseProducers();
    MergedKernels merged;
    merged.kernels = KernelGroups(graph_, kernels_, is_written_).Join();
    merged.is_written = std::move(is_written_);
    return merged;
  }

 private:
  // ---- Kernels of one value each.

  void MakeKernels() {
    stays_[graph_.root] = true;
    if (const int root = graph_.Behind(graph_.root); root >= 0) stays_[root] = true;
    for (size_t i = 0; i < values_.size(); ++i) {
      const Value& value = values_[i];
      if (value.role == ValueRole::kMemory) {
        for (const int operand : value.operands) {
          if (const int read = graph_.Behind(operand); read >= 0) stays_[read] = true;
        }
      } else if (value.role == ValueRole::kFusible) {
        is_written_[i] = true;
        MakeKernel(static_cast<int>(i));
      }
    }
  }

  void MakeKernel(int i) {
    const Value& value = values_[i];
    Kernel& kernel = kernels_[i];
    const bool is_elementwise = IsElementwise(value.opcode());
    double work = static_cast<double>(value.elements);
    for (size_t k = 0; k < value.operands.size(); ++k) {
      Read read{graph_.Behind(value.operands[k]), ElementsRead(graph_, value, k)};
      if (value.opcode() == HloOpcode::kReduce) work = std::max(work, read.elements);
      if (read.value < 0) continue;
      read.in_order = is_elementwise && values_[read.value].elements == value.elements;
      read.is_updated = k == 0 && (value.opcode() == HloOpcode::kScatter ||
                                   value.opcode() == HloOpcode::kDynamicUpdateSlice);
      AddRead(read, &kernel.reads);
    }
    kernel.is_dot = value.opcode() == HloOpcode::kDot;
    kernel.is_simple = IsSimple(value.opcode());
    kernel.operations = work * OperationsOf(value.opcode());
    kernel.branches =
        value.opcode() == HloOpcode::kConcatenate || value.opcode() == HloOpcode::kPad;
    if (value.opcode() == HloOpcode::kReduce) {
      kernel.reduces = work >= static_cast<double>(kSmallSum) * static_cast<double>(value.elements);
      kernel.is_reduced =
          kernel.reduces && ReductionOf(*value.instruction, EmitterOptions().warp_size).has_value();
      if (kernel.is_reduced) kernel.hero = i;
      kernel.reduced_elements = static_cast<int64_t>(work);
    }
    if (!value.shape().IsArray() || value.opcode() == HloOpcode::kScatter) stays_[i] = true;
    for (const Read& read : kernel.reads) AddReaders(read.value, {i});
  }

  // Readers of what cannot be fused into them are not kept.
  void AddReaders(int value, const std::vector<int>& readers) {
    if (stays_[value] || values_[value].role != ValueRole::kFusible) return;
    std::vector<int>& all = readers_[value];
    all.insert(all.end(), readers.begin(), readers.end());
    absl::c_sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (all.size() <= kMaxReaders) return;
    stays_[value] = true;
    all.clear();
  }

  void AddRead(const Read& read, Reads* reads) const {
    const auto place =
        absl::c_find_if(*reads, [&](const Read& r) { return r.value >= read.value; });
    if (place != reads->end() && place->value == read.value) {
      *place = Both(*place, read);
    } else {
      reads->insert(place, read);
    }
  }

  // ---- Producers into consumers.

  // Whether an operand of a dot is computed where it is read: that reads no more than its result.
  bool CanPrecedeDot(int producer) const {
    const Kernel& p = kernels_[producer];
    double bytes = 0;
    for (const Read& read : p.reads) bytes += BytesRead(read).first;
    return p.is_simple && HasOneSource(p.reads) &&
           bytes <= static_cast<double>(values_[producer].bytes + kTolerance);
  }

  // Whether an operation goes on with the result of a dot where it is made: nothing else reads that, and
  // it writes no more. That is decided before other kernels grow.
  bool CanFollowDot(int producer, int consumer, const Read& read) const {
    const Kernel& c = kernels_[consumer];
    return dots_go_on_ && readers_[producer].size() == 1 && read.in_order && c.is_simple &&
           HasOneSource(c.reads) && values_[consumer].bytes <= values_[producer].bytes + kTolerance;
  }

  // Whether no more than one array is read that is neither a parameter nor made of one by a broadcast.
  bool HasOneSource(const Reads& reads) const {
    return absl::c_count_if(reads, [&](const Read& read) {
             int value = read.value;
             if (values_[value].opcode() == HloOpcode::kBroadcast) {
               value = graph_.Behind(values_[value].operands[0]);
             }
             return value >= 0 && values_[value].opcode() != HloOpcode::kParameter;
           }) <= 1;
  }

  // Dots go first, with what follows them.
  void FuseDots() {
    for (size_t i = 0; i < values_.size(); ++i) {
      int dot = static_cast<int>(i);
      if (values_[i].opcode() != HloOpcode::kDot) continue;
      while (!stays_[dot] && readers_[dot].size() == 1 && With(dot, readers_[dot][0])) {
        const int next = readers_[dot][0];
        std::vector<int> changed;
        FuseIntoReaders(dot, &changed);
        dot = next;
      }
    }
    dots_go_on_ = false;
  }

  // The bytes of a read: each once, and all.
  std::pair<double, double> BytesRead(const Read& read) const {
    const Value& value = values_[read.value];
    if (value.elements == 0) return {0, 0};
    const auto size = static_cast<double>(value.bytes);
    const double bytes = read.elements * size / static_cast<double>(value.elements);
    return {std::min(bytes, size), bytes};
  }

  double TimeOf(int result, const Kernel& kernel) const {
    double memory = static_cast<double>(values_[result].bytes) / kMemory;
    for (const Read& read : kernel.reads) {
      const auto [once, bytes] = BytesRead(read);
      memory += once / (once < kCacheBytes ? kCache : kMemory) + (bytes - once) / kCache;
    }
    const double compute = kernel.operations / kCompute;
    return kLaunch + memory + compute - 0.95 * std::min(memory, compute);
  }

  const Read* ReadOf(const Kernel& kernel, int value) const {
    const auto read =
        absl::c_find_if(kernel.reads, [&](const Read& r) { return r.value == value; });
    return read == kernel.reads.end() ? nullptr : &*read;
  }

  // The kernel of a value with that of a producer inside; nullopt if they cannot be one.
  std::optional<Kernel> With(int producer, int consumer) {
    const Kernel& p = kernels_[producer];
    const Kernel& c = kernels_[consumer];
    steps_ += static_cast<int64_t>(p.reads.size() + c.reads.size());
    const Read& read = *ReadOf(c, producer);
    if (read.is_updated || (p.reduces && c.reduces)) return std::nullopt;
    // More than a chain of one operand each would take the threads of a loop.
    const bool goes_on_with_sums =
        read.in_order && c.reads.size() == 1 && values_[consumer].instruction->operand_count() == 1;
    if (p.is_reduced && !goes_on_with_sums) return std::nullopt;
    if (p.is_dot || c.is_dot) {
      if (p.is_dot ? !CanFollowDot(producer, consumer, read) : !CanPrecedeDot(producer)) {
        return std::nullopt;
      }
    }
    if (c.code + p.code * read.places > kMaxCode) return std::nullopt;
    if (c.branches + p.branches * read.places > kMaxBranches) return std::nullopt;
    Kernel both = c;
    both.reads.erase(both.reads.begin() + (&read - c.reads.data()));
    const double times = values_[producer].elements == 0
                             ? 0
                             : read.elements / static_cast<double>(values_[producer].elements);
    for (Read of_producer : p.reads) {
      of_producer.elements *= times;
      of_producer.places *= read.places;
      of_producer.in_order &= read.in_order;
      of_producer.is_updated = false;
      if (const Read* other = ReadOf(c, of_producer.value);
          other != nullptr && other->is_updated && !of_producer.in_order) {
        return std::nullopt;
      }
      AddRead(of_producer, &both.reads);
    }
    if (both.reads.size() + 1 > kMaxArrays) return std::nullopt;
    both.operations += p.operations * times;
    both.code += p.code * read.places;
    both.branches += p.branches * read.places;
    both.is_dot |= p.is_dot;
    both.is_simple &= p.is_simple;
    both.reduces |= p.reduces;
    both.is_reduced |= p.is_reduced;
    if (p.is_reduced) both.hero = p.hero;
    if (p.is_reduced) both.reduced_elements = p.reduced_elements;
    return both;
  }

  // What is saved where a value is not written; nullopt if it has to be.
  std::optional<double> Saved(int producer) {
    const std::vector<int>& readers = readers_[producer];
    if (!is_written_[producer] || stays_[producer] || readers.empty()) return std::nullopt;
    double saved = TimeOf(producer, kernels_[producer]);
    for (const int reader : readers) {
      const std::optional<Kernel> both = With(producer, reader);
      if (!both) return std::nullopt;
      saved -= TimeOf(reader, *both) - TimeOf(reader, kernels_[reader]);
    }
    return saved;
  }

  void Enqueue(int producer) {
    const int version = ++versions_[producer];
    const std::optional<double> saved = Saved(producer);
    if (saved && *saved > 0) queue_.push({*saved, producer, version});
  }

  void FuseProducers() {
    for (size_t i = 0; i < values_.size(); ++i) Enqueue(static_cast<int>(i));
    std::vector<int> changed;
    while (!queue_.empty() && steps_ < kMaxSteps) {
      const auto [saved, producer, version] = queue_.top();
      queue_.pop();
      if (version != versions_[producer]) continue;
      changed.clear();
      FuseIntoReaders(producer, &changed);
      absl::c_sort(changed);
      changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
      for (const int value : changed) Enqueue(value);
    }
  }

  void FuseIntoReaders(int producer, std::vector<int>* changed) {
    is_written_[producer] = false;
    const std::vector<int> readers = readers_[producer];
    for (const int reader : readers) {
      kernels_[reader] = *With(producer, reader);
      changed->push_back(reader);
      for (const Read& read : kernels_[reader].reads) changed->push_back(read.value);
    }
    for (const Read& read : kernels_[producer].reads) {
      std::vector<int>& of_operand = readers_[read.value];
      of_operand.erase(std::remove(of_operand.begin(), of_operand.end(), producer),
                       of_operand.end());
      AddReaders(read.value, readers);
    }
    readers_[producer].clear();
  }

  struct Candidate {
    double saved = 0;
    int producer = 0;
    int version = 0;

    // The first of equals comes first.
    friend bool operator<(const Candidate& a, const Candidate& b) {
      return std::pair(a.saved, -a.producer) < std::pair(b.saved, -b.producer);
    }
  };

  const ValueGraph& graph_;
  const std::vector<Value>& values_;
  std::vector<Kernel> kernels_;            // by the value that they write
  std::vector<std::vector<int>> readers_;  // the kernels that read a value
  std::vector<bool> is_written_;
  std::vector<bool> stays_;  // written whatever that costs
  std::vector<int> versions_;
  std::priority_queue<Candidate> queue_;
  bool dots_go_on_ = true;
  int64_t steps_ = 0;
};

}  // namespace

MergedKernels MergeKernels(const ValueGraph& graph) { return Merger(graph).Run(); }

}  // namespace xla_indexing::internal
