import type { ServerResponse } from 'node:http';
import { type DomainError, type ErrorCode } from '@tocsin/http';

export const SCIM_TYPE = 'application/scim+json';

/** The keywords of RFC 7644, section 3.12, for errors that do not have one. */
const KEYWORDS = new Map<ErrorCode, string>([
  ['invalid_json', 'invalidSyntax'],
  ['multiple_json_values', 'invalidSyntax'],
  ['invalid_request', 'invalidValue'],
]);

/** Sends an error in the form of RFC 7644, section 3.12. */
export function sendScimError(response: ServerResponse, error: DomainError): void {
  const { status, field, message, details = {} } = error;
  const keyword =
    details.scim_type ??
    (status === 400 ? KEYWORDS.get(error.code) : status === 409 && 'existing_id' in details ? 'uniqueness' : undefined);
  response.setHeaders(new Map(Object.entries(error.headers)));
  sendScim(response, status, {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(status),
    ...(keyword !== undefined && { scimType: keyword }),
    detail: field === undefined ? message : `${field.slice(0, 256)}: ${message}`,
  });
}

export function sendScim(response: ServerResponse, status: number, body: object | undefined): void {
  response.statusCode = status;
  if (body === undefined) {
    response.end();
    return;
  }
  const bytes = Buffer.from(JSON.stringify(body));
  response.setHeader('Content-Type', `${SCIM_TYPE}; charset=utf-8`);
  response.setHeader('Content-Length', bytes.length);
  response.end(response.req.method === 'HEAD' ? undefined : bytes);
}
