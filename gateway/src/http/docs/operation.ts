import { EXTENSIONS } from '@tocsin/http';
import type {
  ApiAnswer,
  ApiDescription,
  ApiHeader,
  ApiOperation,
  ApiParameter,
  ApiSchema,
} from '../api-description.ts';
import { type Html, html } from './html.ts';
import { notesOf, propertyTable, typeOf } from './schema.ts';

/** An operation, as the page shows it. */
export interface Described {
  method: string;
  path: string;
  operation: ApiOperation;
}

const PREREQUISITES: Record<string, string> = {
  active_responder: 'an active responder seat of the token’s owner',
  manage_settings: 'the owner’s permission manage_settings',
  manage_teams: 'the owner’s permission manage_teams',
  mutable_incident: 'an incident that is not archived',
  slack_channel: 'a linked channel',
};

export function operationArticle({ method, path, operation }: Described, description: ApiDescription): Html {
  const parameters = operation.parameters ?? [];
  const body = resolved(operation.requestBody?.content['application/json']?.schema, description);
  return html`<article class="operation${operation.deprecated === true && ' deprecated'}">
    <details>
      <summary>
        <span class="method ${method}">${method.toUpperCase()}</span>
        <code class="path">${withBreaks(path)}</code>
        <span class="summary">${operation.summary}${operation.deprecated === true && html` <em>deprecated</em>`}</span>
      </summary>
      <div class="detail" id="${operation.operationId}">
        ${operation.description !== undefined && html`<p>${operation.description}</p>`}
        <p class="access">${access(operation)}</p>
        ${parameters.length > 0 && parameterTable(parameters)}
        ${
          body !== undefined &&
          html`<h4>
              Body${operation.requestBody?.required !== true && html` <span class="mark faint">optional</span>`}
            </h4>
            ${propertyTable(body, { required: true })}`
        }
        ${Object.entries(operation.responses).map(([status, answer]) => answerSection(status, answer, description))}
      </div>
    </details>
  </article>`;
}

function access(operation: ApiOperation): Html {
  const needs = (operation[EXTENSIONS.needs] ?? []) as string[];
  return html`Scope <code class="scope">${String(operation[EXTENSIONS.scope])}</code>${needs.map(
      (need, index) => html`${index === 0 ? '; needs ' : ', '}${PREREQUISITES[need] ?? need}`,
    )}`;
}

const PLACES = { path: 'Path', query: 'Query', header: 'Header' } as const;

function parameterTable(parameters: readonly ApiParameter[]): Html {
  return html`<h4>Parameters</h4>
    <table>
      <thead>
        <tr>
          <th>Parameter</th>
          <th>In</th>
          <th>Type</th>
          <th>Notes</th>
        </tr>
      </thead>
      <tbody>
        ${parameters.map(
          ({ name, in: place, required, schema }) =>
            html`<tr>
              <td><code>${name}</code> ${required === true && html`<span class="mark">required</span>`}</td>
              <td>${PLACES[place]}</td>
              <td>${typeOf(schema.items ?? schema)}${schema.items !== undefined && ', repeated'}</td>
              <td>${notesOf(schema)}</td>
            </tr>`,
        )}
      </tbody>
    </table>`;
}

function answerSection(status: string, answer: ApiAnswer, description: ApiDescription): Html {
  if (status === 'default') return html`<p class="refusal">Anything else is an <a href="#errors">error</a>.</p>`;
  const own = Object.entries(answer.headers ?? {}).filter(
    (entry): entry is [string, ApiHeader] => !('$ref' in entry[1]),
  );
  const schema = resolved(answer.content?.['application/json']?.schema, description);
  return html`<h4>Answer <code class="status">${status}</code></h4>
    ${schema === undefined ? html`<p class="none">Empty.</p>` : propertyTable(schema, { required: false })}
    ${own.map(([name]) => html`<p>With the header <code>${name}</code>.</p>`)}`;
}

/** What is nothing but a named object is shown in full where it stands. */
function resolved(schema: ApiSchema | undefined, { components }: ApiDescription): ApiSchema | undefined {
  const name = schema?.$ref?.slice(schema.$ref.lastIndexOf('/') + 1);
  return (name === undefined ? undefined : components?.schemas?.[name]) ?? schema;
}

/** A long path may break after a slash, and nowhere else. */
const withBreaks = (path: string) =>
  path.split('/').map((segment, index) => html`${index > 0 && html`/<wbr />`}${segment}`);
