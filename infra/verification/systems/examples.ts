import { expect } from '@jest/globals';
import { EXTENSIONS } from '@tocsin/http';
import { type Answer, type Client, eventually, ONE_PIXEL } from '@tocsin/testing';
import type { ApiDescription, ApiOperation } from '../../../gateway/src/description.ts';

/** The documented request of one operation, which works in the sample workspace. */
export interface Example {
  id: string;
  method: 'get' | 'post' | 'patch' | 'put' | 'delete';
  /** The path with its parameters. */
  template: string;
  path: string;
  headers: Record<string, string>;
  body: unknown;
  success: number;
  operation: ApiOperation;
}

/** The operations in the order of the reference: by tag, then in that of the description; deletions come last. */
export function examplesOf({ tags = [], paths }: ApiDescription): Example[] {
  const operations = Object.entries(paths).flatMap(([at, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ at, method, operation })),
  );
  const isDeletion = ({ name }: { name: string }) => Number(name === 'Deletion');
  const ordered = [...tags].sort((a, b) => isDeletion(a) - isDeletion(b));
  return ordered.flatMap(({ name }) =>
    operations.filter(({ operation }) => operation.tags?.[0] === name).map((each) => exampleOf(each)),
  );
}

export const FILE_HEADERS = { 'Content-Type': 'application/octet-stream' };

/** @throws when the operation lacks an example of something that it requires */
function exampleOf({ at, method, operation }: { at: string; method: string; operation: ApiOperation }): Example {
  const { operationId: id, parameters = [], requestBody, responses } = operation;
  const required = parameters.filter((parameter) => parameter.required === true);
  const values = required.map((parameter) => {
    const { example } = parameter.schema as { example?: string | number };
    if (example === undefined) throw new Error(`${id} has no example of ${parameter.name}`);
    return { ...parameter, example: String(example) };
  });
  const content = requestBody?.content['application/json'];
  if (content !== undefined && content.example === undefined) throw new Error(`${id} has no example of its body`);
  const isUpload = EXTENSIONS.bodyBytes in operation;
  const query = values
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, example }) => [name, example] as const);
  const search = query.length === 0 ? '' : `?${new URLSearchParams(Object.fromEntries(query)).toString()}`;
  const statuses = Object.keys(responses).filter((status) => status.startsWith('2'));
  expect(statuses).toHaveLength(1);
  return {
    id,
    method: method as Example['method'],
    template: at,
    path:
      values
        .filter((parameter) => parameter.in === 'path')
        .reduce((text, { name, example }) => text.replace(`{${name}}`, encodeURIComponent(example)), at) + search,
    headers: {
      ...Object.fromEntries(
        values.filter((parameter) => parameter.in === 'header').map(({ name, example }) => [name, example]),
      ),
      ...(isUpload && FILE_HEADERS),
    },
    body: isUpload ? ONE_PIXEL : content?.example,
    success: Number(statuses[0]),
    operation,
  };
}

/** What they name is elsewhere, and has to answer. */
const OF_OTHERS: ReadonlySet<string> = new Set(['setTeamOnCall']);

type Request = Pick<Example, 'method' | 'path' | 'headers' | 'body'>;

export const sendExample = async (client: Client, { method, path, headers, body }: Request): Promise<Answer> =>
  client.send(method.toUpperCase(), path, body, headers);

/**
 * Sends all examples to a sample workspace that has a Slack, and whose receiver answers. Returns them, and which are
 * refused.
 * @param signIn begins a session, which examples name
 */
export async function sendExamples(
  client: Client,
  signIn: () => Promise<unknown>,
): Promise<{ examples: Example[]; refused: object[] }> {
  const { body: description } = await client.get('/api/v1/openapi.json');
  const examples = examplesOf(description as ApiDescription);
  const refused: object[] = [];
  for (const example of examples) {
    if (example.id === 'listSessions') await signIn();
    if (example.id === 'listWebhookDeliveries') await delivered(client, example.path);
    const { status, body } = await sendExample(client, example);
    if (status !== example.success && !OF_OTHERS.has(example.id)) refused.push({ id: example.id, status, body });
    // The work goes on after the response, and the next examples need it.
    if (example.id === 'retryIncidentProvisioning') await provisioned(client, example.path.replace('/retry', ''));
  }
  return { examples, refused };
}

/** The webhook is active then; an event that waits is not delivered again. */
async function delivered(client: Client, path: string): Promise<void> {
  await client.post('/api/v1/incidents', { title: 'Delivered' });
  await eventually(
    async () => {
      const { deliveries } = (await client.get(path)).body;
      return deliveries.length > 0 && deliveries.every(({ due_at: due }: { due_at: string | null }) => due === null);
    },
    { what: 'the end of the deliveries' },
  );
}

const provisioned = async (client: Client, path: string) =>
  eventually(async () => (await client.get(path)).body.provisioning.status === 'succeeded', {
    what: 'the end of the provisioning',
  });
