"""What runs inside the environment of each peer: JSON requests on stdin, one JSON answer (or null) a line."""

from __future__ import annotations

RIDGEPOINT = """
import json, sys
from ridgepoint import _core
for line in sys.stdin:
    q = json.loads(line)
    try:
        answer = json.loads(_core.fit_shape(*q["shape"], q["gpu"], q["count"], "vllm", q["dtype"], q["kv"],
                                            q["context"], min(2048, q["context"]), True))
        print(json.dumps({"weights": answer["memory"]["weights_bytes"]["best"],
                          "pool": answer["memory"]["kv_pool_bytes"]["best"],
                          "per_token": answer["capacity"]["bytes_per_seq"] / q["context"]}))
    except Exception:
        print("null")
"""
LLMFIT = """
import json, shutil, subprocess, sys, pathlib
tool = str(pathlib.Path(sys.executable).parent / "llmfit")
for line in sys.stdin:
    q = json.loads(line)
    command = [tool, "plan", q["model"], "--context", str(q["context"]), "--quant", q["quant"], "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        answer = json.loads(done.stdout)
        print(json.dumps({"weights": answer["disk_size_gb"] * 1e9,
                          "total": answer["minimum"]["vram_gb"] * 1e9}))
    except Exception:
        print("null")
"""
# hf-mem reads a config.json and the headers of the safetensors files from the hub. Here it is handed both: a
# config with the catalog's dimensions and one header of the published parameter count. What it makes of them,
# its cache formula above all, is its own.
HF_MEM = """
import json, sys
from hf_mem.safetensors.kv_cache import compute_safetensors_kv_cache_size
from hf_mem.safetensors.metadata import parse_safetensors_metadata
for line in sys.stdin:
    q = json.loads(line)
    try:
        tensors = {"model.weight": {"dtype": q["dtype"], "shape": [q["parameters"]], "data_offsets": [0, 0]}}
        found = parse_safetensors_metadata({"Transformer": tensors})
        size = compute_safetensors_kv_cache_size(q["config"], q["kv"], q["context"], q["batch"])
        print(json.dumps({"weights": found.bytes_count, "per_token": size / q["context"] / q["batch"],
                          "total": found.bytes_count + size}))
    except Exception:
        print("null")
"""
# accelerate estimate-memory builds the model class of a hub id without weights and sums its tensors. The hub
# is answered for here by a local folder that holds a config of the catalog's dimensions.
ACCELERATE = """
import json, pathlib, sys, tempfile, types
from accelerate.commands import estimate
from accelerate.utils import calculate_maximum_sizes
estimate.verify_on_hub = lambda *_: types.SimpleNamespace(config={}, library_name="transformers")
printed, sys.stdout = sys.stdout, sys.stderr
share = {"float16": 2, "int8": 4, "int4": 8}
for line in sys.stdin:
    q = json.loads(line)
    try:
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "config.json").write_text(json.dumps(q["config"]))
            model = estimate.create_empty_model(folder, library_name="transformers")
        total = calculate_maximum_sizes(model)[0] / share[q["dtype"]]
        print(json.dumps({"weights": total, "total": 1.2 * total}), file=printed)
    except Exception as error:
        print(type(error).__name__, error, file=sys.stderr)
        print("null", file=printed)
"""
