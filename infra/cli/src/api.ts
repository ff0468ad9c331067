import { findIncident } from './find-id.ts';
import { parseJson, UsageError } from './operation-parameters.ts';
import { readFlag } from './read-input.ts';
import type { Call } from './session.ts';

const BASE = '/api/v1';
/** The reference of an incident in the place of its ID. */
const REFERENCE = /(?<=^\/api\/v1\/incidents\/)([A-Za-z]+-\d+)(?=[/?]|$)/;

export interface ApiFlags {
  data?: string;
  header: string[];
}

/** Sends any request, and prints the response as JSON. */
export async function api(
  { connect, output, session }: Call,
  method: string,
  path: string,
  { data, header }: ApiFlags,
): Promise<void> {
  const headers = header.map((line): [string, string] => {
    const colon = line.indexOf(':');
    if (colon < 1) throw new UsageError(`--header ${line}: is not name: value`);
    return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
  });
  const body = data === undefined ? undefined : parseJson('--data', await readFlag(session, data));
  const full = `${path.startsWith(`${BASE}/`) ? '' : BASE}${path.startsWith('/') ? '' : '/'}${path}`;
  const tocsin = await connect();
  const { signal } = session;
  const [before = '', reference, behind = ''] = full.split(REFERENCE);
  const id = reference && (await findIncident(tocsin, { text: reference, what: '<path>', signal }));
  const request = { body, headers: Object.fromEntries(headers), signal };
  const response = await tocsin.request(method.toUpperCase(), `${before}${id ?? ''}${behind}`, request);
  if (response.body !== undefined) output.line(JSON.stringify(response.body, undefined, 2));
}
