import { readFileSync } from 'node:fs';
import net from 'node:net';
import tls from 'node:tls';
import { ownProperty, urlsOfHosts } from '@tocsin/runtime';

/** The parameters of a URL that the driver would understand otherwise. */
const TLS = ['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'uselibpqcompat', 'channel_binding', 'gssencmode'];

/** What the driver would ignore, although it asks for more than we do, or for another server. */
const IGNORED = [
  'load_balance_hosts',
  'hostaddr',
  'service',
  'passfile',
  'krbsrvname',
  'sslcrl',
  'sslcrldir',
  'sslpassword',
  'sslcertmode',
  'ssl_min_protocol_version',
  'ssl_max_protocol_version',
  'requirepeer',
  'require_auth',
];

const INSTEAD: Readonly<Record<string, string>> = {
  allow: 'require (encrypted), verify-full (also checks the certificate) or disable: allow leaves it to the server',
  prefer: 'require (encrypted), verify-full (also checks the certificate) or disable: prefer leaves it to the server',
  'no-verify': 'require, which encrypts and does not check the certificate',
};

/** Public authorities: those that Node.js has, with those of `NODE_EXTRA_CA_CERTS`. */
const SYSTEM = 'system';

type TlsOptions = Pick<tls.ConnectionOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized' | 'checkServerIdentity'>;

/**
 * Returns how the driver connects to the database of a URL with one host. `sslmode`, `sslrootcert`, `sslcert` and `sslkey` mean what
 * they mean to `psql`; without `sslmode` the connection is not encrypted.
 * @throws Error that says what to write instead of what is not supported, or which file cannot be read
 */
export function connectionOf(url: string): { connectionString: string; ssl?: TlsOptions | false } {
  const parsed = new URL(url);
  const ssl = tlsOf(parsed);
  for (const name of [...TLS, TARGET]) parsed.searchParams.delete(name);
  return { connectionString: parsed.href, ...(ssl !== undefined && { ssl }) };
}

const TARGET = 'target_session_attrs';
const WRITES = ['read-write', 'primary'];

/** Whether a URL asks for the host that takes writes: one with several hosts does, since nothing can be done on a standby. */
export function mustTakeWrites(url: string): boolean {
  const [first, ...others] = urlsOfHosts(url);
  const target = new URL(first).searchParams.get(TARGET) ?? '';
  if (target === '') return others.length > 0;
  if (WRITES.includes(target) || (target === 'any' && others.length === 0)) return target !== 'any';
  throw new Error(`must not have ${TARGET}=${target}: write ${TARGET}=read-write`);
}

/** What is wrong with the hosts of a URL, or with how it says to encrypt; undefined if nothing is. */
export function connectionProblem(url: string): string | undefined {
  try {
    mustTakeWrites(url);
    for (const each of urlsOfHosts(url)) connectionOf(each);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function tlsOf({ searchParams, hostname }: URL): TlsOptions | false | undefined {
  const read = (name: string) => searchParams.get(name) ?? '';
  const ignored = IGNORED.find((name) => searchParams.has(name));
  if (ignored !== undefined) throw new Error(`must not have ${ignored}, which is not supported`);
  for (const name of ['channel_binding', 'gssencmode']) {
    if (read(name) === 'require') throw new Error(`must not have ${name}=require, which is not supported`);
  }
  // As psql does, for the sake of URLs for other drivers.
  if (!['', 'true'].includes(read('ssl'))) {
    throw new Error('must have sslmode=require or sslmode=disable instead of ssl');
  }
  const mode = read('sslmode') || (read('ssl') === '' ? '' : 'require');
  const [root, cert, key] = [read('sslrootcert'), read('sslcert'), read('sslkey')];
  if (mode === '') {
    if (root + cert + key === '') return undefined;
    throw new Error('must have an sslmode for its certificates: write sslmode=verify-full');
  }
  const host = unbracketed(decodeURIComponent(read('host') || hostname));
  // On a Unix socket nothing is encrypted.
  if (mode === 'disable' || host.startsWith('/')) return false;
  if (!['require', 'verify-ca', 'verify-full'].includes(mode)) {
    throw new Error(
      `must not have sslmode=${mode}: write ${ownProperty(INSTEAD, mode) ?? 'disable, require, verify-ca or verify-full'}`,
    );
  }
  if ((cert === '') !== (key === '')) throw new Error('must have sslcert and sslkey together');
  const client = cert === '' ? {} : { cert: readPem(cert, 'sslcert'), key: readPem(key, 'sslkey') };
  if (mode === 'require' && root === '') return { ...client, rejectUnauthorized: false };
  const isPublic = root === '' || root === SYSTEM;
  const authority = isPublic ? {} : { ca: readPem(root, 'sslrootcert') };
  if (mode === 'verify-full') {
    // The driver knows an address without a name as `localhost`.
    const nameOf = (name: string) => (net.isIP(host) === 0 ? name : host);
    return {
      ...client,
      ...authority,
      checkServerIdentity: (name, certificate) => tls.checkServerIdentity(nameOf(name), certificate),
    };
  }
  // With an authority, require is verify-ca.
  if (!isPublic) return { ...client, ...authority, checkServerIdentity: () => undefined };
  throw new Error(
    `must have an authority of its own as sslrootcert for sslmode=${mode}; with a public one, write sslmode=verify-full`,
  );
}

const unbracketed = (host: string) => host.replace(/^\[(.*)\]$/, '$1');

function readPem(file: string, name: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`must have a readable file as ${name} (${(error as NodeJS.ErrnoException).code})`, {
      cause: error,
    });
  }
}
