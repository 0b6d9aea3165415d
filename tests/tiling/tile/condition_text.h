// Whether conditions on tile sizes hold, read from their text.
#ifndef XLA_INDEXING_TESTS_TILING_TILE_CONDITION_TEXT_H_
#define XLA_INDEXING_TESTS_TILING_TILE_CONDITION_TEXT_H_

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace xla_indexing {

// Reads the grammar in tiling/tile/tile_condition.h. Members return none where the text is not
// of that grammar.
class ConditionText {
 public:
  ConditionText(const std::string& text, const std::vector<int64_t>& sizes)
      : text_(text), sizes_(sizes) {}

  std::optional<bool> Holds() {
    const std::optional<bool> holds = Or();
    Space();
    return at_ == text_.size() ? holds : std::nullopt;
  }

 private:
  void Space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool Take(const std::string& word) {
    Space();
    if (text_.compare(at_, word.size(), word) != 0) return false;
    at_ += word.size();
    return true;
  }
  std::optional<bool> Or() {
    std::optional<bool> any = And();
    while (any && Take("or ")) {
      const std::optional<bool> next = And();
      any = next ? std::optional<bool>(*any || *next) : std::nullopt;
    }
    return any;
  }
  std::optional<bool> And() {
    std::optional<bool> all = Literal();
    while (all && Take("and ")) {
      const std::optional<bool> next = Literal();
      all = next ? std::optional<bool>(*all && *next) : std::nullopt;
    }
    return all;
  }
  std::optional<bool> Literal() {
    if (Take("false")) return false;
    const size_t begin = at_;
    if (const std::optional<bool> holds = Comparison()) return holds;
    at_ = begin;
    if (Take("(")) {
      const std::optional<bool> inner = Or();
      if (inner && Take(")")) return inner;
    }
    return std::nullopt;
  }
  std::optional<bool> Comparison() {
    std::vector<int64_t> left;
    const size_t begin = at_;
    if (Take("(t")) {
      // A list of sizes.
      at_ = begin;
      Take("(");
      do {
        const std::optional<int64_t> value = Sum();
        if (!value) break;
        left.push_back(*value);
      } while (Take(","));
      if (left.size() < 2 || !Take(")")) {
        left.clear();
        at_ = begin;
      }
    }
    if (left.empty()) {
      is_defined_ = true;
      const std::optional<int64_t> value = Sum();
      if (!value) return std::nullopt;
      left.push_back(*value);
    }
    if (Take("in {")) return In(left);
    for (const char* comparison : {"<=", ">=", "="}) {
      if (!Take(comparison)) continue;
      const std::optional<int64_t> right = Sum();
      if (!right) return std::nullopt;
      if (!is_defined_) return false;
      if (comparison[0] == '<') return left[0] <= *right;
      return comparison[0] == '>' ? left[0] >= *right : left[0] == *right;
    }
    return std::nullopt;
  }
  std::optional<bool> In(const std::vector<int64_t>& element) {
    bool found = false;
    do {
      const bool is_list = Take("(");
      std::vector<int64_t> other;
      do {
        const std::optional<int64_t> value = Sum();
        if (!value) return std::nullopt;
        other.push_back(*value);
      } while (is_list && Take(","));
      if (is_list && !Take(")")) return std::nullopt;
      if (!is_list && Take("to ")) {
        const std::optional<int64_t> last = Sum();
        if (!last) return std::nullopt;
        found = found || (element[0] >= other[0] && element[0] <= *last);
      }
      found = found || element == other;
    } while (Take(","));
    if (!Take("}")) return std::nullopt;
    return found;
  }
  std::optional<int64_t> Sum() {
    std::optional<int64_t> sum = Product();
    while (sum) {
      const bool is_plus = Take("+ ");
      if (!is_plus && !Take("- ")) break;
      const std::optional<int64_t> next = Product();
      if (!next) return std::nullopt;
      *sum += is_plus ? *next : -*next;
    }
    return sum;
  }
  std::optional<int64_t> Product() {
    std::optional<int64_t> value = Number();
    while (value) {
      if (Take("* ")) {
        const std::optional<int64_t> next = Number();
        if (!next) return std::nullopt;
        *value *= *next;
      } else if (Take("mod ")) {
        const std::optional<int64_t> next = Number();
        if (!next) return std::nullopt;
        // Nothing is modulo 0: such a literal is false.
        is_defined_ = is_defined_ && *next != 0;
        *value = *next == 0 ? 0 : *value % *next;
      } else if (Take("floordiv ")) {
        *value /= Number().value_or(1);
      } else if (Take("ceildiv ")) {
        const int64_t divisor = Number().value_or(1);
        *value = (*value + divisor - 1) / divisor;
      } else {
        break;
      }
    }
    return value;
  }
  std::optional<int64_t> Number() {
    Space();
    if (Take("min(")) {
      const std::optional<int64_t> a = Sum();
      if (!a || !Take(",")) return std::nullopt;
      const std::optional<int64_t> b = Sum();
      if (!b || !Take(")")) return std::nullopt;
      return std::min(*a, *b);
    }
    if (Take("(")) {
      const std::optional<int64_t> value = Sum();
      if (!value || !Take(")")) return std::nullopt;
      return value;
    }
    const bool is_size = Take("t");
    if (at_ == text_.size() || std::isdigit(text_[at_]) == 0) return std::nullopt;
    char* end = nullptr;
    const int64_t number = std::strtoll(text_.c_str() + at_, &end, 10);
    at_ = end - text_.c_str();
    return is_size ? sizes_[number] : number;
  }

  const std::string& text_;
  const std::vector<int64_t>& sizes_;
  size_t at_ = 0;
  bool is_defined_ = true;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_TILING_TILE_CONDITION_TEXT_H_
