import { expect, test } from '@jest/globals';
import { refusal } from '@tocsin/testing';
import { describeResource } from '@tocsin/testing/resource-suite';
import { FIELDS, freshUser, serviceForFile } from './service.ts';

const service = await serviceForFile();

describeResource({
  service,
  path: FIELDS,
  one: 'field',
  many: 'fields',
  newUser: freshUser,
  more: { field_type: 'date' },
  quota: { name: 'custom_fields', subject: 'custom fields', refused: [400, 'invalid_request'] },
});

test('without a setting, a workspace has at most 500 active fields', async () => {
  const client = service.as(freshUser());
  const define = async (name: string) => client.post(FIELDS, { name, field_type: 'date' });
  for (let start = 0; start < 500; start += 50) {
    const answers = Array.from({ length: 50 }, async (_, index) => define(`f${start + index}`));
    for (const { status } of await Promise.all(answers)) expect(status).toBe(201);
  }
  expect(await define('one more')).toMatchObject(
    refusal(400, 'invalid_request', { message: expect.stringContaining('at most 500 active custom fields') }),
  );
});
