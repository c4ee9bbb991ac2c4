#!/bin/sh
# Builds the programs for teaching: a directory for each topic, the executable beside its source.
# usage: build.sh CC [AS LD]    CC: a GCC for x86-64; AS, LD: binutils for IA-64, such as ia64-linux-gnu-as
set -eu
cd "$(dirname "$0")"
flags='-O2 -g1 -ffreestanding -fno-builtin -nostdlib -static -fno-pie -no-pie -fno-stack-protector -fno-tree-vectorize'
flags="$flags -fno-asynchronous-unwind-tables -Wl,--build-id=none"
for source in */*.c; do
    "$1" $flags -ffile-prefix-map="$PWD/=" -I../rt -o "${source%.c}" ../rt/start-x86_64.S "$source" ../rt/rt.c -lgcc
done
if [ $# -ge 3 ]; then
    for source in */*.s; do
        "$2" -o "${source%.s}.o" "$source"
        "$3" -static -o "${source%.s}" "${source%.s}.o"
        rm "${source%.s}.o"
    done
fi
