// Elements, made without markup: whatever a caller hands in becomes text.

/**
 * Makes an element. Properties are attributes, but for class, handlers (on…)
 * and those that are false or null, which are left out. Children that are no
 * nodes become text.
 */
export function h(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name === 'class') node.className = value;
    else if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** Says text in a node, if it is not there already: nothing is laid out anew for nothing. */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Puts nodes into a parent, in order, and moves only those that stand elsewhere. */
export function arrange(parent, nodes) {
  let at = parent.firstChild;
  for (const node of nodes) {
    if (node === at) at = at.nextSibling;
    else parent.insertBefore(node, at);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

export const byId = (id) => document.getElementById(id);

// What turns or hides the text around it, and what has no shape: in a command
// or a path it could show one thing and be another. An empty pattern of Braille (U+2800)
// is a blank that no shell takes for one.
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u2800\ufff9-\ufffb\p{Default_Ignorable_Code_Point}]/gu;

// Spaces that are not U+0020 are no blanks to a shell either; prose is written with them.
const inCode = new RegExp('[^\\P{Zs} ]|' + unseen.source, 'gu');

/** Whether what is not seen does what it is for: it chooses the form of an emoji. */
const chooses = (text, at) => text[at] === '\ufe0f' && (text[at + 1] === '\u20e3' || /\p{Extended_Pictographic}$/u.test(text.slice(Math.max(0, at - 2), at)));

const mostNamed = 50; // in one text: nobody reads more, and each is an element

/**
 * Nodes of a literal text (a command, a path), in which what cannot be seen is
 * named, and from too much of it on marked.
 */
export function literal(value, hidden = inCode) {
  const text = String(value ?? '');
  const nodes = [];
  let from = 0;
  let named = 0;
  for (const found of text.matchAll(hidden)) {
    if (chooses(text, found.index)) continue;
    if (++named > mostNamed) break;
    nodes.push(text.slice(from, found.index), h('span', { class: 'unseen' }, codePoint(found[0])));
    from = found.index + found[0].length;
  }
  const rest = text.slice(from);
  nodes.push(named > mostNamed ? rest.replace(hidden, '\ufffd') : rest);
  return nodes.filter((node) => node !== '');
}

/** Nodes of prose, in which the same is named, but for the spaces that it is written with. */
export const prose = (value) => literal(value, unseen);

/** The same as text, where there can be no nodes: in an attribute, in an option. */
export const spelled = (value) => prose(value).map((node) => node.textContent ?? node).join('');

const codePoint = (c) => 'U+' + c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');

/** A code element with a literal in it; the left end of it is its left end. */
export const code = (text, props) => h('code', { dir: 'ltr', ...props }, literal(text));

/** A button. */
export const button = (label, onclick, props) => h('button', { type: 'button', onclick, ...props }, label);
