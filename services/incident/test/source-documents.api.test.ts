import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { behave, eventually, type Receiver, startReceiver } from '@tocsin/testing';
import { sourceDocuments } from '../src/clients/source-documents.ts';

let receiver: Receiver;
beforeAll(async () => void (receiver = await startReceiver()));
afterAll(async () => receiver.stop());

test('only so many documents are read at once, whatever becomes of them', async () => {
  const documents = sourceDocuments({
    testReceivers: new Set([receiver.hostAndPort()]),
    resolve: async () => ['127.0.0.1'],
    ca: receiver.ca,
    mostAtOnce: 2,
  });
  const read = async () => documents.read(receiver.url());
  receiver.respond = () => behave.hang();
  const slow = [read(), read()];
  await eventually(() => receiver.requests.length === 2, { what: 'both requests' });
  expect(await read()).toEqual({ status: 'failed', reason: 'Too many documents are being imported just now' });
  expect(await documents.read('http://localhost/')).toMatchObject({ status: 'unsupported' });

  receiver.hangUp();
  expect(await Promise.all(slow)).toMatchObject([{ status: 'failed' }, { status: 'failed' }]);
  receiver.respond = () => behave.answer(404);
  expect(await Promise.all([read(), read()])).toMatchObject([{ status: 'unavailable' }, { status: 'unavailable' }]);
});
