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
// or a path it could show one thing and be another.
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

const mostNamed = 50; // in one text: nobody reads more, and each is an element

/**
 * Nodes of a literal text (a command, a path), in which what cannot be seen is
 * named, and from too much of it on marked.
 */
export function literal(value) {
  const text = String(value);
  const nodes = [];
  let from = 0;
  let named = 0;
  for (const found of text.matchAll(unseen)) {
    if (++named > mostNamed) break;
    nodes.push(text.slice(from, found.index), h('span', { class: 'unseen' }, codePoint(found[0])));
    from = found.index + found[0].length;
  }
  const rest = text.slice(from);
  nodes.push(named > mostNamed ? rest.replace(unseen, '\ufffd') : rest);
  return nodes.filter((node) => node !== '');
}

const codePoint = (c) => 'U+' + c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');

/** A code element with a literal in it; the left end of it is its left end. */
export const code = (text, props) => h('code', { dir: 'ltr', ...props }, literal(text));

/** A button. */
export const button = (label, onclick, props) => h('button', { type: 'button', onclick, ...props }, label);
