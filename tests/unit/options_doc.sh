#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# docs/options.md is what the tables of options say.
set -u
cd "$(dirname "$0")/../.." || exit 1
made=${BUILD:-$PWD/build}/gen/options.md

if differs=$(diff "$made" docs/options.md 2>&1) && [ "$(grep -c '^| `--' docs/options.md)" -ge 40 ]; then
    echo 'ok - docs/options.md is what the tables of options say'
else
    echo "not ok - docs/options.md is what the tables of options say: $(head -n 3 <<<"$differs" | tr '\n' ' '): copy $made"
fi
