// A benchmark whose number of iterations is fixed: else it would follow from the time that one takes.
#include <benchmark/benchmark.h>

#include <map>
#include <string>

static std::string text() {
    std::string made;
    for (int number = 0; number < 200; number++) made += "word" + std::to_string(number % 40) + " ";
    return made;
}

static std::map<std::string, int> count_words(const std::string &text) {
    std::map<std::string, int> counts;
    for (size_t start = 0, end; (end = text.find(' ', start)) != std::string::npos; start = end + 1)
        counts[text.substr(start, end - start)]++;
    return counts;
}

static void counting(benchmark::State &state) {
    const std::string words = text();
    for (auto _ : state) benchmark::DoNotOptimize(count_words(words));
}
BENCHMARK(counting)->Iterations(100);

BENCHMARK_MAIN();
