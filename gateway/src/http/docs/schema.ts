import type { ApiSchema } from '../api-description.ts';
import { type Html, html } from './html.ts';

/** Deeper than this, a table is harder to read than the schema itself. */
const MAX_DEPTH = 4;

const nameOf = (reference: string) => reference.slice(reference.lastIndexOf('/') + 1);

/** What an object consists of, nested objects included: one row a property. */
export function propertyTable(schema: ApiSchema, headings: { required: boolean }): Html {
  const rows = propertyRows(schema, { prefix: '', depth: 0, ...headings });
  if (rows.length === 0) return html`<p class="none">${typeOf(schema)}</p>`;
  return html`<table>
    <thead>
      <tr>
        <th>Property</th>
        <th>Type</th>
        <th>Notes</th>
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

function propertyRows(schema: ApiSchema, at: { prefix: string; depth: number; required: boolean }): Html[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const path = at.prefix + name;
    const required = schema.required?.includes(name) === true;
    const inner = property.items ?? property;
    const nested =
      inner.properties === undefined || at.depth === MAX_DEPTH
        ? []
        : propertyRows(inner, {
            ...at,
            prefix: property.items === undefined ? `${path}.` : `${path}[].`,
            depth: at.depth + 1,
          });
    const mark = at.required
      ? required && html`<span class="mark">required</span>`
      : !required && html`<span class="mark faint">may be absent</span>`;
    return [
      html`<tr>
        <td><code>${path}</code> ${mark}</td>
        <td>${typeOf(property)}</td>
        <td>${notesOf(property)}</td>
      </tr>`,
      ...nested,
    ];
  });
}

/** A type in words, with links to the objects that have a name. */
export function typeOf(schema: ApiSchema): Html {
  if (schema.$ref !== undefined) return html`<a href="#object-${nameOf(schema.$ref)}">${nameOf(schema.$ref)}</a>`;
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return alternatives(choices.map(typeOf));
  if (schema.allOf !== undefined) return html`${schema.allOf.map(typeOf)}`;
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.items !== undefined) return html`list of ${typeOf(schema.items)}${isNullable(schema) && ' or null'}`;
  if (Array.isArray(schema.type)) return alternatives(schema.type.map((type) => html`${type}`));
  if (schema.type === 'object' && schema.properties === undefined && typeof schema.additionalProperties === 'object') {
    return html`object of ${typeOf(schema.additionalProperties)}`;
  }
  return html`${schema.type ?? 'any value'}`;
}

const isNullable = ({ type }: ApiSchema) => Array.isArray(type) && type.includes('null');

const alternatives = (types: readonly Html[]) =>
  html`${types.map((type, index) => (index === 0 ? type : html` or ${type}`))}`;

/** Description and limits. */
export function notesOf(schema: ApiSchema): Html {
  const limits = limitsOf(schema);
  return html`${schema.description}${schema.description !== undefined && limits.length > 0 && html`<br />`}${limits.map(
    (limit, index) => html`${index > 0 && ', '}${limit}`,
  )}`;
}

function limitsOf(schema: ApiSchema): Html[] {
  const items = schema.items ?? {};
  const values = schema.enum ?? items.enum;
  const format = schema.format ?? items.format;
  return [
    values !== undefined &&
      html`${values.map((value, index) => html`${index > 0 && ', '}<code>${String(value)}</code>`)}`,
    format !== undefined && html`${format}`,
    schema.pattern !== undefined && format === undefined && html`<code>${schema.pattern}</code>`,
    range(schema.minLength, schema.maxLength, 'characters'),
    range(schema.minItems, schema.maxItems, 'items'),
    range(schema.minimum ?? schema.exclusiveMinimum, schema.maximum ?? schema.exclusiveMaximum, ''),
    schema.uniqueItems === true && html`each once`,
    schema.default !== undefined && html`default <code>${JSON.stringify(schema.default)}</code>`,
  ].filter((limit) => limit !== false);
}

function range(low: number | undefined, high: number | undefined, unit: string): Html | false {
  // zod writes the bounds of a safe integer where none are meant.
  const from = low === undefined || low <= Number.MIN_SAFE_INTEGER ? undefined : low;
  const to = high === undefined || high >= Number.MAX_SAFE_INTEGER ? undefined : high;
  if (from === undefined && to === undefined) return false;
  if (to === undefined) return html`at least ${from} ${unit}`;
  if (from === undefined) return html`at most ${to} ${unit}`;
  return from === to ? html`${from} ${unit}` : html`${from} to ${to} ${unit}`;
}
