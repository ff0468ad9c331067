import tls from 'node:tls';
import type { DataDir } from '../../installation/data-dir.ts';

/** The file of the data folder that holds the certificate and its private key, in PEM. */
export const CERTIFICATE_FILE = 'receiver-certificate';

const YEARS = 10;

/**
 * Makes this process trust the certificate of the sample receiver, besides those that it trusts already. The
 * certificate is made once, for `localhost` alone.
 */
export async function trustReceiver(dataDir: DataDir): Promise<void> {
  const pem = await dataDir.secret(CERTIFICATE_FILE, createCertificate);
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), pem]);
}

async function createCertificate(): Promise<string> {
  // It takes a while to load, and only the first start on a data folder needs it.
  const { generate } = await import('selfsigned');
  const notAfterDate = new Date();
  notAfterDate.setFullYear(notAfterDate.getFullYear() + YEARS);
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'Tocsin sample receiver' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notAfterDate,
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] },
    ],
  });
  return `${cert.trim()}\n${key.trim()}`;
}
