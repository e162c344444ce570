"""The stable topic tags of a question, and the words of both languages that stand for them."""

from __future__ import annotations

import re

from agent.reading.words import Words

_TOPICS = {
    "spot": r"抢占|竞价|(?<![a-z])spot(?![a-z])|preempt|被回收|reclaim",
    "subscription": r"包月|包年|年付|月付|subscription|预付费|prepaid|续费|囤.{0,4}年",
    "payg": r"按量|按需付|pay[-\s]?as[-\s]?you|payg|on[-\s]?demand|后付费",
    "reserved": r"预留实例|预留券|预留省|reserved|reservation|(?<![a-z])ri(?![a-z])",
    "savings_plan": r"节省计划|savings?\splan",
    "economical_mode": r"节省停机|停机不收费|economical|stop\w*\s(?:charg|bill|without)|停机(?:后)?(?:还)?(?:收费|计费|扣费)|关机.{0,6}(?:收费|计费|扣费|扣钱)|stopped instance|shut.{0,12}(?:charge|bill)",
    "refund": r"退款|退订|refund|unsubscribe|cancel\w* (?:my |the )?subscription",
    "promotion": r"双十?一|双11|618|活动价|优惠|折扣|discount|promotion|coupon|代金券|学生",
    "stock": r"库存|没货|无货|抢不到|买不到|售罄|nostock|no stock|sold out|out of stock|stock(?! (?:price|market))|availab|有货|缺货|capacity|guarantee",
    "quota": r"配额|quota|额度|工单申请|limit increase",
    "nvlink": r"nv-?link|nv-?switch",
    "pcie": r"pci-?e|p2p|peer[-\s]to[-\s]peer",
    "rdma": r"rdma|infiniband|(?<![a-z])ib(?![a-z])|roce|(?<![a-z])er[di](?:ma)?(?![a-z])",
    "multi_node": r"多机|跨机|两机|\d\s*机|多节点|multi-?node|\d+\s*nodes|\d+\s*台.{0,10}(?:训练|tp|做)|两台|across (?:nodes|machines)|分布式|distributed",
    "nccl": r"nccl|all-?reduce|all-?gather",
    "ecc": r"(?<![a-z])ecc(?![a-z])|xid|row remap|显存纠错",
    "bf16": r"bf16|bfloat16",
    "fp8": r"fp8|float8|e4m3",
    "fp64": r"fp64|双精度|double precision",
    "quantization": r"量化|quanti[sz]|int4|int8|awq|gptq|gguf|nf4|4\s?-?bit|8\s?-?bit",
    "moe": r"(?<![a-z])moe(?![a-z])|混合专家|\d+b-a\d+b|激活参数|active param|experts?(?![a-z])|\d+b active",
    "kv_cache": r"kv\s?cache|kv缓存|kv cache",
    "oom": r"(?<![a-z])oom(?:s|ing|ed)?(?![a-z])|out of memory|爆显存|显存(?:不够|不足|溢出|爆)|cuda out|显存炸|炸显存|exit\s?code\s?-?(?:9|137)|killed",
    "driver": r"驱动|driver|nvidia-smi",
    "cuda": r"cuda|cudnn|nvcc",
    "pytorch": r"pytorch|torch",
    "tensorflow": r"tensorflow|(?<![a-z])tf\d?(?![a-z\d])",
    "docker": r"docker|容器|container|kubernetes|k8s|(?<![a-z])ack(?![a-z])|镜像仓库",
    "image": r"镜像|(?<![a-z])image id|os image|公共镜像|自定义镜像|custom image|centos|ubuntu",
    "install": r"安装|装(?:了|好|个|驱动|不上)|install|编译|compile|build",
    "storage": r"云盘|本地盘|磁盘|硬盘|存储|nvme|ssd|essd|(?<![a-z])nas(?![a-z])|cpfs|(?<![a-z])oss(?![a-z])|storage|disk|checkpoints?|快照|snapshot",
    "local_disk": r"本地盘|本地(?:的)?\s*nvme|nvme|local (?:disk|ssd|nvme|storage)",
    "checkpoint": r"checkpoint|断点|ckpt|检查点",
    "network": r"带宽|网络|network|bandwidth|公网|内网|eip|流量|egress|下载|download|拉模型|镜像站|上传|跨地域|跨区|transfer",
    "download": r"拉模型|下载模型|下载(?:权重|太慢|很慢)|huggingface|hf-mirror|modelscope|魔搭|镜像站|download",
    "dataloader": r"dataloader|num_workers|数据加载|data loading|读数据|io瓶颈|(?:云盘|磁盘|disk).{0,10}瓶颈",
    "utilisation": r"gpu[-\s]?util|利用率|utili[sz]ation|占用率|100\s?%|一会.{0,6}一会",
    "monitoring": r"监控|monitor|dcgm|云监控|nvtop|告警|alarm|watch (?:gpu|usage)|prometheus|grafana",
    "profiling": r"nsight|profil|瓶颈|bottleneck",
    "slow": r"很?慢|slow|拖|卡顿|lag|变慢|慢\d|掉速|drops?(?![a-z])|不快|no faster|worse",
    "vgpu": r"vgpu|切片|(?<![a-z])slice|共享(?:一张|gpu)|分片|vgn|sgn|虚拟化gpu|gpu虚拟化|1/[248]\s?(?:张|卡|a10|gpu)",
    "mig": r"(?<![a-z])mig(?![a-z])",
    "cgpu": r"cgpu|(?<![a-z])mps(?![a-z])|gpu隔离|显存隔离|cgroup|time-?slic",
    "grid": r"grid(?![a-z])|vws|虚拟工作站|license|授权|许可证",
    "bare_metal": r"裸金属|bare[-\s]?metal|ebm|神龙",
    "naming": r"命名|naming|后缀|前缀|suffix|prefix|什么意思|代表(?:什么)?|怎么读|stand for|字母|mean(?:ing|s)?(?![a-z])",
    "hbm": r"hbm|gddr|显存带宽|memory bandwidth|带宽",
    "architecture": r"架构|architecture|ampere|(?<![a-z])ada(?![a-z])|hopper|volta|turing|pascal|blackwell|安培|图灵|伏特|帕斯卡",
    "pai": r"(?<![a-z])pai(?![a-z])|(?<![a-z])dsw(?![a-z])|(?<![a-z])dlc(?![a-z])|(?<![a-z])eas(?![a-z])|百炼|灵骏|dashscope|model studio|serverless|函数计算",
    "api_instead": r"按token|per token|api调用|token计费|api (?:price|cost)",
    "terraform": r"terraform|hcl|(?<![a-z])iac(?![a-z])",
    "cli": r"aliyun cli|(?<![a-z])cli(?![a-z])|openapi|sdk|命令行|programmatic|api(?![a-z])|脚本",
    "security_group": r"安全组|security group|ssh|端口|port(?!able)|firewall|登录|连不上|密钥对|key pair",
    "resize": r"变配|升配|降配|升级配置|变更规格|换规格|upsize|resize|upgrade|downgrade|downsize|change (?:the )?instance type",
    "migration": r"迁移|migrat|跨可用区|换地域|move (?:my|the)? ?(?:instance|data)",
    "autoscale": r"弹性伸缩|auto-?scal|自动扩|扩缩容|定时(?:启停|开关机)|scale (?:to|up|down)",
    "parallel": r"tensor[-\s]parallel|(?<![a-z])tp\s?=?\s?\d|张量并行|流水线并行|pipeline parallel|数据并行|data parallel|(?<![a-z])(?:ddp|fsdp|deepspeed)(?![a-z])|zero-?[123]|megatron",
    "offload": r"offload|卸载到|cpu\s?(?:内存|ram)|系统内存|内存(?:升|加)",
    "mfu": r"(?<![a-z])mfu(?![a-z])|算力利用率",
    "compliance": r"sla|99\.9|高可用|保障|稳定",
    "cpu_memory": r"vcpu|num_workers|(?:cpu|内存)(?:不够|瓶颈|核|配比)|host memory|cpu cores?|主机内存|(?<![a-z])ram(?![a-z])",
    "burstable": r"突发性能|burstable|t[56]实例|cpu积分|cpu credit",
    "mining": r"挖矿|mining|bitcoin|ethereum|(?<![a-z])mine[sr]?(?![a-z])|比特币|以太坊",
    "other_cloud": r"(?<![a-z])aws(?![a-z])|azure|(?<![a-z])gcp(?![a-z])|google cloud|腾讯云|华为云|火山引擎|autodl|runpod|lambda labs|vast\.ai|(?<![a-z])p[45]d(?![a-z])|ecs\.p\d|百度云|金山云|coreweave",
    "amd": r"(?<![a-z])amd(?![a-z])|rocm|mi3\d\d",
    "domestic_chip": r"昇腾|ascend|寒武纪|海光|国产(?:卡|gpu|芯片)|平头哥|ppu|含光",
    "arm": r"(?<![a-z])arm(?![a-z])|倚天|yitian|graviton",
    "compute_capability": r"compute capability|sm_?\d{2,3}|min(?:imum)? capability|算力版本",
    "flops": r"flops|算力|tops(?![a-z])",
    "latency": r"延迟|时延|latency|ttft|tpot|首token|首字|响应",
    "throughput": r"吞吐|throughput|tok(?:en)?s?\s?/\s?s|tokens per second|每秒.{0,4}token|qps|rps|并发",
    "agent_rag": r"(?<![a-z])rag(?![a-z])|ragflow|dify|fastgpt|知识库|langchain|向量库",
}  # fmt: skip
_PATTERNS = {name: re.compile(pattern) for name, pattern in _TOPICS.items()}


def find_topics(words: Words) -> list[str]:
    """Topic tags in the order of the table above."""
    return [name for name, pattern in _PATTERNS.items() if pattern.search(words.plain)]


def matches_topic(name: str, text: str) -> bool:
    return bool(_PATTERNS[name].search(text))
