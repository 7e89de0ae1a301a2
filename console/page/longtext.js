// Text of any length: it grows at its end, and no more than a window of it is
// in the page.

import { button } from './dom.js';
import { bytes } from './format.js';

const pieceSize = 4096;
const windowSize = 16; // pieces

/** Owns the element it is given. */
export class LongText {
  #box;
  #more;
  #pieces = []; // the text, in pieces
  #nodes = []; // of the last of them
  #room = windowSize;
  length = 0;

  constructor(box) {
    this.#box = box;
    this.#more = button('', () => this.#show(), { class: 'more' });
  }

  clear() {
    this.#pieces = [];
    this.#nodes = [];
    this.length = 0;
    this.#box.replaceChildren();
  }

  append(text) {
    this.length += text.length;
    for (let from = 0; from < text.length;) {
      const last = this.#pieces.length - 1;
      const free = last < 0 ? 0 : pieceSize - this.#pieces[last].length;
      let end = from + (free > 0 ? free : pieceSize);
      if (end < text.length && isHigh(text.charCodeAt(end - 1))) end++; // both halves of a character
      const piece = text.slice(from, end);
      from = end;
      if (free > 0) {
        this.#pieces[last] += piece;
        this.#nodes.at(-1).appendData(piece);
      } else {
        this.#pieces.push(piece);
        this.#add(piece);
      }
    }
    this.#label();
  }

  #add(piece) {
    const node = document.createTextNode(piece);
    this.#nodes.push(node);
    this.#box.append(node);
    if (this.#nodes.length > this.#room) this.#nodes.shift().remove();
  }

  /** Shows as much again of what stands before the window. */
  #show() {
    const height = this.#box.offsetHeight;
    const from = this.#pieces.length - this.#nodes.length;
    const earlier = this.#pieces.slice(Math.max(0, from - windowSize), from).map((piece) => document.createTextNode(piece));
    this.#room += windowSize;
    this.#nodes.unshift(...earlier);
    this.#box.prepend(...earlier);
    this.#label();
    this.#box.dispatchEvent(new CustomEvent('grown', { bubbles: true, detail: this.#box.offsetHeight - height }));
  }

  #label() {
    const hidden = this.#pieces.length - this.#nodes.length;
    if (hidden === 0) {
      this.#more.remove();
      return;
    }
    this.#more.textContent = `Show earlier text (${bytes(hidden * pieceSize)})`;
    if (this.#box.firstChild !== this.#more) this.#box.prepend(this.#more);
  }
}

const isHigh = (unit) => unit >= 0xd800 && unit < 0xdc00;
