import { expect, test } from '@jest/globals';
import fc from '@tocsin/testing/fuzz';
import { z } from 'zod';
import type { Contract } from '../../src/contracts/contract.ts';
import { ERROR_STATUS, type ErrorCode } from '../../src/errors/errors.ts';
import { errorCodesOf, errorResponseName } from '../../src/contracts/operation-errors.ts';

const contractWith = (errors: ErrorCode[], body: boolean): Contract => ({
  method: body ? 'post' : 'get',
  path: '/api/v1/things',
  summary: 'Does something',
  tag: 'Things',
  scope: 'incidents:read',
  errors,
  reply: { status: 200, body: z.object({}) },
});

test('two error responses have one name exactly if they have the same codes', () => {
  const codes = fc.subarray(Object.keys(ERROR_STATUS) as ErrorCode[]);
  const byName = new Map<string, string>();
  fc.assert(
    fc.property(codes, fc.boolean(), (errors, body) => {
      const groups = Object.groupBy(errorCodesOf(contractWith(errors, body)), (code) => ERROR_STATUS[code]);
      for (const [status, group] of Object.entries(groups)) {
        const name = errorResponseName(Number(status), group);
        expect(name).toMatch(/^[A-Z][A-Za-z]+$/);
        expect(byName.get(name) ?? group.join()).toBe(group.join());
        byName.set(name, group.join());
      }
    }),
    { numRuns: 1_000 },
  );
  expect(new Set(byName.values()).size).toBe(byName.size);
});
