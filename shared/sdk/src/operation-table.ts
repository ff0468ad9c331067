export { OPERATIONS } from './operations.ts';

/** An operation as the table has it. */
export interface OperationEntry {
  /** Its place in the client: `incidents.create`. */
  readonly name: string;
  readonly method: string;
  /** With `{parameters}`. */
  readonly path: string;
  readonly summary: string;
  /** Seconds. */
  readonly deadline: number;
  /** One of them is enough; without, any key may call it. */
  readonly scopes?: readonly string[];
  /** Whether a call has a query, a body, or a file as its body. */
  readonly input?: 'query' | 'body' | 'file';
  readonly isKeyed?: boolean;
  readonly hasRevision?: boolean;
  /** Whether the response may be a Markdown document: `…Markdown` returns it. */
  readonly hasMarkdown?: boolean;
  /** Whether the response is a file. */
  readonly isFile?: boolean;
  /** Whether it may be an HTML page: `…Html` returns it. */
  readonly hasHtml?: boolean;
  /** The property of the response that is the resource. */
  readonly item?: string;
  /** The property of a page that has its rows. */
  readonly rows?: string;
}

/** The verb that reads what another verb changes: `getPostmortem` for `updatePostmortem`. */
export const readerOf = (verb: string): string => (verb.startsWith('update') ? verb.replace('update', 'get') : 'get');
