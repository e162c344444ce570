"""What the user wants: the main intent and further ones, from words of both languages and what was named."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from agent.reading.types import Intent

# (intent, weight, words). Weights: 3 says it outright, 2 strongly, 1 hints.
_CUES: tuple[tuple[Intent, float, str], ...] = (
    ("memory", 3, r"多少(?:g|gb)?\s*显存|多大(?:的)?\s*(?:显存|内存|gpu|卡)|显存(?:需要|需求|占用|要|大概|要求|怎么(?:算|估))|how much (?:v?ram|(?:gpu |video )?memory)|how many gbs?|vram (?:need|require|for|usage)|memory (?:need|require|usage|footprint)|(?:估|算).{0,4}显存|显存.{0,6}(?:多少|多大|估)|gb (?:does|do|for|needed)"),
    ("memory", 2.5, r"够(?:吗|不够|用|了吗|么|不|吧|$|[?,.])|够(?=.{0,6}(?:\?|吗|么))|行吗|行不行|能不能(?:跑|放|装|训|做|撑|上)|能(?:跑|放|装|训|做).{0,24}(?:吗|么|\?|$)|跑得(?:动|起来|了)|放得下|装得下|塞得下|带得动|(?<![a-z])fits?(?![a-z])|enough|can (?:i|a|an|it|we|one|the|this|\w+)\s.{0,40}(?:run|fit|hold|train|load|be trained|handle)|doable|is it possible|feasible|will it run|does it run|爆显存|起不来|(?<![a-z])oom|out of memory|显存(?:不够|不足)|possible\?"),
    ("size", 3, r"推荐|建议(?:用|买|选)|用(?:啥|什么|哪[种个款]?)\s*(?:卡|实例|机器|gpu|机型|规格|配置)|选(?:哪|什么|啥|型)|哪[个款种](?:实例|机型|gpu|显卡|卡|规格|配置)|什么(?:卡|实例|机型|规格|配置|gpu|机器)|啥(?:卡|配置|机器|实例)|which (?:\w+ ){0,2}(?:gpu|instance|card|type|machine|server|box|hardware|one should)|what (?:\w+ ){0,2}(?:gpu|instance|card|hardware|box|machine|server|setup|config)|recommend|suggest|what should i (?:buy|rent|use|get)|what do i .{0,12}need|min(?:imum)? (?:gpu|card|hardware|spec)|最低配|怎么(?:规划|配|选)|方案|cheapest (?:\w+ ){0,3}(?:option|way|instance|setup|gpu|box)|最(?:便宜|省|划算)的|配置(?:怎么|如何)|咋弄"),
    ("size", 2.5, r"(?:几|多少)\s*(?:张|块|台|片|个)?\s*(?:卡|gpu|显卡|机器|a\d+|实例|服务器)|要(?:几|多少)(?:张|台|块)|how many (?:\w+ ){0,2}(?:gpus?|cards?|instances?|machines?|nodes?|[a-z]\d+s?)|需要多少(?:算力|卡|gpu|资源)|biggest (?:llm|model)|largest model|how many\??$|多少算力|what model|realistic"),
    ("size", 1.5, r"部署|serve|host(?:ing)?(?![a-z])|deploy|想跑|要跑|想做|need to (?:run|serve|host|train)|want to (?:run|serve|host|train|fine)|i want|我想|我要|planning|打算|搭建"),
    ("speed", 3, r"tok(?:en)?s?\s?/\s?s(?:ec)?|tokens? per sec|吞吐|throughput|多快|how fast|(?:能|可以)?(?:扛|撑|支持|承受|到)(?:几个?|多少)(?:个|路)?\s*(?:并发|人|用户|路|请求)?|并发.{0,6}(?:多少|几)|几秒|多久|how long|eta(?![a-z])|多少(?:天|小时)|几(?:天|小时)|训练(?:时间|速度)|单张几|decode speed|首token|ttft|tpot|how many (?:\w+ ){0,3}(?:users|requests|streams|concurrent|images|req)|p9[059]|latency (?:budget|of|for|target)"),
    ("speed", 1.5, r"(?<![a-z])speed|速度|延迟|latency|faster|slower|更快|更慢|qps|rps|响应|加速|drops?(?![a-z])|实时|real-?time|性能"),
    ("cost", 3, r"多少钱|(?<!性)价(?:格|钱)|费用|报价|(?<![a-z])cost(?:s|ing)?(?![a-z])|(?<![a-z])pric(?:e|es|ing)(?![a-z])|how much (?:is|does|would|do|for|money|will)|一(?:小时|天|个?月|年)多少|quote|贵(?:吗|不贵)|划算|花多少|每百万|per million|tokens? per (?:yuan|dollar)|撑几个?小时|能(?:用|跑|撑)(?:几个|多少)小时"),
    ("cost", 1, r"便宜|expensive|cheap|贵|省钱|预算|budget|够吗.{0,4}$"),
    ("buying", 3, r"(?:抢占|竞价|spot).{0,60}(?:吗|\?|靠谱|回收|怎么|多少合适|如何|安全|可以|能|discount|vanish|convert|warning|guarantee|why|reliab|safe|work)|预留(?:实例)?券|节省计划|savings?\splan|reserved instance|退款|退订|refund|包(?:月|年).{0,10}(?:划算|区别|还是|怎么)|按量(?:转|还是)|(?:包月|包年|按量).{0,4}(?:vs|和|还是|or).{0,4}(?:包月|包年|按量)|停机.{0,10}(?:收费|计费|扣)|出价|bid(?![a-z])|convert .{0,30}subscription|guaranteed|on-?demand or|续费|囤|reclaim|被回收|节省停机|commit(?:ment)?(?![a-z])|stopped? .{0,20}(?:charge|bill)"),
    ("buying", 1.5, r"抢占|竞价|(?<![a-z])spot(?![a-z])|包月|包年|按量|subscription|预留|reserved|pay[-\s]as|折扣|discount"),
    ("compare", 3, r"(?<![a-z])vs\.?(?![a-z])|versus|对比|比较(?!好)|区别|差别|差(?:多少|在哪|距|异)|不一样|哪个(?:更|好|快|便宜|划算|强|合适|适合)|difference|compare|which is (?:better|faster|cheaper)|(?:better|faster|cheaper|slower) than|还慢|还快|比.{0,12}(?:慢|快|强|好|便宜|贵|划算)|多少倍|how much faster"),
    ("lookup", 3, r"specs?(?![a-z])|参数(?:是|表|多少|有哪些)|什么(?:gpu|显卡|卡)(?:的|\?|$)|规格(?:族|名|参数|是|表|有哪些)|what gpu is|对应(?:哪|什么)|几张卡|有几(?:张|块)|多少显存$|多大内存|几核|still (?:exist|sold|available)|还在(?:卖|售)|which (?:\w+ ){0,3}famil|is there an? (?:\w+ ){0,3}(?:gpu|instance)|找(?:一?个|1个|台).{0,20}(?:的|越大)|有(?:没有)?(?:支持|带)|支持.{0,14}吗|does .{0,24}(?:support|have|come with)|显存带宽|多少(?:tflops|带宽|vcpu)|memory bandwidth of|配置(?:是|多少)|详细"),
    ("naming", 3, r"命名|naming|后缀|suffix|prefix|怎么读|什么意思|啥意思|代表什么|是啥意思|stands? for|what does .{0,30} mean|搜不到|找不到(?:这个)?(?:规格|实例)|does .{0,30} exist|存在吗|有这个(?:规格|型号)|(?<![a-z])[xevitgcr](?:是啥|是什么|代表|指什么|是.{0,6}的意思)|字母|干嘛的|怎么理解.{0,6}(?:规格|名)|decode"),
    ("region", 3, r"哪(?:个|些|里|儿)(?:地域|区域|可用区|region|地区|有货|有卖|还有|能买|便宜)|which (?:regions?|zones?)|地域|(?:available|sold|sell|offered|buy) in|买不到|没货|no\s?stock|库存|可用区|zones?(?![a-z])|有货|region|哪里(?:有|能|可以)|where can i|那边的?便宜|across regions|跨地域|in stock|sold out|availability"),
    ("interconnect", 3, r"nv-?link|nv-?switch|nccl|all-?reduce|rdma|infiniband|(?<![a-z])er?dma|多机|两机|双机|跨机|multi-?node|topo|p2p|pci-?e|tp\s?=\s?\d|张量并行|2\s*台.{0,8}tp|互联|interconnect|\d\s*机\s*\d*\s*卡|\d nodes"),
    ("troubleshoot", 3, r"报错|错误|(?<![a-z])errors?(?![a-z])|exception|failed|failure|起不来|启动(?:不了|失败)|崩溃|crash|killed|exit\s?code|xid|not found|找不到(?!.{0,4}(?:规格|实例))|不识别|timeout|timed out|(?<![a-z])hangs?(?![a-z])|hung|卡住|卡死|黑(?:图|屏)|nan(?![a-z])|not compatible|incompatib|could not|unable to|cannot|连不上|掉卡|失败|not working|doesn'?t work|won'?t|异常|segfault|denied|(?:显示|提示)未安装|装不上|不工作|bad nv|掉线|minimum capability|min capability|throttled|不认|no devices|not (?:yet )?initialized|mismatch"),
    ("troubleshoot", 2.5, r"哪里不对|怎么回事|咋回事|咋整|有救|什么原因|啥原因|为(?:什么|啥).{0,16}(?:慢|低|不)|利用率.{0,8}(?:低|为?0|只有|上不去|一会|忽高)|特别慢|慢死|\d(?:\.\d)?\s?[x倍] slower|slows? \d|trains? \d?.{0,4}slower|反而(?:更)?慢|keeps? (?:oom|crash|fail)|where to start|怎么(?:解决|排查|修|办)|排查|debug|what to (?:check|compare)|不对劲|should i stop using|terrible|looks? (?:wrong|throttled)|oom|out of memory|爆显存|throttl"),
    ("howto", 3, r"怎么(?:装|安装|设置|挂载|监控|配置(?!.{0,4}(?:显卡|实例))|部署|用|弄|做|实现|开启|查|看|迁移|备份|连|登录|测|共享|隔离)|如何(?!.{0,8}(?:选|配))|how (?:do|can|should) (?:i|we|you) (?!much|many)|how to|教程|步骤|best practice|能不能装|能装|which driver|driver (?:version|/|for)|哪个驱动|驱动(?:版本|装|选|用)|programmatically|最佳实践|what'?s the (?:best|right) way|where do .{0,30} go|设置成|要不要装|需要装|which one matters|in what order|set ?up|命令|tune|tuning|优化|optimi[sz]e"),
    ("howto", 1.5, r"安装|install|cuda|driver|驱动|docker|容器|编译|disk|云盘|本地盘|checkpoint|oss(?![a-z])|nas(?![a-z])|下载|download|huggingface|带宽|网络|监控|monitor|num_workers|上传|存储|storage|丢(?:吗|失)|terraform"),
)  # fmt: skip
_CUE_PATTERNS = tuple((intent, weight, re.compile(pattern)) for intent, weight, pattern in _CUES)

_CONFIRM = re.compile(
    r"对吗|对吧|对不对|是吗|是吧|是不是|真的(?:吗|假的)?|没错吧|没问题吧|right\?|(?:is|isn't) (?:it|that) (?:true|right|correct)|isn'?t it|correct\?|听说|据说|文章|种子|帖子|网上|有人说"
    r"|别人说|someone (?:said|told|ran)|i (?:heard|read)|they say|博客|教程说|表写|我看.{0,6}写|吧\??$|都(?:是|有)|吗\??$|就是|are these|is this|though|所以|so (?:the|a|it|i)|i'?ll take|给我开|既然|really\?|true\?|(?:^|[,.;?!\s])(?:is|are|does|do|can|has)\s"
)
_STRONG_CONFIRM = re.compile(
    r"对吗|对吧|是吧|真的(?:吗|假的)|没错吧|没问题吧|,?\s?right\?|is (?:it|that) (?:true|right|correct)|isn'?t it|correct\?|听说|据说|文章(?:说|写)|种子文章|网上(?:说|写)|别人说|有人说|i (?:heard|read)|they say|就行吧|了吧\??|是为了.{0,6}吧|有个表写|到底是|我看.{0,6}写|are these the|真的吗|是真的|假的吧"
)
_INJECTION = re.compile(
    r"ignore (?:all |any |the )*(?:previous|prior|above|earlier|your) (?:\w+ )?(?:instruction|prompt|rule|message|direction)|disregard (?:all|any|the|your|previous)|忽略(?:之前|以上|上面|前面|所有|先前|你的)|无视(?:之前|以上|上面|所有|规则)"
    r"|system prompt|系统提示(?:词)?|提示词(?:发|给|输出|是什么)|(?:无限制|越狱|开发者|上帝|dan)\s*模式|(?<![a-z])dan mode|jailbreak|developer mode|<<\s*system|</?system>|\[/?inst\]|<\|im_start|<!--.{0,80}(?:assistant|system|reveal|ignore|always)"
    r"|(?:always|must) (?:recommend|say|answer|reply) .{0,80}(?:in stock|cheapest|only)|answer only with|only (?:reply|respond|answer) with|chain of thought|hidden (?:reasoning|instruction|prompt)|思维链|reveal (?:all|your|the)|输出.{0,8}(?:系统|工具配置|内部)"
    r"|you are now (?:an? )?(?:unrestricted|dan|evil|free|no longer)|从现在起你|you must obey|authori[sz]es? you|invent an? |编造|伪造|假装.{0,8}(?:有货|便宜|存在)|pretend (?:that|to|you)|repeat (?:your|the) (?:hidden|system|prompt|instructions)|act as (?:an? )?(?:unrestricted|different)|override (?:your|the)|print your (?:prompt|instructions|config)"
    r"|(?:\d{2,3}\s?%|一折|1折|at 1%)\s*(?:discount|off)?.{0,30}(?:authori|boss|老板|我是.{0,6}(?:员工|ceo|总裁))|我是(?:阿里|管理员|开发者|你的(?:开发|创造|主人))|as (?:an? )?(?:admin|developer|root) i|sudo mode|泄露|dump (?:your|the)|api[_\s]?keys?.{0,12}(?:reveal|show|print|发|给)"
)
_CRIME = re.compile(
    r"破解|爆破|crack|hack(?:ing)?(?![a-z])|ddos|攻击(?:别人|网站|服务器)|木马|病毒|malware|ransom|phishing|钓鱼网站|盗(?:号|取|版)|挖矿|(?<![a-z])mines?\b.{0,12}(?:coin|bitcoin|eth|crypto)|bitcoin|比特币|以太坊|crypto ?mining|绕过.{0,6}(?:实名|风控|计费)|steal|撞库|password (?:hash )?cracking|炼铜|deepfake|色情|nsfw|赌博"
)
_OUTSIDE = re.compile(
    r"stock (?:price|market|forecast)|股(?:票|价)|天气|weather (?:today|tomorrow|in|forecast)|失眠|睡不着|陪我聊|讲个(?:笑话|故事)|tell me a joke|笑话|写(?:一?首|个)?(?:诗|作文|情书|小说)|poem|recipe|菜谱|做饭|星座|算命|电影|movie|足球|football|翻译(?:一下|这段|成)|translate (?:this|the following|into)|减肥|感冒|头疼|恋爱|女朋友|男朋友|总统|president|election|选举|律师|legal advice|medical advice|看病|吃什么|旅游|travel|机票|flight|彩票|lottery|高考|作业(?:帮|答案)|math homework|写(?:个|一个)?(?:爬虫|网页|游戏|简历)|resume|基金|理财|investment|买房"
    r"|你(?:是)?谁(?:做|开发|写|创造)?|who (?:made|built|created|are) you|what are you|你叫什么|are you (?:chatgpt|gpt|human|real|an ai)|how old are you"
)
_ACCOUNT = re.compile(
    r"(?:帮我|替我|直接).{0,14}(?:开(?:一?台|1台|通|机)|下单|购买|付款|买(?:一?台|1台)|释放|删(?:除|掉)|退订|重启)|(?:place|make) (?:the |an? )?(?:order|purchase)|buy it for me|(?:create|launch|start|stop|delete) .{0,20}(?:in|on|from) my account|log ?in to my|密码(?:给|是|发)|my password|access ?key(?: is|:|给)|账号(?:密码|里)"
)
_GREETING = re.compile(
    r"^\W*(?:hi+|hello|hey|yo|你好|您好|哈喽|嗨|hola|good (?:morning|afternoon|evening|day)|早上?好|下午好|晚上好|在吗|在么|在不|有人吗|thanks?(?: you)?(?: (?:a lot|so much|very much))?|thx|多谢|谢谢(?:你|您|啦|了)?|感谢|ok(?:ay)?|好的|收到|明白了?|bye|再见|拜拜|nice|great|cool|棒|厉害|help|帮助|你能做什么|你会什么|what can you do\??|who is this)(?:\s*(?:there|啊|呀|呢|吗|[!.,~?]|你好|everyone|大家好|bot|助手))*\W*$"
)
_RESET = re.compile(
    r"^\W*(?:(?:我们|咱们?|那)?(?:重新(?:来|开始|问|算)(?:过|吧|一次)?|重来(?:一次|吧)?|从头(?:来|开始)(?:吧)?|清空(?:对话|历史|上下文)?|重置(?:对话|一下)?|忘(?:掉|了)(?:前面|之前|刚才|上面)(?:的|说的)?(?:吧|内容)?|换个(?:问题|话题)|不算了重来)|(?:please |let'?s |ok(?:ay)?,? )?(?:start (?:over|again|fresh|anew)|reset(?: (?:everything|the conversation|chat|all))?|forget (?:everything|all that|that|it|what i said|the above)|new (?:conversation|topic|question|chat)|clear (?:all|everything|history|context|the chat)|scratch that|begin again))\W*$"
)
_OURS = re.compile(
    r"(?<!不用)(?<!不用 )(?<!不要)(?:阿里|alibaba|aliyun)|(?<![a-z])ecs(?![a-z])|抢占|(?:[a-z]{1,3})?gn\d"
)
_DOMAIN = re.compile(
    r"gpu|显卡|显存|(?<!信用)卡|vram|instance|实例|服务器|server|机器|算力|模型|model|训练|train|推理|inference|cuda|阿里云|alibaba|aliyun|ecs|云|cloud|部署|deploy|ai(?![a-z])|大模型|llm|nvidia|英伟达|\d\s*gb?(?![a-z])|机型|规格|主机|深度学习|deep learning|pytorch|集群|cluster|并发|token|资源|配置|便宜|性价比|budget|预算|稳定|慢|slow|磁盘|disk|带宽|bandwidth|docker|linux|ssh|驱动|driver"
)


@dataclass(frozen=True)
class Seen:
    """What a turn (or the whole conversation) names, for weighing the words."""

    models: int = 0
    params: bool = False
    gpus: int = 0
    instances: int = 0  # types and families, real or not
    phantoms: int = 0
    regions: int = 0
    budget: bool = False
    load: bool = False  # tokens, concurrency, users, rates
    task: str = ""
    method: bool = False
    claims: tuple[str, ...] = ()
    topics: frozenset[str] = field(default_factory=frozenset)
    pasted: str = ""
    errors: bool = False
    amounts: int = 0

    @property
    def workload(self) -> bool:
        return bool(self.models or self.params or self.task)

    @property
    def anything(self) -> bool:
        return bool(
            self.workload
            or self.gpus
            or self.instances
            or self.regions
            or self.budget
            or self.load
            or self.topics
        )


def special_intent(text: str, seen: Seen) -> Intent | None:
    """Intents that need no weighing: empty, reset, greeting, injection, out of scope."""
    if not re.search(r"[a-z0-9一-鿿぀-ヿ가-힯а-яà-ÿ]", text):
        return None if seen.pasted else "empty"
    if _RESET.match(text):
        return "reset"
    if _GREETING.match(text):
        return "greeting"
    if _INJECTION.search(text) and not (_OUTSIDE.search(text) and not seen.anything):
        return "injection"
    if _CRIME.search(text) or "mining" in seen.topics:
        return "out_of_scope"
    if _ACCOUNT.search(text) and re.search(r"密码|账号|password|my account|access ?key|付款|下单", text):
        return "out_of_scope"
    if _OUTSIDE.search(text) and not (
        seen.models
        or seen.gpus
        or seen.instances
        or (seen.task and seen.task != "inference" and seen.task != "hpc")
    ):
        return "out_of_scope"
    if "other_cloud" in seen.topics and not _OURS.search(text):
        return "out_of_scope"
    return None


def in_domain(text: str) -> bool:
    return bool(_DOMAIN.search(text))


def weigh(text: str, seen: Seen) -> list[tuple[Intent, float]]:
    """Intents with their weights, heaviest first; empty when the words say nothing."""
    weights: dict[Intent, float] = {}
    for intent, weight, pattern in _CUE_PATTERNS:
        if pattern.search(text):
            weights[intent] = weights.get(intent, 0.0) + weight
    _adjust(weights, text, seen)
    ranked = [(intent, weight) for intent, weight in weights.items() if weight >= 1]
    return sorted(ranked, key=lambda item: (-item[1], _ORDER.index(item[0])))


_ORDER: tuple[Intent, ...] = (
    "claim", "troubleshoot", "naming", "buying", "region", "compare", "interconnect", "memory", "speed", "size", "cost", "lookup",
    "howto",
)  # fmt: skip


def _adjust(weights: dict[Intent, float], text: str, seen: Seen) -> None:
    """What was named shifts the weights: a price needs a type, a memory question a model."""

    def add(intent: Intent, weight: float) -> None:
        weights[intent] = weights.get(intent, 0.0) + weight

    if seen.models or seen.params:
        for intent in ("memory", "size", "speed"):
            if intent in weights:
                add(intent, 1.5)
        if "memory" in weights and "troubleshoot" in weights and not seen.errors:
            add("troubleshoot", -2.5)
        add("lookup", -2)
        if seen.budget or seen.load:
            add("size", 2)
        if not weights.keys() & {
            "memory",
            "size",
            "speed",
            "cost",
            "compare",
            "troubleshoot",
            "howto",
            "buying",
            "interconnect",
        }:
            add("size", 1.5)
    elif seen.instances or seen.gpus:
        if "memory" in weights and not seen.workload and "oom" not in seen.topics:
            add("memory", -1.5)
    if seen.budget and not seen.claims:
        add("size", 2.5)
    if seen.gpus >= 2 or seen.instances >= 2 or (seen.gpus and seen.instances):
        if "compare" in weights or re.search(r"(?<![a-z])or(?![a-z])|还是|和|vs", text):
            add("compare", 1)
    elif "compare" in weights:
        add("compare", -1)
    if seen.instances and "lookup" in weights:
        add("lookup", 1)
    if seen.phantoms:
        add("naming", 2)
    if seen.amounts and "cost" in weights and (seen.gpus or seen.instances):
        add("cost", 0.5)
    if seen.pasted in ("log", "nvidia_smi") or seen.errors:
        add("troubleshoot", 4)
    if seen.pasted == "config":
        add("memory", 2)
    _weigh_claim(weights, text, seen)


def _weigh_claim(weights: dict[Intent, float], text: str, seen: Seen) -> None:
    wrong = [code for code in seen.claims if code not in _SOFT]
    if wrong and _STRONG_CONFIRM.search(text):
        weights["claim"] = 9
    elif any(code in _HARD for code in wrong):
        weights["claim"] = 6
    elif wrong and _CONFIRM.search(text):
        weights["claim"] = 4
    elif _STRONG_CONFIRM.search(text) and (seen.gpus or seen.instances or seen.topics):
        weights["claim"] = 4.5


# Premises that a question may touch without asserting them; alone they make no claim.
_SOFT = {
    "price_stated", "gpu_not_sold", "bid_is_price", "spot_notice", "spot_converts", "spot_disk_discount", "spot_for_production",
    "reserved_guarantees_stock", "stopped_is_free", "claim-070", "claim-033", "ram_offload_runs_it", "claim-014", "claim-060",
    "vram_pools_across_gpus", "t4_cheaper_than_a10", "claim-045", "fp64_on_graphics_gpu", "claim-081", "claim-052", "claim-043",
    "claim-088", "claim-057", "claim-074", "nvlink_on_gn7i", "model_too_big_for_card", "moe_active_memory", "claim-048", "claim-049",
    "claim-005", "bf16_on_volta_turing", "claim-078", "phantom_family", "suffix_is_gpu_name", "claim-083", "claim-040", "fp8_on_volta_turing",
    "claim-069", "claim-085", "smi_cuda_is_driver_limit", "claim-046", "phantom_type", "claim-015", "fp8_on_ampere", "claim-016",
}  # fmt: skip
# Premises that need correcting whatever else is asked.
_HARD = {
    "g6_not_gpu", "host_memory_is_not_vram", "spot_discontinued", "wrong_family_architecture", "wrong_family_gpu", "claim-036",
    "claim-034", "claim-035", "claim-082", "claim-084", "claim-025", "claim-026", "claim-029", "claim-030", "claim-001", "claim-055",
}  # fmt: skip
