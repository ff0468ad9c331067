import { BasicTocsin, type Following } from './basic-client.ts';
import type { Api } from './generated/api.ts';
import { PreconditionFailedError } from './error-classes.ts';
import { exportLines, type ExportLine, type ExportOptions } from './export-lines.ts';
import { type OperationEntry, OPERATIONS, readerOf } from './operation-table.ts';
import type { KeyedOptions, RevisionOptions, TocsinOptions, UpdateOptions } from './options.ts';
import { Pages } from './pages.ts';
import { type Query, sendRequest } from './request.ts';
import { backoff, pause } from './retry.ts';

/** The changes that `…With` tries, if nothing else is said. */
const ATTEMPTS = 20;
/** Milliseconds at most between two of them. */
const LONGEST_PAUSE = 1_000;

interface Exporting {
  /**
   * Reads all incidents with their history, and before them what they refer to, over any failure of the connection. After
   * one, the lines behind the last `position` come again; an import takes them as unchanged.
   */
  export(options?: ExportOptions): AsyncGenerator<ExportLine, void, undefined>;
}

/** A client of one workspace: a resource for each kind of things, and a method for each operation. */
export type Tocsin = Pick<BasicTocsin, 'request'> & Api & { readonly events: Following; readonly incidents: Exporting };

type Method = (...args: unknown[]) => unknown;

class Client extends BasicTocsin {
  readonly #options: TocsinOptions;

  constructor(options: TocsinOptions) {
    super(options);
    this.#options = options;
    const resources: Record<string, Record<string, Method>> = {};
    for (const operation of Object.values<OperationEntry>(OPERATIONS)) {
      const [resource = '', verb = ''] = operation.name.split('.');
      const methods = (resources[resource] ??= {});
      methods[verb] = this.#methodOf(operation);
      if (operation.hasRevision === true)
        methods[`${verb}With`] = async (...args) => this.#updateWith(methods, operation, args);
      if (operation.hasMarkdown === true)
        methods[`${verb}Markdown`] = this.#methodOf(operation, { Accept: 'text/markdown' });
      if (operation.hasHtml === true) methods[`${verb}Html`] = this.#methodOf(operation, { Accept: 'text/html' });
    }
    Object.assign((resources['events'] ??= {}), this.events);
    (resources['incidents'] ??= {})['export'] = (given) => exportLines(options, given as ExportOptions | undefined);
    Object.assign(this, resources);
  }

  #methodOf(operation: OperationEntry, headers: Readonly<Record<string, string>> = {}): Method {
    const { rows, input } = operation;
    const count = parametersOf(operation.path).length;
    return (...args) => {
      const params = args.slice(0, count);
      const [data, options] = input === undefined ? [undefined, args[count]] : [args[count], args[count + 1]];
      const call = async (query: Query) => this.#call(operation, params, { query, data, options, headers });
      if (rows === undefined) return call(input === 'query' ? ((data ?? {}) as Query) : {});
      return new Pages(rows, async (cursor) => call({ ...(data as Query), ...(cursor !== undefined && { cursor }) }));
    };
  }

  async #call(
    operation: OperationEntry,
    params: readonly unknown[],
    {
      query,
      data,
      options,
      headers,
    }: { query: Query; data: unknown; options: unknown; headers: Readonly<Record<string, string>> },
  ): Promise<unknown> {
    const { method, deadline, input, isKeyed, hasRevision } = operation;
    const {
      validateOnly,
      idempotencyKey,
      ifRevision,
      query: besides,
      ...call
    } = (options ?? {}) as Partial<KeyedOptions & RevisionOptions & { query: Query }>;
    const key = isKeyed === true && validateOnly !== true ? (idempotencyKey ?? crypto.randomUUID()) : undefined;
    const { body } = await sendRequest(this.#options, {
      ...{ method, deadline, options: call },
      path: fill(operation.path, params),
      query: { ...query, ...besides, ...(validateOnly === true && { validate_only: true }) },
      body: input === 'file' ? data : input === 'body' ? (data ?? {}) : undefined,
      headers: {
        ...headers,
        ...(key !== undefined && { 'Idempotency-Key': key }),
        ...(hasRevision === true && ifRevision !== undefined && { 'If-Service-Resource-Version': String(ifRevision) }),
      },
      isRepeatable: method === 'GET' || validateOnly === true || key !== undefined,
    });
    return body;
  }

  /** Reads, changes and writes; again while another writer was faster. */
  async #updateWith(
    methods: Record<string, Method>,
    { item = '', path, name }: OperationEntry,
    args: readonly unknown[],
  ): Promise<unknown> {
    const params = args.slice(0, parametersOf(path).length);
    const [change, given = {}] = args.slice(params.length) as [(current: unknown) => unknown, UpdateOptions?];
    const { attempts = ATTEMPTS, ...options } = given;
    const verb = name.slice(name.indexOf('.') + 1);
    const [read, write] = [methods[readerOf(verb)], methods[verb]];
    for (let attempt = 1; ; attempt += 1) {
      const stored = (await read?.(...params, options)) as Record<string, { revision: number }>;
      const current = stored[item];
      const patch = await change(current);
      if (patch === undefined) return stored;
      try {
        return await write?.(...params, patch, { ...options, ifRevision: current?.revision });
      } catch (error) {
        if (!(error instanceof PreconditionFailedError) || attempt >= attempts) throw error;
        await pause(backoff(Math.min(attempt - 1, 3), LONGEST_PAUSE) / 5, options.signal);
      }
    }
  }
}

const parametersOf = (path: string): readonly string[] => path.match(/\{\w+\}/g) ?? [];

function fill(path: string, params: readonly unknown[]): string {
  const left = [...params];
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = left.shift();
    // An empty or missing one would name another resource.
    if ((typeof value !== 'string' && typeof value !== 'number') || value === '')
      throw new TypeError(`${name} of ${path} must be a text or a number`);
    return encodeURIComponent(value);
  });
}

/** A client of a workspace. */
export const Tocsin = Client as unknown as new (options: TocsinOptions) => Tocsin;
