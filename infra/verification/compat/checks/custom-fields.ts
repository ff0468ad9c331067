import assert from 'node:assert/strict';
import { compareRecords, type Context, previous, record, revisionHeader, succeed } from '../world.ts';

const PATH = '/api/v1/custom-fields';

/** Creates a definition, and changes that of the combination before. */
export async function checkCustomFields(context: Context): Promise<void> {
  const { client, label, current } = context;
  const definition = {
    name: `Root cause ${label}`,
    slug: `cause_${label}`,
    field_type: 'string',
    show_on_creation: true,
  };
  const created = await succeed(201, 'a new custom field', async () => client.post(PATH, definition));
  record(context, `${PATH}/${created.body.field.id}`, 'field', created);
  current.field = created.body.field;
  const earlier = previous(context, 'field');
  if (earlier === undefined) return;
  const path = `${PATH}/${earlier.id}`;
  const change = { description: `Changed in ${label}`, config: { max_length: 100 } };
  const send = async () => client.patch(path, change, revisionHeader(earlier.revision));
  record(context, path, 'field', await succeed(200, 'a changed custom field', send));
}

export async function checkCustomFieldReads(context: Context): Promise<void> {
  const answer = await succeed(200, 'custom fields', async () => context.client.get(`${PATH}?limit=100`));
  const slugs = (answer.body.fields as { slug: string }[]).map(({ slug }) => slug);
  assert.ok(slugs.includes(`cause_${context.label}`), 'the list lacks the new definition');
  await compareRecords(context, `${PATH}/`);
}
