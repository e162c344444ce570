#!/usr/bin/env bash
# The browser tests need a Chromium and a font with Chinese characters. Debian and Ubuntu: installed when root;
# elsewhere this says what to install.
set -euo pipefail

have_browser() { command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; }
have_fonts() { command -v fc-list >/dev/null && [ -n "$(fc-list :lang=zh family 2>/dev/null | head -n 1)" ]; }

if have_browser && have_fonts; then exit 0; fi
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends chromium fontconfig fonts-noto-cjk fonts-noto-color-emoji >/dev/null
fi
if ! have_browser; then
    echo "The browser tests need Chromium. Install it, for example: sudo apt-get install chromium fonts-noto-cjk" >&2
    exit 1
fi
