import type { Attack, AttackContext } from '../attack.ts';
import { beginFlood } from '../flood.ts';
import { createIncident, createTextFields, LARGEST, largestValues, postIncident } from '../hostile-data.ts';

const AT_ONCE = 15;

/** The largest values of custom fields, and larger ones. */
export const valueAttacks: readonly Attack[] = [
  {
    name: 'oversized-values',
    what: `creates with a text of 1 MB, ${AT_ONCE} at once, which are refused`,
    expects: [400],
    run: async (context, workspace) => {
      const [field_id = 0] = await createTextFields(context, workspace, 1);
      const body = JSON.stringify({
        title: 'Hostile',
        custom_field_values: [{ field_id, value: distinctText(1_000_000) }],
      });
      await beginFlood(context, { clients: AT_ONCE }, async () => postIncident(context, workspace, body));
    },
  },
  {
    name: 'largest-values',
    what: `creates with 25 texts of 10,000 characters, ${AT_ONCE} at once`,
    expects: [201],
    run: async (context, workspace) => {
      const fields = await createTextFields(context, workspace, LARGEST.fields);
      const text = distinctText(LARGEST.characters);
      const values = fields.map((field_id) => ({ field_id, value: text }));
      const body = JSON.stringify({ title: 'Hostile', custom_field_values: values });
      await beginFlood(context, { clients: AT_ONCE }, async () => postIncident(context, workspace, body));
    },
  },
  {
    name: 'largest-changes',
    what: 'changes of all values of an incident between two largest ones, and then pages of its changelog',
    expects: [200, 412],
    run: async (context, workspace) => {
      const fields = await createTextFields(context, workspace, LARGEST.fields);
      const { id } = await createIncident(context, workspace, { custom_field_values: largestValues(fields) });
      const change = async (letter: string) =>
        context.send(workspace, {
          method: 'PATCH',
          path: `/api/v1/incidents/${id}/custom-fields`,
          body: { values: largestValues(fields, letter) },
        });
      for (let count = 0; count < context.choose(100, 10); count += 1) await change(count % 2 === 0 ? 'b' : 'a');
      await beginFlood(context, { clients: 8 }, async (number) => {
        if (number % 4 === 0) return change(number % 8 === 0 ? 'b' : 'a');
        if (number % 4 === 1) return changeSummary(context, { workspace, id, letter: number % 8 === 1 ? 'b' : 'a' });
        return context.send(workspace, { path: `/api/v1/incidents/${id}/changelog?limit=100` });
      });
    },
  },
  {
    name: 'largest-bulks',
    what: `bulks of 50 incidents with the largest values, ${AT_ONCE} at once, with keys`,
    // The short form is over before they end.
    expects: [200, 429, 'silent'],
    run: async (context, workspace) => {
      const fields = await createTextFields(context, workspace, LARGEST.fields);
      const ids: number[] = [];
      for (let count = 0; count < context.choose(50, 10); count += 1)
        ids.push((await createIncident(context, workspace, { custom_field_values: largestValues(fields) })).id);
      await beginFlood(context, { clients: AT_ONCE }, async (number) =>
        context.send(workspace, {
          method: 'POST',
          path: '/api/v1/incidents/bulk',
          body: { items: ids.map((id) => ({ id, verb: number % 2 === 0 ? 'resolve' : 'reopen' })) },
          headers: { 'Idempotency-Key': `bulk-${number}` },
        }),
      );
    },
  },
];

const DIGITS = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** A text that has as many different runs of three characters as possible. */
function distinctText(characters: number): string {
  let state = 1;
  return Array.from({ length: characters }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return DIGITS[state % DIGITS.length];
  }).join('');
}

async function changeSummary(
  context: AttackContext,
  { workspace, id, letter }: { workspace: Parameters<AttackContext['send']>[0]; id: number; letter: string },
): Promise<unknown> {
  const path = `/api/v1/incidents/${id}`;
  const current = await context.send(workspace, { path });
  return context.send(workspace, {
    method: 'PATCH',
    path,
    body: { impact_summary: letter.repeat(10_000) },
    headers: { 'If-Service-Resource-Version': String(current.headers['service-resource-version'] ?? 1) },
  });
}
