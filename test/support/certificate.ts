import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ValkeyOptions } from './valkey.ts';

/** A certificate for 127.0.0.1 and 0.0.0.0 that no authority has signed, in a folder that goes with it. */
export interface Certificate extends AsyncDisposable {
  /** Where it is, for NODE_EXTRA_CA_CERTS. */
  readonly path: string;
  readonly keyPath: string;
  /** For a Valkey that speaks nothing but TLS with it. */
  readonly args: readonly string[];
  readonly client: NonNullable<ValkeyOptions['client']>;
}

export async function makeCertificate(): Promise<Certificate> {
  const folder = await mkdtemp(join(tmpdir(), 'fanfare-tls-'));
  const [key, path] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1'],
      ...['-addext', 'subjectAltName=IP:127.0.0.1,IP:0.0.0.0', '-keyout', key, '-out', path],
    ],
    { stdio: 'ignore' },
  );
  return {
    ...{ path, keyPath: key },
    args: [
      ...['--tls-cert-file', path, '--tls-key-file', key, '--tls-ca-cert-file', path],
      ...['--tls-auth-clients', 'no', '--tls-cluster', 'yes', '--tls-replication', 'yes'],
    ],
    client: { tls: { ca: readFileSync(path) } },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
