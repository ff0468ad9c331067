import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { renderedIncidents } from '../../src/incidents/http/rendered-incidents.ts';
import { anIncident } from './incident.ts';

const NOW = '2026-11-20T12:00:00.000Z';
const INCIDENTS = 1_000;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function bufferBytes(): number {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

test('kept JSON takes the memory that is counted, and none of what the process needs beside it', () => {
  const rendered = renderedIncidents();
  const before = bufferBytes();
  let bytes = 0;
  for (let id = 1; id <= INCIDENTS; id += 1) {
    bytes += (rendered.json({ ...anIncident({ id }), xmin: '1' }, NOW) as Buffer).length;
    // As a response or a request does.
    Buffer.from('x'.repeat(20_000));
  }
  const taken = bufferBytes() - before;
  expect(rendered.keeps(1)).toBe(true);
  expect(taken).toBeLessThan(1.5 * bytes);
});

test('what a list has found is shown although another request keeps a later version meanwhile', () => {
  const rendered = renderedIncidents();
  const first = { ...anIncident({ id: 1, title: 'First' }), revision: 1, xmin: '1' };
  const shown = String(rendered.json(first, NOW));
  const found = rendered.find({ id: 1, revision: 1, xmin: '1', restricted: false });
  rendered.json({ ...first, title: 'Second', revision: 2, xmin: '2' }, NOW);
  expect(rendered.find({ id: 1, revision: 1, xmin: '1', restricted: false })).toBeUndefined();
  expect(found && String(rendered.json(found, NOW))).toBe(shown);
});
