#include "xla_indexing/version.h"

static_assert(XLA_INDEXING_VERSION_MAJOR >= 0);

int main() {}
