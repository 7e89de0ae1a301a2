// The fields of a form, from what asks for them: the questions of codex, and
// the JSON schema of a tool's server. A field has a node and a value, which is
// undefined where nothing was given.

import { h, prose, spelled } from './dom.js';

let count = 0;
const newName = () => `field-${++count}`;

/** One question of codex: options to choose from, another answer, or free text. */
export function questionField({ header, question, options, other, secret }) {
  const name = newName();
  const legend = h('legend', null, header && h('span', { class: 'header', dir: 'auto' }, prose(header)), h('span', { dir: 'auto' }, prose(question)));
  const type = secret ? 'password' : 'text';
  if (!options?.length) {
    const input = h('input', { type, name, required: true, autocomplete: 'off', 'aria-label': spelled(question), dir: 'auto' });
    return { node: h('fieldset', null, legend, input), value: () => input.value };
  }
  const choices = options.map((option) => choice(name, option.label, option.label, option.description));
  let words = null;
  if (other) {
    words = h('input', { type, autocomplete: 'off', 'aria-label': 'Another answer', placeholder: 'Another answer', dir: 'auto' });
    const last = choice(name, '', '', '', words);
    words.addEventListener('input', () => { last.radio.checked = true; });
    choices.push(last);
  }
  const chosen = () => choices.find(({ radio }) => radio.checked);
  return {
    node: h('fieldset', null, legend, choices.map(({ node }) => node)),
    value: () => (chosen()?.radio.value || (chosen() && words?.value) || undefined),
  };
}

function choice(name, value, label, description, extra) {
  const radio = h('input', { type: 'radio', name, value, required: true, 'aria-label': extra && 'Another answer' });
  const node = h('label', { class: 'choice' }, radio,
    h('span', null, label && h('span', { class: 'label', dir: 'auto' }, prose(label)), description && h('span', { class: 'quiet', dir: 'auto' }, prose(description)), extra));
  return { node, radio };
}

/** One property of a flat JSON schema, as MCP's elicitation has them. */
export function schemaField(name, schema, required) {
  const title = schema.title ?? name;
  const id = newName();
  const { input, value } = control(id, schema, required);
  const hint = schema.description && h('span', { class: 'quiet', id: id + '-hint', dir: 'auto' }, prose(schema.description));
  if (hint) input.setAttribute('aria-describedby', id + '-hint');
  const label = h('span', { class: 'label', dir: 'auto' }, prose(title), !required && h('span', { class: 'quiet' }, ' (optional)'));
  const inline = schema.type === 'boolean';
  return { node: h('label', { class: inline ? 'field inline' : 'field' }, inline ? [input, label, hint] : [label, input, hint]), value };
}

const formats = { email: 'email', uri: 'url', date: 'date', 'date-time': 'datetime-local' };

function control(name, schema, required) {
  const options = optionsOf(schema);
  if (schema.type === 'array') return several(name, optionsOf(schema.items ?? {}));
  if (options.length) {
    const input = h('select', { name, required }, h('option', { value: '' }, 'Choose…'),
      options.map(([value, label]) => h('option', { value, selected: value === schema.default }, spelled(label))));
    return { input, value: () => input.value || undefined };
  }
  if (schema.type === 'boolean') {
    const input = h('input', { type: 'checkbox', name, checked: schema.default === true });
    return { input, value: () => input.checked };
  }
  if (schema.type === 'number' || schema.type === 'integer') {
    const input = h('input', {
      type: 'number', name, required, step: schema.type === 'integer' ? 1 : 'any', min: schema.minimum, max: schema.maximum, value: schema.default,
    });
    return { input, value: () => (input.value === '' ? undefined : Number(input.value)) };
  }
  const input = h('input', {
    type: formats[schema.format] ?? 'text', name, required, autocomplete: 'off', dir: 'auto', value: schema.default,
    minlength: schema.minLength, maxlength: schema.maxLength, pattern: schema.pattern,
  });
  const value = () => (input.type === 'datetime-local' && input.value ? new Date(input.value).toISOString() : input.value);
  return { input, value: () => value() || (required ? value() : undefined) };
}

function optionsOf(schema) {
  if (schema.enum) return schema.enum.map((value, i) => [String(value), String(schema.enumNames?.[i] ?? value)]);
  return (schema.oneOf ?? schema.anyOf ?? []).filter((o) => 'const' in o).map((o) => [String(o.const), String(o.title ?? o.const)]);
}

function several(name, options) {
  const boxes = options.map(([value, label]) => ({ box: h('input', { type: 'checkbox', name, value }), label }));
  const input = h('span', { class: 'several', role: 'group' }, boxes.map(({ box, label }) => h('label', { class: 'choice' }, box, h('span', { dir: 'auto' }, prose(label)))));
  return { input, value: () => boxes.filter(({ box }) => box.checked).map(({ box }) => box.value) };
}
