import { isIP } from 'node:net';
import { generate } from 'selfsigned';

export interface Certificate {
  key: string;
  cert: string;
}

/** Creates a self-signed certificate for these names and addresses. A client that trusts `cert` accepts it. */
export async function createCertificate(names: readonly string[]): Promise<Certificate> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'Tocsin test' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', digitalSignature: true, keyCertSign: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: names.map((name) => (isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name })),
      },
    ],
  });
  return { key, cert };
}
