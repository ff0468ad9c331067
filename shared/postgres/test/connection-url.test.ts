import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { connectionOf, connectionProblem } from '../src/index.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'tocsin-tls-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string) => {
  writeFileSync(path.join(folder, name), name);
  return path.join(folder, name);
};
const root = `sslrootcert=${encodeURIComponent(file('root.crt'))}`;
const own = `sslcert=${file('own.crt')}&sslkey=${file('own.key')}`;
const URL = 'postgres://tocsin:s%40@db.example/tocsin';

describe('a URL', () => {
  test.each([
    ['', undefined],
    ['sslmode=disable', false],
    [`sslmode=disable&${root}`, false],
    ['sslmode=require', { rejectUnauthorized: false }],
    ['ssl=true', { rejectUnauthorized: false }],
    ['sslmode=require&uselibpqcompat=true', { rejectUnauthorized: false }],
    ['sslmode=require&channel_binding=prefer', { rejectUnauthorized: false }],
    [`sslmode=require&${own}`, { rejectUnauthorized: false, cert: 'own.crt', key: 'own.key' }],
    // With an authority psql checks the certificate.
    [`sslmode=require&${root}`, { ca: 'root.crt', checkServerIdentity: expect.any(Function) }],
    [`sslmode=verify-ca&${root}`, { ca: 'root.crt', checkServerIdentity: expect.any(Function) }],
    ['sslmode=verify-full', { checkServerIdentity: expect.any(Function) }],
    ['sslmode=verify-full&sslrootcert=system', { checkServerIdentity: expect.any(Function) }],
    [`sslmode=verify-full&${root}`, { ca: 'root.crt', checkServerIdentity: expect.any(Function) }],
  ])('with "%s" means %j', (parameters, ssl) => {
    expect(connectionOf(`${URL}?${parameters}`)).toEqual({
      connectionString: URL,
      ...(ssl !== undefined && { ssl }),
    });
  });

  test('keeps what does not encrypt', () => {
    expect(connectionOf(`${URL}?sslmode=disable&application_name=mine`).connectionString).toBe(
      `${URL}?application_name=mine`,
    );
  });

  test('does not tell the driver of a host that takes writes', () => {
    expect(connectionOf(`${URL}?target_session_attrs=read-write`).connectionString).toBe(URL);
  });

  test('with several hosts checks the settings of each', () => {
    const several = URL.replace('db.example', 'one.example:5432,two.example');
    expect(connectionProblem(`${several}?sslmode=require`)).toBeUndefined();
    expect(connectionProblem(`${several}?sslmode=prefer`)).toMatch(/^must not have sslmode=prefer/);
    expect(connectionProblem(`${several}?target_session_attrs=any`)).toMatch(/^must not have target_session_attrs=any/);
  });

  test('of a Unix socket is never encrypted', () => {
    expect(connectionOf('postgres:///tocsin?host=/var/run/postgresql&sslmode=verify-full').ssl).toBe(false);
  });

  test.each([
    ['sslmode=prefer', /sslmode=prefer: write require/],
    ['sslmode=allow', /sslmode=allow: write require/],
    ['sslmode=no-verify', /sslmode=no-verify: write require/],
    ['sslmode=always', /write disable, require, verify-ca or verify-full/],
    ['sslmode=constructor', /write disable, require, verify-ca or verify-full/],
    ['ssl=no-verify', /instead of ssl/],
    ['sslmode=verify-ca', /an authority of its own as sslrootcert/],
    ['sslmode=verify-ca&sslrootcert=system', /with a public one, write sslmode=verify-full/],
    [root, /write sslmode=verify-full/],
    [`sslmode=require&sslcert=${folder}/own.crt`, /sslcert and sslkey together/],
    ['sslmode=require&sslcert=/none&sslkey=/none', /a readable file as sslcert \(ENOENT\)/],
    ['sslmode=verify-full&sslrootcert=/none', /a readable file as sslrootcert \(ENOENT\)/],
    ['sslmode=require&sslcrl=/x', /must not have sslcrl/],
    [
      'target_session_attrs=standby',
      /must not have target_session_attrs=standby: write target_session_attrs=read-write/,
    ],
    ['load_balance_hosts=random', /must not have load_balance_hosts/],
    ['hostaddr=10.0.0.1', /must not have hostaddr/],
    ['sslmode=require&channel_binding=require', /must not have channel_binding=require/],
  ])('with "%s" is refused: %s', (parameters, message) => {
    expect(connectionProblem(`${URL}?${parameters}`)).toMatch(message);
    expect(connectionProblem(`${URL}?${parameters}`)).toMatch(/^must /);
  });
});
