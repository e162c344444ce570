#!/usr/bin/env bash
# Load and hostile input on the service as `make run` starts it: 50 users for two minutes, 20,000 requests.
set -euo pipefail
cd "$(dirname "$0")/.."
port=${PORT:-7861}
state=$(mktemp -d)
export STATE_DIR=$state HOST=127.0.0.1 PORT=$port GRADIO_ANALYTICS_ENABLED=False ALIBABA_CLOUD_ECS_METADATA_DISABLED=true
.venv/bin/python -m retrieval build
.venv/bin/python app.py >"$state/app.log" 2>&1 &
app=$!
trap 'kill "$app" 2>/dev/null; wait "$app" 2>/dev/null || true; rm -rf "$state"' EXIT
for _ in $(seq 120); do
    curl -sf "http://127.0.0.1:$port/readyz" >/dev/null && break
    kill -0 "$app" || { tail -n 20 "$state/app.log"; exit 1; }
    sleep 1
done
.venv/bin/python -m benchmarks.load "http://127.0.0.1:$port" --users 50 --seconds "${SECONDS_OF_LOAD:-120}" --pid "$app"
.venv/bin/python -m benchmarks.fuzz "http://127.0.0.1:$port" --count "${REQUESTS:-20000}"
