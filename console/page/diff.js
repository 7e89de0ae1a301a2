// A unified diff, file by file, in colour and in windows.

import { h, button, literal } from './dom.js';
import { count } from './format.js';

const windowSize = 300; // rows
const mostFiles = 200; // at once

/** Takes a unified diff apart: [{path, added, removed, rows: [{kind, text, line}]}]. */
export function parse(text) {
  const files = [];
  let file = null;
  let line = 0;
  let left = 0; // lines that the hunk still has, old and new
  for (const row of text.split('\n')) {
    if (left <= 0 && row.startsWith('diff --git ')) {
      file = newFile(/ b\/(.*)$/.exec(row)?.[1] ?? row.slice(11));
      files.push(file);
    } else if (left <= 0 && row.startsWith('@@')) {
      if (!file) files.push(file = newFile(''));
      const [, old, start, now] = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(row) ?? [];
      line = Number(start ?? 1);
      left = Number(old ?? 1) + Number(now ?? 1);
      file.rows.push({ kind: 'hunk', text: row });
    } else if (left > 0) {
      left -= takeRow(file, row, line);
      if (row[0] !== '-' && row[0] !== '\\') line++;
    } else if (row.startsWith('+++ ') && row !== '+++ /dev/null') {
      if (!file) files.push(file = newFile(''));
      file.path ||= row.slice(4).replace(/^b\//, '');
    } else if (/^(new|deleted|rename|Binary)/.test(row) && file) {
      file.note = note(row);
    }
  }
  return files;
}

const newFile = (path) => ({ path, added: 0, removed: 0, rows: [], note: '' });

function note(row) {
  if (row.startsWith('new file')) return 'new file';
  if (row.startsWith('deleted file')) return 'deleted';
  return row;
}

/** Adds a row of a hunk, and returns how many of the hunk's lines it is. */
function takeRow(file, row, line) {
  switch (row[0]) {
    case '+': file.added++; file.rows.push({ kind: 'added', text: row.slice(1), line }); return 1;
    case '-': file.removed++; file.rows.push({ kind: 'removed', text: row.slice(1) }); return 1;
    case '\\': return 0;
    default: file.rows.push({ kind: 'same', text: row.slice(1), line }); return 2;
  }
}

/** Elements for a diff: one that opens for each file, the first ones open. */
export function diffView(text) {
  const files = parse(text);
  if (!files.length) return [h('pre', { class: 'block', dir: 'ltr', tabindex: '0' }, text.slice(0, 64_000))];
  return filesFrom(files, 0);
}

/** Views of the next files, and a button for those behind them. */
function filesFrom(files, from) {
  const upTo = Math.min(files.length, from + mostFiles);
  const views = files.slice(from, upTo).map((file, i) => fileView(file, from + i < 3 && file.rows.length < 400));
  if (upTo < files.length) {
    const next = button(`Show ${count(Math.min(mostFiles, files.length - upTo))} more of ${count(files.length - upTo)} files`,
      () => next.replaceWith(...filesFrom(files, upTo)), { class: 'more' });
    views.push(next);
  }
  return views;
}

function fileView(file, open) {
  const body = h('div', { class: 'diff-rows', role: 'region', 'aria-label': `Changes of ${file.path}`, tabindex: '0' });
  const view = h('details', { class: 'diff-file', open, 'data-path': file.path },
    h('summary', null, h('code', { class: 'path', dir: 'ltr' }, literal(file.path || 'a file')), file.note && h('span', { class: 'quiet' }, file.note),
      h('span', { class: 'counts' },
        h('span', { class: 'added', 'aria-label': `${file.added} lines added` }, '+' + count(file.added)), ' ',
        h('span', { class: 'removed', 'aria-label': `${file.removed} lines removed` }, '−' + count(file.removed)))),
    body);
  const fill = () => body.childElementCount || more(body, file.rows, 0);
  if (open) fill();
  view.addEventListener('toggle', fill);
  return view;
}

/** Puts the next rows of a file into its body, and a button for those behind them. */
function more(body, rows, from) {
  const upTo = Math.min(rows.length, from + windowSize);
  body.append(...rows.slice(from, upTo).map(rowView));
  if (upTo === rows.length) return;
  const next = button(`Show ${count(Math.min(windowSize, rows.length - upTo))} more of ${count(rows.length - upTo)} lines`, () => {
    next.remove();
    more(body, rows, upTo);
  }, { class: 'more' });
  body.append(next);
}

const signs = { added: '+', removed: '−', same: ' ', hunk: '' };

function rowView({ kind, text, line }) {
  const shown = text.length > 4000 ? text.slice(0, 4000) + '…' : text;
  return h('div', { class: 'row ' + kind },
    h('span', { class: 'number', 'aria-hidden': 'true' }, line ? String(line) : ''),
    h('span', { class: 'sign' }, signs[kind]), h('span', { class: 'text', dir: 'ltr' }, literal(shown)));
}
