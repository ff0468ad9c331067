import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { generate } from 'selfsigned';

export interface Certificate {
  key: string;
  cert: string;
}

/** Creates a self-signed certificate for these names and addresses. A client that trusts `cert` accepts it, and so does a server. */
export async function createCertificate(names: readonly string[]): Promise<Certificate> {
  // A client that trusts several of them looks for the right one by its name.
  const { private: key, cert } = await generate([{ name: 'commonName', value: `Tocsin test ${randomUUID()}` }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', digitalSignature: true, keyCertSign: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true, clientAuth: true },
      {
        name: 'subjectAltName',
        altNames: names.map((name) => (isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name })),
      },
    ],
  });
  return { key, cert };
}
