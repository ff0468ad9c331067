import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WorkspaceContext } from '@tocsin/schemas';
import { ownProperty } from '@tocsin/runtime';

/** A request for an operation and its response, with what becomes known of them. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The parameters of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Set once the principal is verified, for the metric of refusals. */
  workspace: WorkspaceContext | undefined;
  /** When the request began to wait for an event, by `performance.now()`: the wait says nothing about the service. */
  waitingSince: number | undefined;
}

/** The path of a request, without the query, which may be confidential. */
export function pathOf({ url = '' }: IncomingMessage): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

/** The value of a header that has at most one. @param name in lower case */
export function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = ownProperty(headers, name);
  return typeof value === 'string' ? value : undefined;
}

/** Whether a request only reads. */
export const isRead = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD';
