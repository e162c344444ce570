// The frame: asks the API of its own origin, shows the answer as it comes, hands over to a person.
import { markdown } from "./markdown.js";

const query = new URLSearchParams(location.search);
const base = new URL("./", location.href).href; // ".../embed" -> ".../"
const site = query.get("site") || "";
const zh = /^zh/i.test(query.get("lang") || navigator.language);
const WORDS = {
  en: {
    title: "GPU sizing assistant", close: "Close", label: "Your question", send: "Send", stop: "Stop",
    hint: "A model and a load, an instance type, an error message …", you: "You", it: "Assistant",
    working: "Working …", done: "Answer complete.", busy: "Many people are asking; please try again in a moment.",
    fault: "The assistant cannot be reached now.", refused: "This page may not use the assistant.", up: "Helpful", down: "Not helpful", thanks: "Thank you.",
    comment: "What was wrong?", person: "Talk to a person", handover: "Send this conversation to a person",
    contact: "How can we reach you? (mail or phone)", more: "Anything to add?", cancel: "Cancel", sent: "A person will get in touch with you.",
    examples: ["Llama-3-70B inference, 50 CNY/hour", "Does Qwen2.5-14B fit on one A10?", "nvidia-smi cannot talk to the driver"],
  },
  zh: {
    title: "GPU 选型助手", close: "关闭", label: "您的问题", send: "发送", stop: "停止",
    hint: "模型与负载、实例规格、报错信息……", you: "您", it: "助手",
    working: "计算中……", done: "回答完毕。", busy: "提问较多，请稍后再试。",
    fault: "暂时无法连接助手。", refused: "此页面无权使用助手。", up: "有帮助", down: "没帮助", thanks: "谢谢。",
    comment: "哪里不对？", person: "转人工", handover: "把本次对话发给人工客服",
    contact: "怎么联系您？（邮箱或电话）", more: "还有要补充的吗？", cancel: "取消", sent: "人工客服会联系您。",
    examples: ["Llama-3-70B 推理，每小时 50 元以内", "Qwen2.5-14B 一张 A10 放得下吗", "nvidia-smi 连不上驱动"],
  },
};
const words = WORDS[zh ? "zh" : "en"];
const at = (id) => document.getElementById(id);
const talk = []; // the conversation: it lives here and travels with every question
let context = {};
let visit = null;
let running = null;

// The page around the frame. Its origin is what the browser says, never what the page says.
let embedder = location.ancestorOrigins?.[0] || (document.referrer && new URL(document.referrer).origin) || "";
const framed = window.parent !== window;
const tell = (message, target = embedder) => framed && target && window.parent.postMessage(message, target);

async function call(path, body, signal) {
  if (site && !visit) visit = await openVisit();
  const headers = { "Content-Type": "application/json" };
  if (visit) headers.Authorization = `Bearer ${visit.token}`;
  const reply = await fetch(base + path, { method: "POST", headers, body: JSON.stringify(body), signal });
  if (reply.status === 401 && visit) {
    visit = await openVisit(); // a visit lasts at most 15 minutes
    headers.Authorization = `Bearer ${visit.token}`;
    return fetch(base + path, { method: "POST", headers, body: JSON.stringify(body), signal });
  }
  return reply;
}

async function openVisit() {
  const reply = await fetch(`${base}api/v1/visits`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ site, embedder }),
  });
  if (!reply.ok) throw new Error(reply.status === 403 ? words.refused : reply.status === 429 ? words.busy : words.fault);
  const opened = await reply.json();
  at("person").hidden = !opened.handover;
  return opened;
}

async function* eventsOf(reply) {
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ""; ; ) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const name = /^event: (.*)$/m.exec(part)?.[1];
      const data = /^data: (.*)$/m.exec(part)?.[1];
      if (name && data) yield [name, JSON.parse(data)];
    }
  }
}

function bubble(role, ...nodes) {
  const made = document.createElement("article");
  made.className = role;
  const who = document.createElement("span");
  who.className = "unseen";
  who.textContent = `${role === "user" ? words.you : words.it}: `;
  made.append(who, ...nodes);
  at("log").append(made);
  at("log").scrollTop = at("log").scrollHeight;
  return made;
}

async function ask(text) {
  document.querySelector(".suggestions")?.remove();
  talk.push({ role: "user", content: text });
  bubble("user", text);
  const shown = bubble("assistant");
  const who = shown.firstChild;
  let answer = "";
  let coming = 0; // the next drawing, if one is due
  const draw = () => {
    cancelAnimationFrame(coming);
    coming = 0;
    shown.replaceChildren(who, ...markdown(answer));
    follow();
  };
  // The view follows the text until the answer's first line is at the top: that line is what was asked for. A
  // reader who scrolls is left alone.
  let placed = at("log").scrollTop;
  const follow = () => {
    const log = at("log");
    if (Math.abs(log.scrollTop - placed) > 4) return;
    log.scrollTop = Math.min(log.scrollHeight - log.clientHeight, shown.offsetTop - log.offsetTop - 8);
    placed = log.scrollTop;
  };
  running = new AbortController();
  setBusy(true);
  try {
    const reply = await call("api/v1/chat", { messages: talk, stream: true }, running.signal);
    if (!reply.ok) throw new Error(reply.status === 429 || reply.status === 503 ? words.busy : words.fault);
    for await (const [name, data] of eventsOf(reply)) {
      if (name === "token") answer += data.text;
      else if (name === "failed") throw new Error(data.text);
      else if (name === "answer") {
        answer = data.text;
        talk.push({ role: "assistant", content: answer });
        draw();
        shown.append(thumbs(data.id));
        follow();
        at("status").textContent = words.done;
        return;
      }
      coming ||= requestAnimationFrame(draw);
    }
    throw new Error(words.fault); // the stream broke off before the answer
  } catch (error) {
    talk.pop();
    if (error.name === "AbortError") at("status").textContent = "";
    else at("status").textContent = error instanceof TypeError ? words.fault : error.message;
    if (!answer) shown.remove();
    if (!at("question").value) at("question").value = text; // nothing typed is lost
  } finally {
    running = null;
    setBusy(false);
  }
}

function thumbs(answerId) {
  const box = document.createElement("div");
  box.className = "tools";
  let last = Promise.resolve(); // one after the other: a comment never overtakes its thumb
  const vote = (rating, comment = "") => (last = last.then(() => keep(rating, comment)));
  const keep = async (rating, comment) => {
    at("status").textContent = "";
    const reply = await call("api/v1/feedback", { answer_id: answerId, rating, comment }).catch(() => null);
    at("status").textContent = reply?.ok ? words.thanks : reply?.status === 429 ? words.busy : words.fault;
    return Boolean(reply?.ok);
  };
  for (const [rating, sign] of [["up", "👍"], ["down", "👎"]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = sign;
    button.setAttribute("aria-label", words[rating]);
    button.addEventListener("click", () => {
      vote(rating);
      box.replaceChildren();
      if (rating === "down") box.append(commentForm(async (comment) => (await vote("down", comment)) && box.remove()));
    });
    box.append(button);
  }
  return box;
}

function commentForm(done) {
  const form = document.createElement("form");
  const input = document.createElement("input");
  input.maxLength = 2000;
  input.placeholder = words.comment;
  input.setAttribute("aria-label", words.comment);
  form.append(input);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (input.value.trim()) done(input.value.trim());
  });
  requestAnimationFrame(() => input.focus());
  return form;
}

function setBusy(busy) {
  at("send").textContent = busy ? words.stop : words.send;
  if (busy) at("status").textContent = words.working;
  at("log").setAttribute("aria-busy", String(busy));
}

async function handOver() {
  const body = { messages: talk, comment: at("comment").value, contact: at("contact").value, context };
  try {
    const reply = await call("api/v1/handover", body);
    if (!reply.ok) throw new Error();
    const { id } = await reply.json();
    at("status").textContent = words.sent;
    tell({ type: "gsa:handover", id, transcript: talk, context });
  } catch {
    at("status").textContent = words.fault;
  }
}

function listen() {
  at("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    if (running) return running.abort();
    const text = at("question").value.trim();
    if (!text) return;
    at("question").value = "";
    ask(text);
  });
  at("question").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      if (!running) at("ask").requestSubmit();
    }
  });
  document.addEventListener("keydown", (event) => event.key === "Escape" && !at("handover").open && tell({ type: "gsa:close" }));
  at("close").addEventListener("click", () => tell({ type: "gsa:close" }));
  at("person").addEventListener("click", () => at("handover").showModal());
  at("handover").addEventListener("close", () => at("handover").returnValue === "send" && handOver());
  window.addEventListener("message", (event) => {
    if (event.source !== window.parent || !framed) return;
    const message = event.data || {};
    if (message.type === "gsa:hello") embedder = event.origin;
    else if (event.origin !== embedder) return;
    else if (message.type === "gsa:focus") at("question").focus();
    else if (message.type === "gsa:ask") at("question").value = String(message.text).slice(0, 24000); // the visitor sends it
    else if (message.type === "gsa:context")
      context = Object.fromEntries(Object.entries(message.context || {}).slice(0, 20).map(([key, value]) => [key.slice(0, 50), String(value).slice(0, 500)]));
  });
}

function dress() {
  document.documentElement.lang = zh ? "zh-CN" : "en";
  if (["light", "dark"].includes(query.get("theme"))) document.documentElement.dataset.theme = query.get("theme");
  if (/^#[0-9a-f]{3,8}$/i.test(query.get("color") || "")) document.documentElement.style.setProperty("--accent", query.get("color"));
  document.title = words.title;
  const texts = {
    title: words.title, close: words.close, label: words.label, person: words.person, "handover-title": words.handover,
    "contact-label": words.contact, "comment-label": words.more, "handover-send": words.send, "handover-cancel": words.cancel,
  };
  for (const [id, text] of Object.entries(texts)) at(id).textContent = text;
  at("question").placeholder = words.hint;
  at("close").hidden = !framed;
  const box = document.createElement("div");
  box.className = "suggestions";
  for (const example of words.examples) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = example;
    button.addEventListener("click", () => ask(example));
    box.append(button);
  }
  at("log").append(box);
  setBusy(false);
  at("question").disabled = at("send").disabled = false; // a question typed before this would be lost
}

dress();
listen();
tell({ type: "gsa:ready" }, "*"); // says nothing but that it is there
if (site) openVisit().then((opened) => (visit = opened)).catch((error) => (at("status").textContent = error.message));
