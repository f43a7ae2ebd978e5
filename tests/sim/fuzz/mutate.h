// SPDX-License-Identifier: Apache-2.0
// Damages a text in one to four places: bytes changed, removed, repeated, moved or cut off.
#pragma once

#include <random>
#include <string>
#include <string_view>

namespace npuscope::fuzz {

class Mutator {
 public:
    explicit Mutator(unsigned seed) : random_(seed) {}

    std::string damage(std::string text) {
        for (std::size_t times = 1 + below(4); times > 0; --times) {
            damage_once(text);
        }
        return text;
    }

 private:
    std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

    void damage_once(std::string& text) {
        static constexpr std::string_view letters = "{}[](),;:.=\"'#/&*<>|-0x9aAfF \t\r\n\0\xff";
        const std::size_t at = below(text.size() + 1);
        const std::size_t length = 1 + below(8);
        switch (below(6)) {
            case 0:
                text.insert(at, 1, letters[below(letters.size())]);
                break;
            case 1:
                text.erase(at, length);
                break;
            case 2:
                text.insert(at, text.substr(below(text.size()), length * 8));
                break;
            case 3:
                text.resize(at);
                break;
            case 4:
                text.insert(at, std::string(length * 10, letters[below(letters.size())]));
                break;
            default:
                if (at < text.size()) {
                    text[at] = static_cast<char>(random_());
                }
                break;
        }
    }

    std::mt19937 random_;
};

}  // namespace npuscope::fuzz
