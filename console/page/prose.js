// The little of Markdown that makes an answer readable: code, headings, lists,
// bold. It makes elements and text, never markup; links stay text.

import { h } from './dom.js';

const longest = 60_000; // what is longer stays as it was written

/** Returns nodes for a finished text, or null if it is better shown as it is. */
export function prose(text) {
  if (text.length > longest || !/[`*#\n]|^[-\d]/m.test(text)) return null;
  const blocks = [];
  const lines = text.split('\n');
  for (let i = 0; i < lines.length;) {
    const fence = /^\s*(`{3,}|~{3,})\s*([\w+-]*)/.exec(lines[i]);
    const took = fence ? fenced(lines, i, fence, blocks) : block(lines, i, blocks);
    i += took;
  }
  return blocks;
}

function fenced(lines, from, [, mark, language], blocks) {
  let end = from + 1;
  while (end < lines.length && !lines[end].trim().startsWith(mark)) end++;
  const text = lines.slice(from + 1, end).join('\n');
  blocks.push(h('pre', { class: 'block', dir: 'ltr', tabindex: '0', 'aria-label': language ? `Code, ${language}` : 'Code' }, h('code', null, text)));
  return end - from + 1;
}

const item = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;

function block(lines, from, blocks) {
  const line = lines[from];
  if (line.trim() === '') return 1;
  const heading = /^(#{1,6})\s+(.*)$/.exec(line);
  if (heading) {
    blocks.push(h('p', { class: 'heading', role: 'heading', 'aria-level': '4', dir: 'auto' }, inline(heading[2])));
    return 1;
  }
  if (item.test(line)) return list(lines, from, blocks);
  let end = from + 1;
  while (end < lines.length && lines[end].trim() !== '' && !item.test(lines[end]) && !/^(\s*(`{3,}|~{3,})|#{1,6}\s)/.test(lines[end])) end++;
  blocks.push(h('p', { dir: 'auto' }, inline(lines.slice(from, end).join('\n'))));
  return end - from;
}

function list(lines, from, blocks) {
  const numbered = /^\d/.test(item.exec(lines[from])[2]);
  const start = numbered ? Number.parseInt(item.exec(lines[from])[2], 10) : null;
  const box = h(numbered ? 'ol' : 'ul', numbered && start !== 1 ? { start } : null);
  let end = from;
  for (; end < lines.length && lines[end].trim() !== ''; end++) {
    const found = item.exec(lines[end]);
    if (found && /^\d/.test(found[2]) !== numbered && found[1] === '') break;
    if (found) box.append(h('li', { dir: 'auto', class: found[1].length > 1 && 'inner' }, inline(found[3])));
    else if (/^\s*(`{3,}|~{3,})/.test(lines[end])) break;
    else box.lastChild.append('\n', ...inline(lines[end].trim()));
  }
  blocks.push(box);
  return end - from;
}

function inline(text) {
  const nodes = [];
  let from = 0;
  for (const found of text.matchAll(/`([^`\n]+)`|\*\*([^*\n]+)\*\*/g)) {
    nodes.push(text.slice(from, found.index), found[1] !== undefined ? h('code', { dir: 'ltr' }, found[1]) : h('strong', null, found[2]));
    from = found.index + found[0].length;
  }
  nodes.push(text.slice(from));
  return nodes;
}
