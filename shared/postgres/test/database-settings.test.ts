import { expect, test } from '@jest/globals';
import { urlForRole } from '../src/index.ts';

test('the URL of a role keeps everything but the user', () => {
  expect(urlForRole('postgres://admin:s%40@db:5433/tocsin?sslmode=require', 'tocsin_incident')).toBe(
    'postgres://tocsin_incident:s%40@db:5433/tocsin?sslmode=require',
  );
  expect(urlForRole('postgres://admin:s%40@one:5433,two/tocsin', 'tocsin_incident')).toBe(
    'postgres://tocsin_incident:s%40@one:5433,two/tocsin',
  );
});
