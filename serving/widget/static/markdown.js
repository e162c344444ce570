// Markdown to DOM nodes: what the assistant writes and no more. Text goes in as text, never as HTML.

const INLINE = /(`+)([^`]|[^`].*?[^`])\1(?!`)|\*\*(.+?)\*\*|\[([^\]]+)\]\((https?:\/\/[^\s)]+)\)|(https?:\/\/[^\s<>()，。；]+)/s;
const TABLE_RULE = /^\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*$/;

function element(name, ...children) {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}

function link(text, href) {
  const made = element("a", text);
  made.href = href;
  made.target = "_blank";
  made.rel = "noopener noreferrer";
  return made;
}

export function inline(text) {
  const nodes = [];
  for (let rest = text; rest; ) {
    const found = INLINE.exec(rest);
    if (!found) {
      nodes.push(rest);
      break;
    }
    if (found.index) nodes.push(rest.slice(0, found.index));
    if (found[1]) nodes.push(element("code", found[2].trim()));
    else if (found[3]) nodes.push(element("strong", ...inline(found[3])));
    else if (found[4]) nodes.push(link(found[4], found[5]));
    else nodes.push(link(found[6], found[6]));
    rest = rest.slice(found.index + found[0].length);
  }
  return nodes;
}

function cells(line) {
  return line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function table(lines) {
  const row = (line, tag) => element("tr", ...cells(line).map((cell) => element(tag, ...inline(cell))));
  const made = element("table", element("thead", row(lines[0], "th")), element("tbody", ...lines.slice(2).map((line) => row(line, "td"))));
  const box = element("div", made);
  box.className = "scroll";
  return box;
}

function list(lines, ordered) {
  const items = [];
  for (const line of lines) {
    const found = /^(\s*)(?:[-*+]|\d+[.)])\s+(.*)$/.exec(line);
    if (found && (!items.length || found[1].length <= items[0].indent)) items.push({ indent: found[1].length, text: [found[2]] });
    else items.at(-1).text.push(line.replace(new RegExp(`^\\s{0,${items[0].indent + 3}}`), ""));
  }
  const made = element(ordered ? "ol" : "ul", ...items.map((item) => {
    const [first, ...more] = item.text;
    return element("li", ...inline(first), ...(more.some((line) => line.trim()) ? blocks(more) : []));
  }));
  const start = ordered && Number.parseInt(lines[0].trim(), 10);
  if (start > 1) made.start = start;
  return made;
}

function blocks(lines) {
  const nodes = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at];
    const take = (holds) => {
      const from = at;
      while (at < lines.length && holds(lines[at])) at += 1;
      return lines.slice(from, at);
    };
    const fence = /^\s*(```+|~~~+)/.exec(line);
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    const item = /^\s*([-*+]|\d+[.)])\s+/.exec(line);
    if (!line.trim()) at += 1;
    else if (fence) {
      at += 1;
      const body = take((next) => !next.trim().startsWith(fence[1]));
      at += 1;
      nodes.push(element("pre", element("code", body.join("\n"))));
    } else if (heading) {
      nodes.push(element(`h${Math.min(4, heading[1].length + 1)}`, ...inline(heading[2])));
      at += 1;
    } else if (line.includes("|") && TABLE_RULE.test(lines[at + 1] ?? "")) nodes.push(table(take((next) => next.includes("|"))));
    else if (item) {
      const indent = /^\s*/.exec(line)[0].length;
      const same = /\d/.test(item[1]) ? /^\s*\d+[.)]\s/ : /^\s*[-*+]\s/;
      const within = (next) => !next.trim() || /^\s*/.exec(next)[0].length > indent || same.test(next);
      nodes.push(list(take(within), /\d/.test(item[1])));
    } else nodes.push(element("p", ...inline(take((next) => next.trim() && !/^(#{1,6}\s|\s*```|\s*([-*+]|\d+[.)])\s)/.test(next) && !(next.includes("|") && TABLE_RULE.test(lines[lines.indexOf(next, at) + 1] ?? ""))).join(" "))));
  }
  return nodes;
}

export function markdown(text) {
  return blocks(text.split("\n"));
}
