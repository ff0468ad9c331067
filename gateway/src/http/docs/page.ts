import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ERROR_STATUS, SCOPES } from '@tocsin/http';
import type { ApiDescription } from '../api-description.ts';
import { Html, html } from './html.ts';
import { type Described, operationArticle } from './operation.ts';
import { propertyTable } from './schema.ts';

export interface DocsPage {
  html: string;
  /** Its Content-Security-Policy: its own style, and nothing else from anywhere. */
  policy: string;
}

/** The API's description for people: one page that needs no script and asks nobody for anything. */
export function docsPage(description: ApiDescription): DocsPage {
  const style = readFileSync(path.join(import.meta.dirname, 'style.css'), 'utf8');
  const digest = createHash('sha256').update(style).digest('base64');
  return {
    html: page(description, style).text,
    policy: `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  };
}

function page(description: ApiDescription, style: string): Html {
  const groups = groupsOf(description);
  const schemas = Object.entries(description.components?.schemas ?? {});
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${description.info.title} API</title>
        <style>
          ${new Html(style)}
        </style>
      </head>
      <body>
        <nav aria-label="Contents">
          <a class="brand" href="#top">${description.info.title} <span>API</span></a>
          <a href="#start">Getting started</a>
          ${[...groups].map(
            ([tag, operations]) =>
              html`<h2><a href="#${anchor(tag)}">${tag}</a></h2>
                <ul>
                  ${operations.map(
                    ({ method, operation }) =>
                      html`<li>
                        <a href="#${operation.operationId}"
                          ><span class="method ${method}">${method}</span>${operation.summary}</a
                        >
                      </li>`,
                  )}
                </ul>`,
          )}
          <h2><a href="#errors">Errors</a></h2>
          <h2><a href="#objects">Objects</a></h2>
          <ul>
            ${schemas.map(([name]) => html`<li><a href="#object-${name}">${name}</a></li>`)}
          </ul>
        </nav>
        <main id="top">
          ${introduction(description)}
          ${[...groups].map(
            ([tag, operations]) =>
              html`<section id="${anchor(tag)}">
                <h2>${tag}</h2>
                ${operations.map((described) => operationArticle(described, description))}
              </section>`,
          )}
          ${errors()}
          <section id="objects">
            <h2>Objects</h2>
            ${schemas.map(
              ([name, schema]) =>
                html`<h3 id="object-${name}">${name}</h3>
                  ${propertyTable(schema, { required: false })}`,
            )}
          </section>
        </main>
      </body>
    </html> `;
}

function groupsOf(description: ApiDescription): Map<string, Described[]> {
  const groups = new Map<string, Described[]>();
  for (const [path, methods] of Object.entries(description.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags?.[0] ?? 'Other';
      groups.set(tag, [...(groups.get(tag) ?? []), { method, path, operation }]);
    }
  }
  return groups;
}

const anchor = (tag: string) => `tag-${tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`;

function introduction({ info, servers }: ApiDescription): Html {
  const host = (servers?.[0]?.url ?? '').replace('{workspace}', 'acme');
  return html`<header id="start">
    <h1>${info.title} API</h1>
    <p class="lead">${info.description}</p>
    <pre><code>curl ${host}/api/v1/incidents \\
  -H 'Authorization: Bearer tcs_…'</code></pre>
    <dl>
      <dt>Workspaces</dt>
      <dd>The first label of the host names the workspace. A token is valid in its own workspace only.</dd>
      <dt>Scopes</dt>
      <dd>
        A token has one or more of ${SCOPES.map((scope, index) => html`${index > 0 && ', '}<code>${scope}</code>`)}.
        What an operation asks of the token’s owner besides stands beside its scope.
      </dd>
      <dt>Rate limits</dt>
      <dd>
        All requests of a workspace share one limit a minute. <code>X-RateLimit-Limit</code>,
        <code>X-RateLimit-Remaining</code> and <code>X-RateLimit-Reset</code> (seconds) say where it stands;
        <code>Retry-After</code> in a 429 says when to go on.
      </dd>
      <dt>Lists</dt>
      <dd>
        Send <code>pagination.next_cursor</code> back as <code>cursor</code>, with the same filters, until it is absent.
      </dd>
      <dt>Revisions</dt>
      <dd>
        A PATCH of a versioned resource names the revision it was made for in <code>If-Service-Resource-Version</code>;
        a newer one on the server gives 412.
      </dd>
      <dt>Repeated creates</dt>
      <dd>With an <code>Idempotency-Key</code>, the same bytes sent twice within 24 hours create one thing.</dd>
      <dt>Request IDs</dt>
      <dd>Every answer has an <code>X-Request-ID</code>: yours, if you send one.</dd>
    </dl>
    <p>For programs: <a href="/api/v1/openapi.json">the same as OpenAPI 3.1</a>.</p>
  </header>`;
}

function errors(): Html {
  const codes = Object.entries(ERROR_STATUS).sort(([a, first], [b, second]) => first - second || (a < b ? -1 : 1));
  return html`<section id="errors">
    <h2>Errors</h2>
    <p>
      An error is <code>{"code", "message", "request_id"}</code>, with <code>field</code> where one property, parameter
      or header is at fault, and <code>details</code> where there is more to say. Codes are stable; messages are for
      people.
    </p>
    <table class="narrow">
      <thead>
        <tr>
          <th>Status</th>
          <th>Code</th>
        </tr>
      </thead>
      <tbody>
        ${codes.map(
          ([code, status]) =>
            html`<tr>
              <td><code class="status">${status}</code></td>
              <td><code>${code}</code></td>
            </tr>`,
        )}
      </tbody>
    </table>
  </section>`;
}
