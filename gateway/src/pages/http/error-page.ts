import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DomainError } from '@tocsin/http';
import { ownProperty } from '@tocsin/runtime';
import Negotiator from 'negotiator';

/** Whether a browser shows the response to a person. Programs that take anything get JSON. */
export const isForPerson = (request: IncomingMessage): boolean =>
  (request.method === 'GET' || request.method === 'HEAD') &&
  new Negotiator(request).mediaType(['application/json', 'text/html']) === 'text/html';

const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (character) => ownProperty(ESCAPES, character) ?? '');

/** Sends an error with the same status and headers as the JSON of the API has. */
export function sendErrorPage(response: ServerResponse, error: DomainError, requestId: string): void {
  const seconds = error.headers['Retry-After'];
  const advice = seconds === undefined ? '' : `<p>Try again in ${escapeHtml(seconds)} seconds.</p>`;
  const html = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Tocsin</title>
  </head>
  <body>
    <h1>${error.code === 'rate_limited' ? 'Too many requests' : 'This page cannot be shown'}</h1>
    <p>${escapeHtml(error.message)}.</p>
    ${advice}
    <p><small>Request ${escapeHtml(requestId)}</small></p>
  </body>
</html>
`;
  response.setHeaders(new Map(Object.entries(error.headers)));
  response.setHeader('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(html));
  response.writeHead(error.status).end(response.req.method === 'HEAD' ? undefined : html);
}
