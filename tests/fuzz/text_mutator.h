// Changes of a text that keep most of its structure, for fuzzers of languages such as HLO and map
// text.
//
// A text is cut into tokens: numbers, words, strings, and single characters. What is changed is
//
//   numbers       one, or all of one value, to an end of int64, a neighbour, 0, 1, -1, another
//                 number of the text
//   words         to another word of the text, or of a given vocabulary, that is used in the same
//                 way (before a `(`, before a `[`, before a `=`, otherwise)
//   list elements in brackets, between commas: left out, said twice, exchanged
//   attributes    `, key=value`: left out, said twice, given the value that the key has elsewhere,
//                 copied to another line
//   lines         left out, said twice, exchanged
//   results       `x = SHAPE op(`: SHAPE left out, so that it is inferred
//
// Now and then bytes are changed instead, as libFuzzer does by itself.

#ifndef XLA_INDEXING_TESTS_FUZZ_TEXT_MUTATOR_H_
#define XLA_INDEXING_TESTS_FUZZ_TEXT_MUTATOR_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace xla_indexing::fuzz {

// Words that may take the place of words of a text that are used in the same way.
struct Vocabulary {
  std::vector<std::string> before_parenthesis;
  std::vector<std::string> before_bracket;
  std::vector<std::string> others;
};

// A text with one to four changes.
std::string MutateText(absl::string_view text, const Vocabulary& vocabulary,
                       std::mt19937_64& random);

// Lines of one text with lines of another.
std::string CrossTexts(absl::string_view a, absl::string_view b, std::mt19937_64& random);

// The bodies of LLVMFuzzerCustomMutator and LLVMFuzzerCustomCrossOver.
size_t MutateInPlace(uint8_t* data, size_t size, size_t max_size, unsigned seed,
                     const Vocabulary& vocabulary);
size_t CrossInPlace(const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size, uint8_t* out,
                    size_t max_size, unsigned seed);

}  // namespace xla_indexing::fuzz

#endif  // XLA_INDEXING_TESTS_FUZZ_TEXT_MUTATOR_H_
