import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type JWK } from 'jose';

/** A key pair of an issuer. */
export interface TestKey {
  readonly jwk: JWK;
  /** A token of the subject, for a minute. @param kid null: it names no key */
  sign(sub: string, kid?: string | null): Promise<string>;
}

export async function makeKey(kid: string, alg = 'ES256'): Promise<TestKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return {
    jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' },
    sign: (sub, named = kid) =>
      new SignJWT({ sub, exp: Math.floor(Date.now() / 1_000) + 60 })
        .setProtectedHeader({ alg, ...(named !== null && { kid: named }) })
        .sign(privateKey),
  };
}

/** A server of keys over HTTP, which can fall silent or answer with errors. */
export interface KeyServer extends AsyncDisposable {
  readonly uri: string;
  /** What it answers with. */
  keys: readonly unknown[];
  mode: 'up' | 'failing' | 'hanging' | 'endless';
  /** Requests so far. */
  requests: number;
}

export async function startKeyServer(keys: readonly unknown[]): Promise<KeyServer> {
  const server = createServer((_req, res) => {
    state.requests += 1;
    if (state.mode === 'hanging') return;
    if (state.mode === 'endless') {
      const more = (): void => {
        while (!res.destroyed && res.write(' '.repeat(65_536)));
      };
      res.on('drain', more);
      more();
      return;
    }
    res.writeHead(state.mode === 'up' ? 200 : 500, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ keys: state.keys }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const state: KeyServer = {
    uri: `http://127.0.0.1:${String(port)}/keys`,
    keys,
    mode: 'up',
    requests: 0,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
  return state;
}
