// The bubble: one script tag puts a button on the page and, when opened, the assistant in a frame of its own origin.
// It adds no inline style or script, so a strict policy needs only `script-src` (or a nonce) and `frame-src`.
(() => {
  "use strict";
  const script = document.currentScript;
  if (!script) return; // loaded as a module: there is no tag to read the look from
  const address = new URL(script.src);
  const site = address.searchParams.get("site") || "";
  const base = address.origin + address.pathname.replace(/embed\.js$/, "");
  const look = script.dataset; // lang, theme, color, side, label: look and language, nothing else
  const TAG = "gpu-sizing-assistant";
  const lang = /^zh/i.test(look.lang || document.documentElement.lang || navigator.language) ? "zh" : "en";
  const words = {
    en: { open: "Ask about GPU instances", close: "Close the assistant", title: "GPU sizing assistant" },
    zh: { open: "咨询 GPU 实例选型", close: "关闭助手", title: "GPU 选型助手" },
  }[lang];

  const css = `
    :host { all: initial; position: fixed; bottom: 20px; z-index: 2147483000; font: 15px/1.4 system-ui, sans-serif; }
    button { width: 56px; height: 56px; border: 0; border-radius: 28px; cursor: pointer; color: #fff;
      background: var(--gsa-color, #1f5fd6); box-shadow: 0 4px 16px rgb(0 0 0 / .28); display: grid; place-items: center; }
    button:focus-visible { outline: 3px solid #fff; box-shadow: 0 0 0 6px var(--gsa-color, #1f5fd6); }
    svg { width: 26px; height: 26px; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; }
    iframe { position: absolute; bottom: 70px; width: min(420px, calc(100vw - 40px)); height: min(640px, calc(100vh - 110px));
      border: 0; border-radius: 14px; background: #fff; color-scheme: normal; box-shadow: 0 10px 40px rgb(0 0 0 / .3); }
    :host(.right) iframe { right: 0; }
    :host(.left) iframe { left: 0; }
    [hidden] { display: none; }
    @media (max-width: 480px) { iframe { position: fixed; inset: 0; width: 100vw; height: calc(100vh - 84px); border-radius: 0; } }`;

  function icon(path) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 24 24");
    svg.setAttribute("aria-hidden", "true");
    const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
    line.setAttribute("d", path);
    svg.append(line);
    return svg;
  }

  function start() {
    const place = document.querySelectorAll(TAG).length; // a second bubble stands beside the first
    const host = document.createElement(TAG);
    const side = look.side === "left" ? "left" : "right";
    host.classList.add(side);
    host.style.setProperty(side, `${20 + place * 72}px`);
    if (/^#[0-9a-f]{3,8}$/i.test(look.color || "")) host.style.setProperty("--gsa-color", look.color);
    const root = host.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    root.adoptedStyleSheets = [sheet];

    const button = document.createElement("button");
    button.type = "button";
    const speech = icon("M4 5h16v11H9l-5 4z");
    const cross = icon("M6 6l12 12M18 6L6 18");
    root.append(button);
    document.body.append(host);

    let frame = null;
    let ready = false;
    let waiting = [];
    let shown = false;

    const send = (message) => (ready ? frame.contentWindow.postMessage(message, address.origin) : waiting.push(message));

    function load() {
      frame = document.createElement("iframe");
      const query = new URLSearchParams({ lang, theme: look.theme || "", color: look.color || "" });
      if (site) query.set("site", site);
      frame.src = `${base}embed?${query}`;
      frame.title = words.title;
      frame.referrerPolicy = "origin";
      frame.allow = "clipboard-write";
      root.append(frame);
    }

    function show(open) {
      shown = open;
      if (open && !frame) load();
      if (frame) frame.hidden = !open;
      button.replaceChildren(open ? cross : speech);
      button.setAttribute("aria-expanded", String(open));
      button.setAttribute("aria-label", open ? words.close : look.label || words.open);
      if (open) send({ type: "gsa:focus" });
      else button.focus({ preventScroll: true });
    }

    button.addEventListener("click", () => show(!shown));
    host.addEventListener("keydown", (event) => event.key === "Escape" && shown && show(false));
    window.addEventListener("message", (event) => {
      if (!frame || event.source !== frame.contentWindow || event.origin !== address.origin) return;
      const { type, ...detail } = event.data || {};
      if (type === "gsa:ready") {
        ready = true;
        frame.contentWindow.postMessage({ type: "gsa:hello" }, address.origin);
        waiting.splice(0).forEach((message) => send(message));
      } else if (type === "gsa:close") {
        show(false);
      } else if (type === "gsa:handover") {
        host.dispatchEvent(new CustomEvent("gsa:handover", { detail, bubbles: true }));
      }
    });
    // The page's side: context for a person who takes over, a question to put into the box, open and close.
    host.addEventListener("gsa:context", (event) => send({ type: "gsa:context", context: event.detail || {} }));
    host.addEventListener("gsa:ask", (event) => (show(true), send({ type: "gsa:ask", text: String(event.detail) })));
    host.addEventListener("gsa:open", () => show(true));
    host.addEventListener("gsa:close", () => show(false));
    button.append(speech);
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-label", look.label || words.open);
    host.dispatchEvent(new CustomEvent("gsa:started", { bubbles: true }));
  }

  if (document.body) start();
  else document.addEventListener("DOMContentLoaded", start, { once: true });
})();
