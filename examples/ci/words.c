/* How often each letter occurs in standard input. */

#include <ctype.h>
#include <stdio.h>

int main(void) {
    static unsigned long counts[26];
    for (int c; (c = getchar()) != EOF;)
        if (isalpha(c)) counts[tolower(c) - 'a']++;
    for (int letter = 0; letter < 26; letter++) printf("%c %lu\n", 'a' + letter, counts[letter]);
    return 0;
}
