import { Agent, request } from 'node:http';
import type { AttackAnswer, AttackRequest, Workspace } from '../attacks/attack.ts';

/** Attackers do not share the victims' address, which has limits of its own. */
export const ATTACKER_ADDRESS = '127.0.0.2';

const agent = new Agent({ keepAlive: true, maxSockets: Infinity });

/** Sends one request and reads the whole response. Never throws. `signal` ends it without a result: `silent`. */
export async function send(
  gateway: { host: string; port: number },
  workspace: Workspace,
  attack: AttackRequest & { signal: AbortSignal },
): Promise<AttackAnswer> {
  const { method = 'GET', path, body, headers, from = ATTACKER_ADDRESS, kept = 4_096, signal } = attack;
  const { promise, resolve } = Promise.withResolvers<AttackAnswer>();
  const start = performance.now();
  let bytes = 0;
  const settle = (answer: Pick<AttackAnswer, 'outcome' | 'headers' | 'text'>) =>
    resolve({ ...answer, bytes, ms: performance.now() - start });
  const fail = () => settle({ outcome: signal.aborted ? 'silent' : 'closed', headers: {}, text: '' });
  const payload =
    body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  const outgoing = request({
    ...gateway,
    agent,
    method,
    path,
    localAddress: from,
    signal,
    headers: {
      Host: workspace.host,
      Authorization: `Bearer ${workspace.token}`,
      ...(payload !== undefined && {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(payload),
      }),
      ...headers,
    },
  });
  outgoing.once('error', fail);
  outgoing.once('response', (incoming) => {
    let text = '';
    incoming.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (text.length < kept) text += chunk.toString('latin1', 0, kept);
    });
    incoming.once('error', fail);
    incoming.once('close', fail);
    incoming.once('end', () => settle({ outcome: incoming.statusCode ?? 0, headers: incoming.headers, text }));
  });
  outgoing.end(payload);
  return promise;
}
