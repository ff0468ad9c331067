import { z } from 'zod';
import { ownProperty } from '@tocsin/runtime';
import type { Contract, Reply } from './contract.ts';

/** On a response that would be the one of a request, had it been more than validated. */
export const VALIDATED_HEADER = 'Validated-Only';

const PARAMETER = {
  validate_only: z.boolean().optional().meta({
    description: 'Whether to check the request without carrying it out; default: false',
    default: false,
  }),
};

/** The query of an operation: that of its contract, and of every write `validate_only` (contract: Validating a write). */
export function queryOf({ method, query }: Pick<Contract, 'method' | 'query'>): z.ZodObject | undefined {
  if (method === 'get') return query;
  return query === undefined ? z.strictObject(PARAMETER) : query.extend(PARAMETER);
}

/** The response to a write that was only validated: what only the write itself assigns is null. */
export function validatedReply({ reply: { assigned = [] } }: Pick<Contract, 'reply'>, reply: Reply): Reply {
  const headers = { ...reply.headers, [VALIDATED_HEADER]: 'true' };
  if (reply.text === undefined && reply.body === undefined) return { ...reply, headers };
  const { text, assigned: ofItems = [], ...others } = reply;
  const body: unknown = JSON.parse(text ?? JSON.stringify(reply.body));
  for (const path of [...assigned, ...ofItems]) setNull(body, path.split('.'));
  return { ...others, body, headers };
}

/** Sets a property to null if there is one at the path; a path through a list has the place of an item. */
function setNull(value: unknown, [name = '', ...innerPath]: readonly string[]): void {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return;
  if (innerPath.length === 0) Object.assign(value, { [name]: null });
  else setNull(ownProperty(value as Readonly<Record<string, unknown>>, name), innerPath);
}
